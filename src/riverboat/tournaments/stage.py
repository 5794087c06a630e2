"""A hand of push or fold as a game over classes of starting hands: what every decision is worth, exactly.

Two or three players. Hands come from one deck: two or three classes have the chance to be dealt together, and who wins is
known for all of them, with the cards of a player who folded out of the deck (`riverboat.tournaments.showdown_orders`). Suits are
alike before the flop, so a class forgets nothing.

    stage = Stage(PushFold((10, 10)))
    stage.counterfactual(strategy)        # float64 [lines, 2, 169]: what going all-in is worth, and folding

A hand ends in one of a few outcomes: a line, and how those all-in stand. What outcomes pay does not change how likely they
are, so a stage serves a single hand, and a state of a tournament whose values change from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.tournaments._kernels.stage import BB_JF, BB_JJ, OPEN, SB_F, SB_J
from riverboat.tournaments.hand_tables import PAIR_ORDERS, HandTables, starting_hands
from riverboat.tournaments.push_fold import JAM, PushFold
from riverboat.tournaments.showdown_orders import ORDERS

PLAYERS = (2, 3)


class Stage:
    """A spot over all classes. A strategy is the probability to go all-in. float64 [lines, classes]"""

    def __init__(self, spot: PushFold, tables: HandTables | None = None) -> None:
        if spot.players not in PLAYERS:
            raise InputError(f"{spot.players} players: two or three can be solved exactly")
        self.spot, self.seats = spot, spot.players
        self.tables = starting_hands(spot.players) if tables is None else tables
        self.classes = self.tables.classes
        self.lines = {line: k for k, line in enumerate(spot.lines)}
        self.ends = tuple(End.make(end, self.lines) for end in spot.ends)
        self.outcomes = tuple((end.line, order) for end in self.ends for order in end.orders)

    @property
    def start(self) -> Array:
        """Where to begin: everybody plays the better half of the classes, as they fare against any hand."""
        share = (self.tables.met[0] + self.tables.met[2] / 2).sum(axis=1) / np.maximum(self.tables.dealt, 1e-300)
        return np.tile((share > np.median(share)).astype(np.float64), (len(self.lines), 1))

    def stacks(self) -> Array:
        """Stacks at the end of each outcome. float64 [outcomes, seats]"""
        return np.array([self.spot.after(line, order) for line, order in self.outcomes])

    def seen(self, strategy: Array) -> Seen:
        """What each seat sees when all play a strategy."""
        meetings = Meetings(self.tables, strategy)
        weights = np.zeros((self.seats, len(self.outcomes), self.classes))
        first = 0
        for end in self.ends:
            for seat in range(self.seats):
                weights[seat, first : first + len(end.orders)] = self._chances(end, seat, meetings).T
            first += len(end.orders)
        return Seen(self, strategy, weights)

    def _chances(self, end: End, seat: int, meetings: Meetings) -> Array:
        """The chance of each order at an end, by the class of a seat that moves as the end says. float64 [classes, orders]

        A fold is one less a jam. So the others who fold are left out, or jam and are taken away again.
        """
        jams = [other for other in end.inside if other != seat and other in end.decided]
        folds = [other for other in end.decided if other != seat and other not in end.inside]
        total = np.zeros((self.classes, len(end.orders)))
        for size in range(len(folds) + 1):
            for some in combinations(folds, size):
                others = {other: end.decided[other] for other in sorted((*jams, *some))}
                part = meetings.orders(seat, others, end.inside) if others else self.tables.dealt[:, None]
                total += part if size % 2 == 0 else -part
        return total

    # --- with the pay-offs of the spot ------------------------------------------------------------

    @property
    def pay(self) -> Array:
        """What each outcome is worth to each seat. float64 [seats, outcomes]"""
        return self.spot.worth(self.stacks()).T

    def counterfactual(self, strategy: Array, fresh: bool = True) -> Array:
        """What going all-in and folding are worth at every line with every class, times the chance that chance and the others
        lead there. float64 [lines, 2, classes]. It is always fresh."""
        return self.seen(strategy).worth(self.pay)

    def reach(self, strategy: Array) -> Array:
        """The chance that chance and the others lead to each line with each class. float64 [lines, classes]"""
        return self.seen(strategy).worth(np.ones_like(self.pay))[:, 1]  # whatever is paid, one of the ends is reached

    def values(self, strategy: Array) -> Array:
        """What each player gets. float64 [players]"""
        worth: Array = (self.seen(strategy).chances(strategy) * self.pay).sum(axis=1)
        return worth


@dataclass(frozen=True)
class End:
    """How a hand can end: who is all-in, and whose decision was where."""

    line: str
    inside: tuple[int, ...]  # seats that are all-in
    decided: dict[int, int]  # the number of the line at which a seat has decided; not of who won without a decision
    orders: tuple[tuple[int | None, ...], ...]  # how many are better than each of those inside, at showdown

    @staticmethod
    def make(end: str, lines: dict[str, int]) -> End:
        inside = tuple(seat for seat, move in enumerate(end) if move == JAM)
        decided = {seat: lines[end[:seat]] for seat in range(len(end)) if end[:seat] in lines}
        orders: list[tuple[int | None, ...]] = []
        for order in {2: PAIR_ORDERS, 3: ORDERS}.get(len(inside), ((0,) * len(inside),)):
            ranks = dict(zip(inside, order, strict=True))
            orders.append(tuple(ranks.get(seat) for seat in range(len(end))))
        return End(end, inside, decided, tuple(orders))


@dataclass(frozen=True, eq=False)
class Seen:
    """A strategy of all seats as each of them sees it: the others fixed, its own moves open."""

    stage: Stage
    strategy: Array
    weights: (
        Array  # float64 [seats, outcomes, classes]: chances, where the seat itself surely moves as the outcome says
    )

    def worth(self, pay: Array) -> Array:
        """What going all-in and folding are worth at every line, times the chance to be there. float64 [lines, 2, classes]"""
        worths = np.zeros((len(self.stage.lines), 2, self.stage.classes))
        first = 0
        for end in self.stage.ends:
            some = slice(first, first := first + len(end.orders))
            for seat, line in end.decided.items():
                worths[line, int(seat not in end.inside)] += pay[seat, some] @ self.weights[seat, some]
        return worths

    def answer(self, pay: Array) -> tuple[Array, Array]:
        """The best answers of all seats, each to the others, and what it gains by them. float64 [lines, classes], [seats]"""
        worth = self.worth(pay)
        best = (worth[:, 0] > worth[:, 1]).astype(np.float64)
        more = ((best - self.strategy) * (worth[:, 0] - worth[:, 1])).sum(axis=1)
        gains = np.zeros(self.stage.seats)
        for line, k in self.stage.lines.items():
            gains[len(line)] += more[k]
        return best, gains

    def chances(self, strategy: Array) -> Array:
        """The chance of each outcome when one seat alone goes over to a strategy. float64 [seats, outcomes]"""
        chance = np.zeros(self.weights.shape[:2])
        first = 0
        for end in self.stage.ends:
            some = slice(first, first := first + len(end.orders))
            for seat in range(self.stage.seats):
                own = np.ones(self.stage.classes)
                if seat in end.decided:
                    jam = strategy[end.decided[seat]]
                    own = jam if seat in end.inside else 1 - jam
                chance[seat, some] = self.weights[seat, some] @ own
        return chance


class Meetings:
    """How a seat stands against one or two others who play at their lines, by its class. A meeting is computed once.

    Of three hands, those of one player are summed over first, which then serves the two others.
    """

    def __init__(self, tables: HandTables, strategy: Array) -> None:
        self.tables, self.strategy = tables, strategy
        self._known: dict[tuple[int, ...], tuple[tuple[int, ...], Array]] = {}
        self._sums: dict[int, Array] = {}

    def orders(self, seat: int, others: dict[int, int], inside: tuple[int, ...]) -> Array:
        """The chance of each order of those all-in. `others`: the lines at which other seats go all-in, or would.
        float64 [classes, orders]"""
        key = seat, *others.values()
        if key not in self._known:
            there, shares = self._three(seat, *others.values()) if len(others) == 2 else self._two(seat, others)
            self._known[key] = there, shares.astype(np.float64)
        there, shares = self._known[key]
        return shares @ told(there, inside)

    def _two(self, seat: int, others: dict[int, int]) -> tuple[tuple[int, ...], Array]:
        ((other, line),) = others.items()
        there = (seat, other) if seat < other else (other, seat)
        return there, self.tables.orders(there.index(seat), [self.strategy[line]])

    def _three(self, seat: int, first: int, second: int) -> tuple[tuple[int, ...], Array]:
        """The seats whose orders are told, and their chances by class. float32 [classes, orders]"""
        u, v = (self.strategy[line].astype(np.float32) for line in (first, second))
        if BB_JJ in (first, second) or (first, second) == (OPEN, SB_J):  # all three may be in
            place = 2 if second == BB_JJ else 1
            by_two = self._sum(second, lambda weights: self.tables.threes(place, weights))
            shares = np.tensordot(u, by_two, (0, 1 if seat == 0 else 0))
            return (0, 1, 2), shares
        if second == SB_F:  # the big blind's cards, the button having folded or not
            by_two = self._sum(OPEN, self.tables.folded)
            return (1, 2), np.tensordot(v, by_two, (0, 1)).T
        by_two = self._sum(
            second, self.tables.rows
        )  # the big blind first: by the classes of the third and of its opponent
        dead = 1 if second == BB_JF else 0
        shares = np.tensordot(u, by_two, (0, 2 if seat == dead else 1)).T
        return (1 - dead, 2), shares[:, [1, 0, 2]]

    def _sum(self, line: int, make: Callable[[Array], Array]) -> Array:
        if line not in self._sums:
            self._sums[line] = make(self.strategy[line])
        return self._sums[line]


@cache
def told(there: tuple[int, ...], inside: tuple[int, ...]) -> Array:
    """Orders of the seats whose hands are known, as orders of those all-in. float64 [orders, orders]"""
    known = {2: PAIR_ORDERS, 3: ORDERS}[len(there)]
    if len(inside) < 2:
        return np.ones((len(known), 1))
    wanted: Sequence[tuple[int, ...]] = {2: PAIR_ORDERS, 3: ORDERS}[len(inside)]
    matrix = np.zeros((len(known), len(wanted)))
    for k, order in enumerate(known):
        ranks = [order[there.index(seat)] for seat in inside]
        matrix[k, wanted.index(tuple(sum(other < mine for other in ranks) for mine in ranks))] = 1.0
    return matrix
