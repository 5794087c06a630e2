"""Push or fold with four to nine players.

Nine hands of one deck are too many to sum over, so here is a model: a player reckons with its own cards out of every other
player's range, and takes the others to be dealt apart from one another. Showdowns of two and three are exact, with all the
cards of those in them; showdowns of four are sampled; behind four all-ins the rest fold. What the samples are worth is told
by solving with one set of them and measuring with another (`Ring.again`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, permutations, product

import numpy as np

from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.tournaments._kernels import ring as kernels
from riverboat.tournaments.hand_tables import PAIR_ORDERS, HandTables, starting_hands
from riverboat.tournaments.push_fold import FOLD, JAM, PushFold
from riverboat.tournaments.showdown_orders import ORDERS

MOST_IN = 4  # players all-in; those behind them fold
SAMPLES = 20_000
RARE = 1e-4  # of a class: who goes all-in less often is left out of showdowns of three
FOUR_ORDERS = tuple(
    sorted({tuple(sum(x < y for x in ranks) for y in ranks) for ranks in product(range(4), repeat=4)})
)  # 75: by how many hands are better than each
TURNS = np.array(list(permutations(range(4))), np.int64)


class Ring:
    """Pay-offs of a spot by class. A strategy is the probability to go all-in. float64 [lines, classes]"""

    def __init__(
        self,
        spot: PushFold,
        seed: int = 0,
        samples: int = SAMPLES,
        threads: int = 1,
        tables: HandTables | None = None,
    ) -> None:
        if spot.players < 3:
            raise InputError(f"{spot.players} players: two are solved exactly, see Stage")
        check_threads(threads)
        self.spot, self.seed, self.samples, self.threads = spot, seed, samples, threads
        self.tables = starting_hands(spot.players) if tables is None else tables
        self.classes = self.tables.classes
        self._fours = sampled_fours(self.tables, samples, seed)
        self._showdowns: dict[str, tuple[list[Array], Array]] = {}
        free = [line for line in spot.lines if line.count(JAM) < MOST_IN]
        self.lines = {line: k for k, line in enumerate(free)}
        sets = [some for size in range(1, MOST_IN + 1) for some in combinations(range(spot.players), size)]
        self._sets = {self._line(some): some for some in sets if some[-1] != spot.players - 1 or len(some) > 1}
        self._walk = spot.worth(np.array([spot.after(FOLD * spot.players, ())]))[0]
        self._worth = {end: self._worth_of(end, some) for end, some in self._sets.items()}

    def again(self, seed: int) -> Ring:
        """The same spot with other samples."""
        return Ring(self.spot, seed, self.samples, self.threads, self.tables)

    def _line(self, some: tuple[int, ...]) -> str:
        return "".join(JAM if i in some else FOLD for i in range(self.spot.players))

    def _worth_of(self, end: str, some: tuple[int, ...]) -> Array:
        """What the end of a line is worth to everybody, for each order of those all-in. float64 [orders, players]"""
        orders = {1: ((0,),), 2: PAIR_ORDERS, 3: ORDERS, 4: FOUR_ORDERS}[len(some)]
        stacks = []
        for order in orders:
            ranks: list[int | None] = [None] * self.spot.players
            for player, rank in zip(some, order, strict=True):
                ranks[player] = rank
            stacks.append(self.spot.after(end, ranks))
        return self.spot.worth(np.array(stacks))

    # --- what decisions are worth -----------------------------------------------------------------

    def counterfactual(self, strategy: Array, fresh: bool = True) -> Array:
        """What going all-in and folding are worth at every line with every class, times the chance to get there.
        float64 [lines, 2, classes]

        Showdowns of three and four are most of the work and change slowly: unless `fresh`, those of an earlier
        strategy stand.
        """
        if fresh:
            self._showdowns = self._large_showdowns(strategy)
        return self._evaluated(strategy)[0]

    def reach(self, strategy: Array) -> Array:
        """The chance to get to each line with each class. float64 [lines, classes]"""
        seen = strategy @ self.tables.other.T
        chances = np.stack([self._chance(line, seen, len(line)) for line in self.lines])
        return np.asarray(chances * self.tables.dealt)

    def values(self, strategy: Array) -> Array:
        """What each player gets, as it reckons. float64 [players]"""
        self._showdowns = self._large_showdowns(strategy)
        worth, out = self._evaluated(strategy)
        own = (strategy * worth[:, 0] + (1 - strategy) * worth[:, 1]).sum(axis=1)
        for line, k in self.lines.items():
            out[len(line)] += own[k]
        return out

    def _evaluated(self, strategy: Array) -> tuple[Array, Array]:
        """Worth of decisions, and what comes to players who had none: the big blind when all fold, those behind four
        all-ins. float64 [lines, 2, classes], float64 [players]"""
        dealt = self.tables.dealt
        seen = (
            strategy @ self.tables.other.T
        )  # [lines, classes]: the chance that another goes all-in, by one's own class
        mean = strategy @ dealt  # [lines]
        out, undecided = np.zeros((len(self.lines), 2, self.classes)), np.zeros(self.spot.players)
        folded = np.zeros(len(self.lines))  # worth of having folded, given the line

        def fold(end: str, money: Array) -> None:
            for player, move in enumerate(end):
                line = self.lines.get(end[:player])
                if line is None:
                    undecided[player] += money[player] * self._product(end, mean, player, 0)
                elif move == FOLD:
                    folded[line] += money[player] * self._product(end, mean, player, player + 1)

        fold(FOLD * self.spot.players, self._walk)
        for end, some in self._sets.items():
            orders, overall = self._showdowns[end] if end in self._showdowns else self._orders(end, some, strategy)
            for at, player in enumerate(some):
                worth = orders[at] @ self._worth[end][:, player]
                out[self.lines[end[:player]], 0] += worth * self._chance(end, seen, player)
            fold(end, overall @ self._worth[end])
        for line, k in self.lines.items():
            out[k, 1] = folded[k] * self._chance(line, seen, len(line))
        return out * dealt, undecided

    def _chance(self, end: str, seen: Array, player: int) -> Array:
        """The chance that all others move as in a line, by the player's class. float64 [classes]"""
        out = np.ones(self.classes)
        for j, move in enumerate(end):
            line = self.lines.get(end[:j])
            if j != player and line is not None:
                out *= seen[line] if move == JAM else 1 - seen[line]
        return out

    def _product(self, end: str, mean: Array, player: int, first: int) -> float:
        """The chance that all others from the first on move as in a line."""
        out = 1.0
        for j in range(first, len(end)):
            line = self.lines.get(end[:j])
            if line is not None and j != player:
                out *= float(mean[line] if end[j] == JAM else 1 - mean[line])
        return out

    # --- showdowns --------------------------------------------------------------------------------

    def _large_showdowns(self, strategy: Array) -> dict[str, tuple[list[Array], Array]]:
        """`_orders` of three and four players, on threads."""
        large = [end for end, some in self._sets.items() if len(some) > 2]
        with ThreadPoolExecutor(self.threads) as pool:
            orders = list(pool.map(lambda end: self._orders(end, self._sets[end], strategy), large))
        return dict(zip(large, orders, strict=True))

    def _orders(self, end: str, some: tuple[int, ...], strategy: Array) -> tuple[list[Array], Array]:
        """For each player all-in the chance of each order by its class, given that the others are in; and over all classes.
        float64 [classes, orders] each, float64 [orders]"""
        ranges = [strategy[self.lines[end[:player]]] for player in some]
        shares = []
        overall = np.zeros(0)
        for at, own in enumerate(ranges):
            weight = self._weights(at, [other for j, other in enumerate(ranges) if j != at])
            total = weight.sum(axis=1, keepdims=True)
            every = weight.sum(axis=0)
            every = every / every.sum() if every.sum() > 0 else np.full(len(every), 1 / len(every))
            shares.append(np.where(total > 0, weight / np.where(total > 0, total, 1.0), every))
            if at == 0:
                met = own @ weight
                overall = met / met.sum() if met.sum() > 0 else every
        return shares, overall

    def _weights(self, at: int, others: list[Array]) -> Array:
        """The weight of each order by the class of one player, the others having ranges. float64 [classes, orders]"""
        tables = self.tables
        if not others:
            return np.ones((self.classes, 1))
        if len(others) < 3:
            return tables.orders(at, others, RARE)
        weights = np.ones((4, self.classes), np.float32)
        weights[[j for j in range(4) if j != at]] = others
        out = np.zeros((self.classes, len(FOUR_ORDERS)))
        kernels.four_ranges(*self._fours, TURNS, _turned_fours(), weights, at, out)
        return out


