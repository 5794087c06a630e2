"""Best responses, exploitability, and values of strategies.

On a public tree one walk of hand vectors gives the best response to all hands at once (Johanson et al. 2011); on a
history tree the pay-offs are gathered by own sequence and the treeplex is folded from the leaves.
NashConv is the sum over players of (best response − value). Exploitability is half of it for two players; for more it is ε,
the largest of these gains.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, ZeroSumError
from riverboat.core.tables import COUNT, Column, ReportTable, known
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.threads import Walker
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees._kernels import tree as tree_kernels
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class Quality:
    """How good a strategy profile is. Values are in the game's unit, exact up to rounding."""

    best: tuple[float, ...]  # what a best response earns, per player
    values: tuple[float, ...]  # what the profile earns, per player; NaN where that was not asked for
    total: float | None = 0.0  # what pay-offs sum to, None where the game has no value that could be certified
    recalls: bool = True  # whether no player forgets; of one who does, `best` is an upper bound

    @property
    def gains(self) -> tuple[float, ...]:
        """What each player could gain by deviating alone."""
        return tuple(b - v for b, v in zip(self.best, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a deviation could gain."""
        if self.total is not None and any(math.isnan(value) for value in self.values):
            return sum(self.best) - self.total  # the same, whatever each earns
        return sum(self.gains)

    @property
    def exploitability(self) -> float:
        """The average gain of two players, half of NashConv; of more players the largest gain, ε."""
        return self.nash_conv / len(self.best) if len(self.best) <= 2 else max(self.gains)

    @property
    def bracket(self) -> tuple[float, float]:
        """An interval that holds the value of a constant-sum game to player 0.

        Player 0's part guarantees the low end, player 1's part the high end, whatever the other does. Where pay-offs have
        no constant sum (rake), with more than two players, and where a player forgets, there is no such value: both ends
        are what the profile earns.
        """
        if self.total is None:
            return self.values[0], self.values[0]
        return self.total - self.best[1], self.best[0]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The certified interval of the value to player 0; None where nothing is certified."""
        if self.total is None:
            return None
        low, high = self.bracket
        return min(low, high), max(low, high)  # rounding may cross them at an exact equilibrium

    @property
    def value(self) -> float:
        """The middle of the certified interval; without one, what the profile earns to player 0."""
        return self.values[0] if self.interval is None else sum(self.interval) / 2

    def times(self, unit: float) -> Quality:
        """The same in another unit."""
        best, values = (tuple(unit * value for value in each) for each in (self.best, self.values))
        return Quality(best, values, None if self.total is None else unit * self.total, self.recalls)

    def report(self) -> ReportTable:
        """A row for each player: what it earns, what its best response earns, and the difference."""
        columns = Column("player"), *(Column(name, COUNT) for name in ("value", "best response", "gain"))
        rows = enumerate(zip(self.values, self.best, self.gains, strict=True))
        title = f"exploitability {self.exploitability:.6g}, NashConv {self.nash_conv:.6g}"
        return ReportTable(title, columns, tuple((f"{p}", *map(known, row)) for p, row in rows))

    def to_frame(self) -> Any:
        """The report for pandas."""
        return self.report().to_frame()

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def check_zero_sum(tree: Tree) -> None:
    """Raise unless two players' pay-offs cancel everywhere."""
    if isinstance(tree, HistoryTree):
        tree.check_zero_sum()
        return
    first, second = tree.sides
    for e in range(len(first.kind)):
        if first.kind[e] == 2:
            wrong = np.abs(first.matrix[first.row[e]] + second.matrix[second.row[e]].T).max() > 1e-9
        else:
            wrong = np.abs(first.pay[e] + second.pay[e][::-1]).max() > 1e-9
        if wrong:
            raise ZeroSumError(f"{tree.name}: not zero-sum: {tree.layout.payoffs[e]}")


def quality(strategy: Strategy, threads: int = 1) -> Quality:
    """Best-response values and values of a profile."""
    return quality_of_sums(strategy.tree, strategy.probabilities, threads)


def quality_of_sums(tree: Tree, sums: Array, threads: int = 1) -> Quality:
    """The same for a table of accumulated weights, normalised on the way (no copy is made)."""
    if isinstance(tree, PublicTree):
        walker = Walker(tree, np.float64, threads)
        best, values = [], []
        for me in (0, 1):
            tables = _strategy_tables(tree, me, sums)
            best.append(_expectation(tree, me, walker.walk(me, tables, traversal.RESPOND)))
            values.append(_expectation(tree, me, walker.walk(me, tables, traversal.EVALUATE)))
        return Quality(tuple(best), tuple(values), tree.constant_sum)
    probabilities = Strategy.from_sums(tree, sums).probabilities
    best = [float(_fold(tree, probabilities, me)[0][0]) for me in range(tree.players)]
    recalls = tree.perfect_recall
    total = tree.constant_sum if recalls else None
    return Quality(tuple(best), _history_values(tree, probabilities), total, recalls)


def earned(tree: PublicTree, player: int, own: Array, theirs: Array) -> float:
    """What a player earns on average by one table of accumulated weights against an opponent who follows another."""
    tables = _strategy_tables(tree, player, own, theirs)
    return _expectation(tree, player, Walker(tree, np.float64, 1).walk(player, tables, traversal.EVALUATE))


def best_response(strategy: Strategy, player: int) -> tuple[float, Strategy]:
    """The best response of one player and what it earns; the other players' rows are kept."""
    tree = strategy.tree
    table = np.array(strategy.probabilities, float)
    if isinstance(tree, PublicTree):
        tables = _strategy_tables(tree, player, strategy.probabilities)
        tables = tables._replace(delta=np.zeros(tables.average.shape))
        value = _expectation(tree, player, Walker(tree, np.float64, 1).walk(player, tables, traversal.RESPOND))
        tree.views(table)[player][:] = tables.delta
    else:
        tree.check_recall(player)
        values, best = _fold(tree, strategy.probabilities, player)
        value = float(values[0])
        for i, infoset in enumerate(np.flatnonzero(tree.owner == player)):
            at, width = tree.offsets[infoset], tree.widths[infoset]
            table[at : at + width] = np.arange(width) == best[i]
    return value, Strategy(tree, table, {"method": "best response", "player": player})


def hand_values(strategy: Strategy, player: int, *, respond: bool = False) -> Array:
    """What each hand of a player earns on average at the root of a public tree. float64 [hands]

    Zero for hands that cannot be dealt. With `respond` the player best-responds instead of following the strategy.
    """
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name} has no hands: values by hand need a public game")
    mode = traversal.RESPOND if respond else traversal.EVALUATE
    raw = Walker(tree, np.float64, 1).walk(player, _strategy_tables(tree, player, strategy.probabilities), mode)
    joint = tree.deal.joint()
    dealt = joint.sum(axis=1 - player) * tree.total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(dealt > 0, raw * tree.sides[player].weight / dealt, 0.0)


def _strategy_tables(tree: PublicTree, me: int, sums: Array, theirs: Array | None = None) -> traversal.RegretTables:
    """Tables for a walk that only reads a strategy, or one for each player."""
    own = tree.views(_unmarked(sums))[me]
    opp = tree.views(_unmarked(sums if theirs is None else theirs))[1 - me]
    return traversal.RegretTables(own[:0], own, own[:0], np.zeros((0, own.shape[1])), opp[:0], opp[:0], opp)


def _unmarked(table: Array) -> Array:
    """The same memory without the read-only mark, which Numba would compile everything again for."""
    if table.flags.writeable:
        return table
    memory = (ctypes.c_char * table.nbytes).from_address(table.ctypes.data)
    alias: Array = np.frombuffer(memoryview(memory), table.dtype)
    return alias


def _expectation(tree: PublicTree, me: int, values: Array) -> float:
    return float(np.dot(tree.sides[me].weight, values)) / tree.total


def _fold(tree: HistoryTree, probabilities: Array, me: int) -> tuple[Array, Array]:
    """Best value from every sequence of a player on, and the best action at its information sets.

    Of a player who forgets, as if it remembered its own moves: the best that it can do itself is hard to find (NP-hard).
    """
    plex, last = tree.remembered(me)
    n = tree.nodes
    reach = np.empty(len(n.actor))
    tree_kernels.others_reach(n.actor, n.end, n.data, tree.chance, probabilities, me, reach)
    ends = np.flatnonzero(n.actor == TERMINAL)
    value = np.bincount(last[ends], reach[ends] * tree.payoffs[n.data[ends], me], minlength=plex.sequences)
    best = np.zeros(len(plex.parent), np.int32)
    tree_kernels.respond(plex.parent, plex.first, plex.width, value, best)
    return value, best


def _history_values(tree: HistoryTree, probabilities: Array) -> tuple[float, ...]:
    n = tree.nodes
    reach = np.empty(len(n.actor))
    tree_kernels.others_reach(n.actor, n.end, n.data, tree.chance, probabilities, -9, reach)  # everybody plays
    ends = np.flatnonzero(n.actor == TERMINAL)
    return tuple(float(np.dot(reach[ends], tree.payoffs[n.data[ends], p])) for p in range(tree.players))
