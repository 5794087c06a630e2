"""A push-or-fold hand as a game over classes of starting hands, with exact values; two or three players.

Hands come from one deck: the tables have joint probabilities of two or three classes and all showdown orders, with the
cards of a folded player removed from the deck (`riverboat.tournaments.hand_tables`). Suits are equivalent before the
flop, so classes are lossless.

    stage = PushFoldStage(PushFold((10, 10)))
    stage.counterfactual_values(strategy)        # float64 [lines, 2, 169]: values of going all-in and of folding

A hand ends in one of a few outcomes: a line, and the order of the hands all-in. Payoffs do not change the probabilities
of outcomes, so a stage serves a single hand as well as a state of a tournament whose values change from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.tournaments._kernels.push_fold import BB_JF, BB_JJ, OPEN, SB_F, SB_J
from riverboat.tournaments.hand_tables import PAIR_ORDERS, TRIPLE_ORDERS, HandTables, starting_hands
from riverboat.tournaments.push_fold import JAM, PushFold, seat_ranks

PLAYERS = (2, 3)


class PushFoldStage:
    """Exact push-or-fold game of two or three players over classes of hands; implements `StageGame`.

    A strategy is the probability of going all-in. float64 [lines, classes]
    """

    def __init__(self, spot: PushFold, tables: HandTables | None = None) -> None:
        if spot.players not in PLAYERS:
            raise InputError(f"{spot.players} players: must be 2 or 3 for an exact solution")
        self.spot, self.seats = spot, spot.players
        self.tables = starting_hands(spot.players) if tables is None else tables
        self.classes = self.tables.classes
        self.lines = {line: k for k, line in enumerate(spot.lines)}
        self.terminals: list[TerminalLine] = []
        for line in spot.terminal_lines:
            first = self.terminals[-1].rows.stop if self.terminals else 0
            self.terminals.append(TerminalLine.from_line(line, self.lines, first))
        self.outcomes = tuple((terminal.line, order) for terminal in self.terminals for order in terminal.orders)

    @property
    def initial_strategy(self) -> Array:
        """Initial strategy: all players go all-in with the half of the classes that has more equity.

        Equity is against a random hand.
        """
        wins, _, ties = self.tables.pair_orders
        share = (wins + ties / 2).sum(axis=1) / np.maximum(self.tables.class_probabilities, 1e-300)
        return np.tile((share > np.median(share)).astype(np.float64), (len(self.lines), 1))

    def stacks(self) -> Array:
        """Return the final stacks of each outcome. float64 [outcomes, seats]"""
        return np.array([self.spot.final_stacks(line, order) for line, order in self.outcomes])

    def response_problem(self, strategy: Array) -> PushFoldResponseProblem:
        """Return the decision problem of each seat against the others' parts of a strategy."""
        showdowns = RangeShowdowns(self.tables, strategy)
        weights = np.zeros((self.seats, len(self.outcomes), self.classes))
        for terminal in self.terminals:
            for seat in range(self.seats):
                weights[seat, terminal.rows] = self._order_probabilities(terminal, seat, showdowns).T
        return PushFoldResponseProblem(self, strategy, weights)

    def _order_probabilities(self, end: TerminalLine, seat: int, showdowns: RangeShowdowns) -> Array:
        """Return the probability of each showdown order at a terminal line, by the class of `seat`.

        float64 [classes, orders]

        The seat itself acts as in the line. Tables sum over ranges that go all-in; a fold is one minus an all-in. So
        folds of others are expanded by inclusion and exclusion: a sum over subsets of folding seats that go all-in
        instead, with alternating signs.
        """
        jams = [other for other in end.all_in_seats if other != seat and other in end.decision_lines]
        folds = [other for other in end.decision_lines if other != seat and other not in end.all_in_seats]
        total = np.zeros((self.classes, len(end.orders)))
        for size in range(len(folds) + 1):
            for subset in combinations(folds, size):
                others = {other: end.decision_lines[other] for other in sorted((*jams, *subset))}
                part = self.tables.class_probabilities[:, None]
                if others:
                    part = showdowns.order_probabilities(seat, others, end.all_in_seats)
                total += part if size % 2 == 0 else -part
        return total

    @property
    def payoffs(self) -> Array:
        """Payoff of each outcome to each seat. float64 [seats, outcomes]"""
        return self.spot.payoffs(self.stacks()).T

    def counterfactual_values(self, strategy: Array, recompute: bool = True) -> Array:
        """Compute the counterfactual values of going all-in and of folding. float64 [lines, 2, classes]

        `recompute` has no effect here; it is for `ManyPlayerPushFold`, which can reuse showdowns.
        """
        return self.response_problem(strategy).action_values(self.payoffs)

    def reach(self, strategy: Array) -> Array:
        """Compute the probability that chance and the others lead to each line with each class.

        float64 [lines, classes]
        """
        # With all payoffs 1, the value is the reach.
        return self.response_problem(strategy).action_values(np.ones_like(self.payoffs))[:, 1]

    def values(self, strategy: Array) -> Array:
        """Compute the expected value of each player. float64 [players]"""
        probabilities = self.response_problem(strategy).outcome_probabilities(strategy)
        return np.asarray((probabilities * self.payoffs).sum(axis=1))