def sampled_fours(tables: HandTables, samples: int, seed: int) -> tuple[Array, Array]:
    """Sampled deals: classes of four hands, and how they stand. uint8 [samples, 4], uint8 [samples]"""
    deck, rng = tables.deck, np.random.default_rng(seed)
    cards = np.argsort(rng.random((samples, len(deck.cards))), axis=1)[:, : 8 + tables.board]
    dealt = deck.cards[cards].astype(np.uint8)
    hands = [dealt[:, 2 * p : 2 * p + 2] for p in range(4)]
    board = dealt[:, 8:]
    ranks = np.stack(
        [rank_batch(np.concatenate([hand, board], axis=1), deck.rules, check=False) for hand in hands], axis=1
    )
    better = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    order = np.array([FOUR_ORDERS.index(tuple(row)) for row in better.tolist()], np.uint8)
    number = np.zeros((52, 52), np.int64)
    first, second = np.asarray(deck.hands).T
    number[first, second] = number[second, first] = np.arange(len(first))
    classes = np.stack([tables.group[number[hand[:, 0], hand[:, 1]]] for hand in hands], axis=1)
    return classes.astype(np.uint8), order


@cache
def _turned_fours() -> Array:
    """The order of four players when they get the hands in another way. int64 [24, 75]"""
    return np.array(
        [[FOUR_ORDERS.index(tuple(order[p] for p in turn)) for order in FOUR_ORDERS] for turn in TURNS.tolist()]
    )
