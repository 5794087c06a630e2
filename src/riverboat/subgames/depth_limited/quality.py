"""Exact evaluation of searched streets, on decks small enough to traverse all runouts.

    flop = StreetEvaluation.from_blueprint(strategy, "cc/", board)
    flop.exploitability(flop.table)                                    # of the blueprint, in % of the pot
    strategies = [searched street of seat 0, of seat 1]
    flop.exploitability(flop.with_street_strategies(strategies))       # followed by the blueprint
    flop.exploitability(flop.with_nested_solutions(strategies))        # later streets solved for the resulting ranges

Both players start with the blueprint's ranges. The exploitability of a profile is half of the sum of both best-response
gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.tables import allocate_tables, copy_strategy, parse_table_format, write_locked_regrets
from riverboat.games.holdem.betting import BettingState
from riverboat.solvers.boards.cfr import SEVERAL_STREETS_SCHEDULE, engine_quality, schedule_rows
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_game import BlueprintSubgame, blueprint_subgame, compile_blueprint, decision_view
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.subgames.depth_limited.solver import StreetStrategy, StreetTree, build_street_tree
from riverboat.trees.boards import BoardTree

TABLE_DTYPE = "float32"


@dataclass(frozen=True, eq=False)
class StreetEvaluation:
    """The game from a blueprint's line and board to the end of the hand, in which strategies are evaluated exactly."""

    strategy: Blueprint
    line: str
    board: tuple[int, ...]
    hands: Array  # indices of unblocked hands
    ranges: Array  # float64 [2, hands]: reach of both seats
    game: BlueprintSubgame
    tree: BoardTree
    table: Array  # strategy of the blueprint

    @staticmethod
    def from_blueprint(strategy: Blueprint, line: str, board: tuple[int, ...]) -> StreetEvaluation:
        """Build the evaluation of a line's street on a board, with the blueprint's own ranges."""
        node = node_at_line(strategy, line, board)
        game = blueprint_subgame(strategy, node.node, board, node.full_reach)
        tree, table = compile_blueprint(strategy, game, 1)
        return StreetEvaluation(
            strategy, line, board, FULL_DECK.hand_indices(node.hands), node.reach, game, tree, table
        )

    @property
    def state(self) -> BettingState:
        """Betting state at the start of the street."""
        return BettingState.from_line(self.strategy.rules, self.line)

    @cached_property
    def street(self) -> StreetTree:
        """Betting tree of the street, with the blueprint's sizes."""
        assert self.strategy.menu is not None
        return build_street_tree(self.state, self.strategy.menu)

    @cached_property
    def forest_nodes(self) -> dict[int, int]:
        """Forest node of each decision of the street: both trees list the actions in the same order."""
        betting, forest = self.tree.betting, {int(n): f for f, n in enumerate(self.tree.forest.node)}
        out, stack = {}, [(0, 0)]
        while stack:
            street_node, betting_node = stack.pop()
            if not self.street.moves[street_node]:
                continue
            out[street_node] = forest[betting_node]
            stack += zip(self.street.children[street_node], betting.children(betting_node), strict=True)
        return out

    def blueprint_strategy(self) -> dict[int, Array]:
        """Return the blueprint's strategy on the street. float64 [actions, hands] by node of `street`"""
        engine, actor = CpuBoardEngine.from_average(self.tree, self.table), self.tree.forest.actor
        rows = self.tree.row_of[0][:, self.hands]  # [2, hands]
        return {n: engine.average_strategy(0, f)[:, rows[actor[f]]] for n, f in self.forest_nodes.items()}

    def exploitability(self, table: Array) -> float:
        """Return the exploitability of a strategy table of `tree`, in % of the pot."""
        return engine_quality(CpuBoardEngine.from_average(self.tree, table)).exploitability

    def gain_over_blueprint(self, table: Array) -> float:
        """Return a table's EV against the blueprint minus the blueprint's own: mean over seats, in % of the pot."""
        gain = 0.0
        for seat in (0, 1):
            mixed = self.table.copy()
            self._copy_decisions(seat, table, mixed)
            new, old = (CpuBoardEngine.from_average(self.tree, t).expected_value(seat) for t in (mixed, self.table))
            gain += (new - old) / 2
        return 100 * gain / self.state.pot

    def _copy_decisions(self, seat: int, source: Array, target: Array) -> None:
        """Copy the strategy of a seat on all streets from one table to another."""
        own_nodes = np.flatnonzero(self.tree.forest.actor == seat).tolist()
        copy_strategy(self.tree, source, self.tree, target, zip(own_nodes, own_nodes, strict=True))

    def _write_strategy(self, table: Array, street_strategy: StreetStrategy, seats: Sequence[int] = (0, 1)) -> None:
        for street_node, node in self.forest_nodes.items():
            seat = int(self.tree.forest.actor[node])
            if seat in seats:
                hands = np.searchsorted(self.hands, self.tree.representatives(0, seat))
                decision_view(self.tree, table, 0, node)[:] = street_strategy[street_node][:, hands]

    def with_street_strategies(self, strategies: Sequence[StreetStrategy]) -> Array:
        """Return the table in which seat k plays `strategies[k]` on this street, and the blueprint later."""
        table = self.table.copy()
        for seat, strategy in enumerate(strategies):
            self._write_strategy(table, strategy, (seat,))
        return table

    def with_nested_solutions(self, strategies: Sequence[StreetStrategy], iterations: int = 100) -> Array:
        """Return the table in which seat k plays `strategies[k]`, and later a solution for the ranges after it.

        These ranges are those of both seats if both play `strategies[k]` on this street.
        """
        table = self.table.copy()
        for seat, strategy in enumerate(strategies):
            self._copy_decisions(seat, self.solve_rest(strategy, iterations), table)
        return table

    def solve_rest(self, street_strategy: StreetStrategy | None, iterations: int = 100) -> Array:
        """Solve all later streets, given both seats' strategy on this one (None: solve it too); return the table."""
        table_format = parse_table_format(TABLE_DTYPE)
        tables = allocate_tables(self.tree, table_format)
        if street_strategy is not None:
            full_table = np.zeros(len(self.table), np.float32)
            self._write_strategy(full_table, street_strategy)
            nodes = sorted(self.forest_nodes.values())
            blocks = [decision_view(self.tree, full_table, 0, node).ravel() for node in nodes]
            starts = accumulate(map(len, blocks[:-1]), initial=0)
            lock = np.array([(0, node, start) for node, start in zip(nodes, starts, strict=True)], np.int32)
            locked = np.concatenate(blocks).astype(table_format.compute)
            write_locked_regrets(self.tree, table_format, tables.regret, lock, locked)
            tables = tables._replace(lock=lock, locked=locked)
        engine = CpuBoardEngine(self.tree, table_format, tables, stakes=SEVERAL_STREETS_SCHEDULE.stakes)
        engine.iterate(schedule_rows(SEVERAL_STREETS_SCHEDULE, 0, 0.0, iterations)[0])
        table: Array = engine.read("average").copy()
        if street_strategy is not None:
            self._write_strategy(table, street_strategy)
        return table