@dataclass(frozen=True)
class TerminalLine:
    """A terminal line: the seats all-in, and the line at which each seat acted."""

    line: str
    all_in_seats: tuple[int, ...]  # seats that are all-in
    decision_lines: dict[int, int]  # for each seat that had a decision: index of the line at which it acted
    orders: tuple[tuple[int | None, ...], ...]  # number of better hands for each seat all-in, None for the others
    rows: slice  # indices of its outcomes among those of all terminal lines

    @staticmethod
    def from_line(end: str, lines: dict[str, int], first: int) -> TerminalLine:
        all_in = tuple(seat for seat, move in enumerate(end) if move == JAM)
        decision_lines = {seat: lines[end[:seat]] for seat in range(len(end)) if end[:seat] in lines}
        orders = seat_ranks(end, {2: PAIR_ORDERS, 3: TRIPLE_ORDERS}.get(len(all_in), ((0,) * len(all_in),)))
        return TerminalLine(end, all_in, decision_lines, orders, slice(first, first + len(orders)))


@dataclass(frozen=True, eq=False)
class PushFoldResponseProblem:
    """The decision problem of each seat at a strategy profile: the others are fixed."""

    stage: PushFoldStage
    strategy: Array
    weights: Array  # float64 [seats, outcomes, classes]: probabilities if the seat itself acts towards the outcome

    def action_values(self, payoffs: Array) -> Array:
        """Compute the counterfactual values of going all-in and of folding at every line.

        float64 [lines, 2, classes]
        """
        values = np.zeros((len(self.stage.lines), 2, self.stage.classes))
        for terminal in self.stage.terminals:
            rows = terminal.rows
            for seat, line in terminal.decision_lines.items():
                values[line, int(seat not in terminal.all_in_seats)] += payoffs[seat, rows] @ self.weights[seat, rows]
        return values

    def best_response(self, payoffs: Array) -> tuple[Array, Array]:
        """Return each seat's best response to the others, and its gain. float64 [lines, classes], [seats]"""
        values = self.action_values(payoffs)
        best = (values[:, 0] > values[:, 1]).astype(np.float64)
        gain_by_line = ((best - self.strategy) * (values[:, 0] - values[:, 1])).sum(axis=1)
        gains = np.zeros(self.stage.seats)
        for line, k in self.stage.lines.items():
            gains[len(line)] += gain_by_line[k]
        return best, gains

    def outcome_probabilities(self, strategy: Array) -> Array:
        """Return the probability of each outcome if one seat alone switches to a strategy. float64 [seats, outcomes]"""
        probabilities = np.zeros(self.weights.shape[:2])
        for terminal in self.stage.terminals:
            for seat in range(self.stage.seats):
                frequency = np.ones(self.stage.classes)
                if seat in terminal.decision_lines:
                    jam = strategy[terminal.decision_lines[seat]]
                    frequency = jam if seat in terminal.all_in_seats else 1 - jam
                probabilities[seat, terminal.rows] = self.weights[seat, terminal.rows] @ frequency
        return probabilities


