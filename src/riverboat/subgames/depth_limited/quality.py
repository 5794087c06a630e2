"""How good a searched street is, exactly, on a deck small enough to walk everything that follows.

    flop = Flop.of(strategy, "cc/", board)
    flop.exploitability(flop.table)                      # of the blueprint there, % of the pot
    plays = [searched street of seat 0, of seat 1]
    flop.exploitability(flop.played(plays))              # the blueprint again behind the street
    flop.exploitability(flop.nested(plays))              # what follows solved too, for the ranges that the street leads to

Both come with the blueprint's ranges. The pair is exploitable for half of what both could gain by best responses to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import allocate, block, hold, table_format
from riverboat.games.holdem.betting import Betting
from riverboat.solvers.boards.cfr import STAKES_SCHEDULE, quality_of, step_rows
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.blueprint_game import LineGame, filled, line_game
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.depth_limited.street_game import Play, StreetTree, street_tree
from riverboat.trees.boards import BoardTree

FORM = "float32"


@dataclass(frozen=True, eq=False)
class Flop:
    """A street of a blueprint on a board, and everything that may follow."""

    strategy: BlueprintStrategy
    line: str
    board: tuple[int, ...]
    hands: Array  # numbers of those that the board leaves
    ranges: Array  # float64 [2, hands]: how often both come there
    game: LineGame
    tree: BoardTree
    table: Array  # what the blueprint plays

    @staticmethod
    def of(strategy: BlueprintStrategy, line: str, board: tuple[int, ...]) -> Flop:
        """With the ranges that the blueprint arrives with."""
        place = at_line(strategy, line, board)
        hands, weights = hand_numbers(place.hands), np.zeros((2, HANDS))
        weights[:, hands] = place.reach
        game = line_game(strategy, place.node, board, weights)
        tree, table = filled(strategy, game, 1)
        return Flop(strategy, line, board, hands, place.reach, game, tree, table)

    @property
    def state(self) -> Betting:
        """The betting there."""
        return Betting.from_line(self.strategy.rules, self.line)

    @cached_property
    def street(self) -> StreetTree:
        """Its betting, with the blueprint's sizes."""
        assert self.strategy.menu is not None
        return street_tree(self.state, self.strategy.menu)

    @cached_property
    def nodes(self) -> dict[int, int]:
        """Nodes of the forest by decisions of the street: both have the moves in the same order."""
        betting, forest = self.tree.betting, {int(n): f for f, n in enumerate(self.tree.forest.node)}
        out, work = {}, [(0, 0)]
        while work:
            mine, theirs = work.pop()
            if not self.street.moves[mine]:
                continue
            out[mine] = forest[theirs]
            work += zip(self.street.children[mine], betting.children(theirs), strict=True)
        return out

    def blueprint_play(self) -> dict[int, Array]:
        """What the blueprint plays on the street."""
        walker = BoardWalker.reader(self.tree, self.table)
        play = {}
        for mine, node in self.nodes.items():
            seat = int(self.tree.forest.actor[node])
            play[mine] = walker.play(0, node)[:, self.tree.row_of[0, seat][self.hands]]
        return play

    def exploitability(self, table: Array) -> float:
        """Of both together, in % of the pot."""
        return quality_of(BoardWalker.reader(self.tree, table)).exploitability

    def earned(self, table: Array) -> float:
        """What a pair wins of the blueprint: the mean over both seats, in % of the pot."""
        won = 0.0
        for seat in (0, 1):
            mixed = self.table.copy()
            for board, node in self._all(seat):
                at, width, rows = block(self.tree, board, node)
                mixed[at : at + width * rows] = table[at : at + width * rows]
            new, old = (BoardWalker.reader(self.tree, t).earnings(seat) for t in (mixed, self.table))
            won += (new - old) / 2
        return 100 * won / self.state.pot

    def _all(self, seat: int) -> list[tuple[int, int]]:
        """Boards and nodes where a seat acts."""
        first, at = self.tree.forest.first, self.tree.street_at
        out = []
        for street in range(self.tree.streets):
            mine = [n for n in range(first[street], first[street + 1]) if self.tree.forest.actor[n] == seat]
            out += [(board, node) for board in range(at[street], at[street + 1]) for node in mine]
        return out

    def _write(self, table: Array, play: Play, seats: Sequence[int] = (0, 1)) -> None:
        index = np.full(HANDS, -1)
        index[self.hands] = np.arange(len(self.hands))
        for mine, node in self.nodes.items():
            seat = int(self.tree.forest.actor[node])
            if seat in seats:
                at, width, rows = block(self.tree, 0, node)
                table[at : at + width * rows] = play[mine][:, index[self.tree.reps(0, seat)]].ravel()

    def played(self, plays: Sequence[Play]) -> Array:
        """The street as each seat has searched it, the blueprint behind it."""
        table = self.table.copy()
        for seat, play in enumerate(plays):
            self._write(table, play, (seat,))
        return table

    def nested(self, plays: Sequence[Play], iterations: int = 100) -> Array:
        """The street as each seat has searched it, and behind it what each solves for the ranges of its own search."""
        table = self.table.copy()
        for seat, play in enumerate(plays):
            solved = self.solved(play, iterations)
            for board, node in self._all(seat):
                at, width, rows = block(self.tree, board, node)
                table[at : at + width * rows] = solved[at : at + width * rows]
        return table

    def solved(self, play: Play | None, iterations: int = 100) -> Array:
        """All that follows the street solved, where it is played so; with None the street too."""
        form = table_format(FORM)
        tables = allocate(self.tree, form)
        if play is not None:
            index, numbers, start = [], [], 0
            whole = np.zeros(len(self.table), np.float32)
            self._write(whole, play)
            for node in sorted(self.nodes.values()):
                at, width, rows = block(self.tree, 0, node)
                index.append((0, node, start))
                numbers.append(whole[at : at + width * rows])
                start += width * rows
            lock, locked = np.array(index, np.int32), np.concatenate(numbers).astype(form.work)
            hold(self.tree, form, tables.regret, lock, locked)
            tables = tables._replace(lock=lock, locked=locked)
        walker = BoardWalker(self.tree, form, tables, stakes=STAKES_SCHEDULE.stakes)
        walker.learn(step_rows(STAKES_SCHEDULE, 0, 0.0, iterations)[0])
        table: Array = walker.read("average").copy()
        if play is not None:
            self._write(table, play)
        return table
