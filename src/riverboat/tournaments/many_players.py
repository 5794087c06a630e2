"""Push or fold with four to nine players, by an approximate model.

Nine hands of one deck are too many to sum over. In the model a player removes its own cards from every other player's
range, and treats the others as independent of one another. Showdowns of two and three are exact, with the cards of all
players in them. Showdowns of four are sampled; after four all-ins the remaining players fold. To measure sampling
error, solve with one set of samples and evaluate with another (`ManyPlayerPushFold.resample`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, permutations, product

import numpy as np

from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError, check_threads
from riverboat.tournaments._kernels import push_fold as kernels
from riverboat.tournaments.hand_tables import PAIR_ORDERS, TRIPLE_ORDERS, HandTables, hand_numbers, starting_hands
from riverboat.tournaments.push_fold import FOLD, JAM, PushFold, seat_ranks

MAX_ALL_IN = 4  # players after this many all-ins fold
NUM_SAMPLES = 20_000
MIN_CLASS_FREQUENCY = 1e-4  # classes below this frequency are left out of three-way showdowns
FOUR_ORDERS = tuple(
    sorted({tuple(sum(x < y for x in ranks) for y in ranks) for ranks in product(range(4), repeat=4)})
)  # 75 showdown orders: number of better hands for each of the four
SEAT_PERMUTATIONS = np.array(list(permutations(range(4))), np.int64)


class ManyPlayerPushFold:
    """Push-or-fold game of three to nine players over classes of hands, in the approximate model of this module.

    A strategy is the probability of going all-in. float64 [lines, classes]
    """

    def __init__(
        self,
        spot: PushFold,
        seed: int = 0,
        samples: int = NUM_SAMPLES,
        threads: int = 1,
        tables: HandTables | None = None,
    ) -> None:
        if spot.players < 3:
            raise InputError(f"{spot.players} players: must be three or more; PushFoldStage solves two exactly")
        check_threads(threads)
        self.spot, self.seed, self.samples, self.threads = spot, seed, samples, threads
        self.tables = starting_hands(spot.players) if tables is None else tables
        self.classes = self.tables.classes
        self._four_way_deals = sample_four_way_deals(self.tables, samples, seed)
        self._showdowns: dict[str, tuple[list[Array], Array]] = {}
        self.lines = {line: k for k, line in enumerate([line for line in spot.lines if line.count(JAM) < MAX_ALL_IN])}
        self._walk_payoffs = spot.payoffs(np.array([spot.final_stacks(FOLD * spot.players, ())]))[0]
        self._all_in_sets: dict[str, tuple[int, ...]] = {}  # by terminal line
        self._payoffs: dict[str, Array] = {}  # by terminal line: float64 [orders of those all-in, players]
        for size, orders in enumerate((((0,),), PAIR_ORDERS, TRIPLE_ORDERS, FOUR_ORDERS), 1):
            for seats in combinations(range(spot.players), size):
                if seats != (spot.players - 1,):
                    end = "".join(JAM if seat in seats else FOLD for seat in range(spot.players))
                    stacks = [spot.final_stacks(end, ranks) for ranks in seat_ranks(end, orders)]
                    self._all_in_sets[end], self._payoffs[end] = seats, spot.payoffs(np.array(stacks))

    def resample(self, seed: int) -> ManyPlayerPushFold:
        """Return the same game with four-way showdowns sampled by another seed."""
        return ManyPlayerPushFold(self.spot, seed, self.samples, self.threads, self.tables)

    def counterfactual_values(self, strategy: Array, recompute: bool = True) -> Array:
        """Compute the counterfactual values of going all-in and of folding. float64 [lines, 2, classes]

        Showdowns of three and four are most of the work and change slowly: without `recompute` those of an earlier
        strategy are reused.
        """
        if recompute:
            self._showdowns = self._large_showdowns(strategy)
        return self._decision_values(strategy)[0]

    def reach(self, strategy: Array) -> Array:
        """Compute the probability that chance and the others lead to each line with each class.

        float64 [lines, classes]
        """
        jam_probability = strategy @ self.tables.opponent_probabilities.T
        rows = [self._line_probability(line, jam_probability, len(line)) for line in self.lines]
        return np.asarray(np.stack(rows) * self.tables.class_probabilities)

    def values(self, strategy: Array) -> Array:
        """Compute the expected value of each player in the model. float64 [players]"""
        self._showdowns = self._large_showdowns(strategy)
        action_values, out = self._decision_values(strategy)
        own = (strategy * action_values[:, 0] + (1 - strategy) * action_values[:, 1]).sum(axis=1)
        for line, k in self.lines.items():
            out[len(line)] += own[k]
        return out

    def _decision_values(self, strategy: Array) -> tuple[Array, Array]:
        """Return counterfactual values of both actions at every line, and payoffs of players who have no decision.

        The latter are the big blind when all fold, and players behind four all-ins. float64 [lines, 2, classes],
        float64 [players]
        """
        class_probabilities = self.tables.class_probabilities
        # [lines, classes]: probability that another player goes all-in, by the own class
        jam_probability = strategy @ self.tables.opponent_probabilities.T
        mean = strategy @ class_probabilities  # [lines]
        out, undecided = np.zeros((len(self.lines), 2, self.classes)), np.zeros(self.spot.players)
        folded = np.zeros(len(self.lines))  # [lines]: value of folding, given the line

        def add_folds(terminal: str, money: Array) -> None:
            for player, move in enumerate(terminal):
                line = self.lines.get(terminal[:player])
                if line is None:
                    undecided[player] += money[player] * self._line_probability(terminal, mean, player)
                elif move == FOLD:
                    folded[line] += money[player] * self._line_probability(terminal, mean, player, player + 1)

        add_folds(FOLD * self.spot.players, self._walk_payoffs)
        for terminal, seats in self._all_in_sets.items():
            orders, overall = self._showdowns.get(terminal) or self._order_probabilities(terminal, seats, strategy)
            for at, player in enumerate(seats):
                values = orders[at] @ self._payoffs[terminal][:, player]
                reach = self._line_probability(terminal, jam_probability, player)
                out[self.lines[terminal[:player]], 0] += values * reach
            add_folds(terminal, overall @ self._payoffs[terminal])
        for line, k in self.lines.items():
            out[k, 1] = folded[k] * self._line_probability(line, jam_probability, len(line))
        return out * class_probabilities, undecided

    def _line_probability(self, end: str, jam_probability: Array, player: int, first: int = 0) -> Array:
        """Return the probability that all others than `player`, from player `first` on, act as in line `end`.

        `jam_probability`: probability of going all-in at each line, overall or by the class of `player`.
        float64 [lines] -> float64 [], or float64 [lines, classes] -> float64 [classes]
        """
        out = np.ones(jam_probability.shape[1:])
        for j in range(first, len(end)):
            line = self.lines.get(end[:j])
            if j != player and line is not None:
                out = out * (jam_probability[line] if end[j] == JAM else 1 - jam_probability[line])
        return out

    def _large_showdowns(self, strategy: Array) -> dict[str, tuple[list[Array], Array]]:
        """Compute `_order_probabilities` of all terminal lines with three or four all-ins, in threads."""
        large = [end for end, seats in self._all_in_sets.items() if len(seats) > 2]
        with ThreadPoolExecutor(self.threads) as pool:
            orders = list(pool.map(lambda end: self._order_probabilities(end, self._all_in_sets[end], strategy), large))
        return dict(zip(large, orders, strict=True))

    def _order_probabilities(self, end: str, all_in: tuple[int, ...], strategy: Array) -> tuple[list[Array], Array]:
        """Return the probability of each order of the players all-in, by class of each of them and over all classes.

        float64 [classes, orders] each, float64 [orders]
        """
        ranges = [strategy[self.lines[end[:player]]] for player in all_in]
        shares, overall = [], np.zeros(0)
        for at, own in enumerate(ranges):
            weight = self._order_weights(at, [other for j, other in enumerate(ranges) if j != at])
            total, marginal = weight.sum(axis=1, keepdims=True), weight.sum(axis=0)
            marginal = marginal / marginal.sum() if marginal.sum() > 0 else np.full(len(marginal), 1 / len(marginal))
            shares.append(safe_divide(weight, total, marginal))
            if at == 0:
                weighted = own @ weight
                overall = weighted / weighted.sum() if weighted.sum() > 0 else marginal
        return shares, overall

    def _order_weights(self, seat: int, others: list[Array]) -> Array:
        """Return the weight of each showdown order, by the class of one player, against ranges of the others.

        Weights include the probability of the others' ranges. float64 [classes, orders]
        """
        if not others:
            return np.ones((self.classes, 1))
        if len(others) < 3:
            return self.tables.order_probabilities(seat, others, MIN_CLASS_FREQUENCY)
        weights = np.ones((4, self.classes), np.float32)
        weights[[j for j in range(4) if j != seat]] = others
        out = np.zeros((self.classes, len(FOUR_ORDERS)))
        kernels.four_range_orders(*self._four_way_deals, SEAT_PERMUTATIONS, _permuted_four_orders(), weights, seat, out)
        return out


def sample_four_way_deals(tables: HandTables, samples: int, seed: int) -> tuple[Array, Array]:
    """Sample deals: classes of four hands, and index of their showdown order. uint8 [samples, 4], uint8 [samples]"""
    deck, rng = tables.deck, np.random.default_rng(seed)
    cards = np.argsort(rng.random((samples, len(deck.cards))), axis=1)[:, : 8 + tables.board]
    dealt = deck.cards[cards].astype(np.uint8)
    hands, board = [dealt[:, 2 * p : 2 * p + 2] for p in range(4)], dealt[:, 8:]
    ranks = np.stack([rank_batch(np.hstack([hand, board]), deck.rules, check=False) for hand in hands], axis=1)
    better = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    order = np.array([FOUR_ORDERS.index(tuple(row)) for row in better.tolist()], np.uint8)
    numbers = hand_numbers(deck)
    classes = np.stack([tables.hand_class[numbers[hand[:, 0], hand[:, 1]]] for hand in hands], axis=1)
    return classes.astype(np.uint8), order


@cache
def _permuted_four_orders() -> Array:
    """Return, for each permutation of four hands over the players, the players' order for each order. int64 [24, 75]"""
    turns = SEAT_PERMUTATIONS.tolist()
    return np.array([[FOUR_ORDERS.index(tuple(order[p] for p in turn)) for order in FOUR_ORDERS] for turn in turns])