class RangeShowdowns:
    """Cache of showdown order probabilities, by a seat's class, against the ranges of one or two others.

    With three hands, the sums over one player's range are cached for both other players.
    """

    def __init__(self, tables: HandTables, strategy: Array) -> None:
        self.tables, self.strategy = tables, strategy
        self._cache: dict[tuple[int, ...], tuple[tuple[int, ...], Array]] = {}
        self._sums: dict[int, Array] = {}

    def order_probabilities(self, seat: int, others: dict[int, int], all_in_seats: tuple[int, ...]) -> Array:
        """Return the probability of each order of the seats all-in, by the class of `seat`. float64 [classes, orders]

        `others`: for each other seat with a range, the index of the line whose all-in range it has.
        """
        key = seat, *others.values()
        if key not in self._cache:
            if len(others) == 2:
                seats, probabilities = self._three_way_orders(seat, others)
            else:
                ((other, line),) = others.items()
                seats = tuple(sorted((seat, other)))
                probabilities = self.tables.order_probabilities(seats.index(seat), [self.strategy[line]])
            self._cache[key] = seats, probabilities.astype(np.float64)
        seats, probabilities = self._cache[key]
        return probabilities @ map_orders(seats, all_in_seats)

    def _three_way_orders(self, seat: int, others: dict[int, int]) -> tuple[tuple[int, ...], Array]:
        """Return the ordered seats, and probabilities of orders by class of `seat`. float32 [classes, orders]"""
        first, second = others.values()
        u, v = (self.strategy[line].astype(np.float32) for line in (first, second))
        if BB_JJ in (first, second) or (first, second) == (OPEN, SB_J):  # all three may be all-in
            range_seat = 2 if second == BB_JJ else 1
            by_two = self._sum_over_line(second, partial(self.tables.triple_orders_with_range, range_seat))
            return (0, 1, 2), np.tensordot(u, by_two, (0, 1 if seat == 0 else 0))
        if second == SB_F:  # showdown of the blinds, the button's cards removed
            by_two = self._sum_over_line(OPEN, self.tables.pair_orders_with_folded_range)
            return (1, 2), np.tensordot(v, by_two, (0, 1)).T
        # The big blind first: by the classes of the folded player and of the opponent.
        by_two = self._sum_over_line(second, self.tables.folded_orders_with_range)
        dead = 1 if second == BB_JF else 0
        return (1 - dead, 2), np.tensordot(u, by_two, (0, 2 if seat == dead else 1)).T[:, [1, 0, 2]]

    def _sum_over_line(self, line: int, make: Callable[[Array], Array]) -> Array:
        if line not in self._sums:
            self._sums[line] = make(self.strategy[line])
        return self._sums[line]


@cache
def map_orders(known_seats: tuple[int, ...], all_in_seats: tuple[int, ...]) -> Array:
    """Return the matrix that maps showdown orders of seats with known hands to those of the seats all-in.

    Entries are 0 or 1: the order of the known hands determines that of the seats all-in. float64 [orders, orders]
    """
    source = {2: PAIR_ORDERS, 3: TRIPLE_ORDERS}[len(known_seats)]
    if len(all_in_seats) < 2:
        return np.ones((len(source), 1))
    target: Sequence[tuple[int, ...]] = {2: PAIR_ORDERS, 3: TRIPLE_ORDERS}[len(all_in_seats)]
    matrix = np.zeros((len(source), len(target)))
    for k, order in enumerate(source):
        ranks = [order[known_seats.index(seat)] for seat in all_in_seats]
        matrix[k, target.index(tuple(sum(other < own for other in ranks) for own in ranks))] = 1.0
    return matrix
