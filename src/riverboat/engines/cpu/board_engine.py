"""`BoardWalker`: the walks over a `BoardTree` on processors, and the memory that they learn in."""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.compiled.simd import decode
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.cpu._kernels import board as kernels
from riverboat.engines.cpu._kernels.node import EVALUATE, LEARN, RESPOND, BoardTables
from riverboat.engines.cpu.ties import Ties
from riverboat.engines.cpu.workspace import BLOCKS, Rooms
from riverboat.engines.protocol import Start
from riverboat.engines.roots import Root
from riverboat.engines.rules import LocalRule, board_loops
from riverboat.engines.tables import Format, allocate, block, format_of, reading
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

NO_STEP = np.zeros((1, 6))
FROM_ROOT = np.array([-1, -1, -1])


class BoardWalker:
    """A `Walker` on threads; bitwise equal on any number of them. `learner` and `reader` make one.

    Values come in chips, whatever scale walks use inside.
    """

    def __init__(
        self,
        tree: BoardTree,
        form: Format,
        tables: BoardTables,
        *,
        threads: int = 1,
        rule: LocalRule | None = None,
        rooms: Rooms | None = None,
        stakes: float = 0.0,
    ) -> None:
        """Where `rooms` are given, walks of other trees share them: this one is walked by one thread at a time.

        `stakes`: regrets of a move count by this power of the pot that the smallest move leads to over its own.
        """
        check_threads(threads)
        if int(tree.forest.width.max(initial=0)) > kernels.MAX_WIDTH:
            raise InputError(f"{tree.name}: {tree.forest.width.max()} moves at one node, more than {kernels.MAX_WIDTH}")
        self.tree, self.form, self._tables = tree, form, tables
        self._forest = tree.forest._replace(share=tree.forest.share**stakes)
        self.loops = board_loops(rule, form)
        self._rooms = Rooms(tree, form.work, threads if tree.streets > 1 else 1) if rooms is None else rooms
        self.threads, self.scale = self._rooms.threads if rooms is None else 1, self._rooms.scale
        predictive, apart = len(tables.prediction) > 0, tables.opp_regret is not tables.regret
        self.root = Root(tree, self.scale, predictive=predictive, apart=apart)
        self._stride = np.uint64(tree.stride)
        self._parents = np.array(tree.deals.parents, np.int32)
        children = int(tree.boards.child[1]) - int(tree.boards.child[0]) if tree.streets > 1 else 0
        count = min(BLOCKS, children)
        first = tree.street_at[1] if tree.streets > 1 else 0
        self._blocks = (first + np.arange(count + 1) * children // max(count, 1)).astype(np.int32)
        self._counter = np.zeros(1, np.int64)
        self._dealt = self.root.weights  # how hands come to the root in the walk that comes next

    @staticmethod
    def learner(
        tree: BoardTree,
        form: Format,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        threads: int = 1,
        rule: LocalRule | None = None,
        memory: int | None = None,
        stakes: float = 0.0,
    ) -> BoardWalker:
        """A walker with tables of its own. `simultaneous`: both players of an iteration answer the same profile."""
        check_threads(threads)
        tables = allocate(tree, form, predictive=predictive, apart=simultaneous, memory=memory)
        return BoardWalker(tree, form, tables, threads=threads, rule=rule, stakes=stakes)

    @staticmethod
    def reader(tree: BoardTree, average: Array, threads: int = 1, root: Array | None = None) -> BoardWalker:
        """A walker that evaluates and responds to a table of averages, which stays where it is; `root` are the gadget's."""
        walker = BoardWalker(tree, format_of(average.dtype), reading(tree, average), threads=threads)
        if root is not None:
            walker.write("root_average", root)
        return walker

    # --- tables -----------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are kept."""
        own = tuple(name for name in ("regret", "average", "prediction") if len(getattr(self._tables, name)))
        return own + self.root.names

    @property
    def nbytes(self) -> int:
        """Memory of the tables, copies that simultaneous players answer included."""
        return sum({id(table): table.nbytes for table in self._tables[:5]}.values())

    def read(self, name: str) -> Array:
        """A table: the walker's own memory."""
        if name not in self.names:
            raise InputError(f"{self.tree.name}: no table {name!r}; there are {', '.join(self.names)}")
        table: Array = self.root.read(name) if name in self.root.names else getattr(self._tables, name)
        return table

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        table = self.read(name)[start : start + len(numbers)]
        if table.shape != numbers.shape:
            raise InputError(f"{self.tree.name}: {numbers.shape} numbers do not fit into table {name!r} at {start}")
        table[:] = numbers

    def play(self, board: int, node: int) -> Array:
        """What the averages, and locks, play at a decision. float64 [moves, rows]"""
        at, width, rows = block(self.tree, board, node)
        weights = np.asarray(decode(self._tables.average[at : at + width * rows]), float).reshape(width, rows)
        index, locked = self._tables.lock, self._tables.locked
        for _, _, start in index[(index[:, 0] == board) & (index[:, 1] == node)]:  # also where its player never gets to
            given = np.asarray(locked[start : start + weights.size], float).reshape(weights.shape)
            weights = np.where(given >= 0, given, weights)
        total = weights.sum(axis=0)
        return np.where(total > 1e-30, weights / np.where(total > 1e-30, total, 1.0), 1.0 / width)

    # --- walks ------------------------------------------------------------------------------

    def _work(
        self,
        steps: Array,
        mode: int,
        players: tuple[int, int],
        phases: Any,
        thread: int = 0,
        place: Array = FROM_ROOT,
        home: int = 0,  # the thread that opens the root
    ) -> None:
        t, root, rooms = self.tree, self.root, self._rooms
        self.loops.work(
            self._forest, t.seats, t.boards, self._parents, self._dealt, root.state, self._stride, self._tables, steps, mode,
            *players, *phases, self._blocks, self._counter, rooms.out(home), rooms.frames[thread],
            rooms.dealt[home], place,
        )  # fmt: skip

    def _threaded(self, step: Array, mode: int, me: int) -> None:
        players, share = (me, me + 1), (kernels.SHARE, kernels.CLOSE)
        self._work(step, mode, players, (kernels.OPEN, kernels.SHARE))
        self._rooms.on_all(lambda thread: self._work(step, mode, players, share, thread))
        self._work(step, mode, players, (kernels.CLOSE, kernels.WHOLE))

    def learn(self, steps: Array, start: Start | None = None, *, thread: int = 0) -> None:
        """Iterations in which the players take turns, or answer the same profile where the walker was made so.

        `thread`: whose room is used, where several walkers share rooms.
        """
        tables = self._tables
        if tables.opp_regret is tables.regret:
            self._learn(steps, start, thread)
            return
        for i in range(len(steps)):
            self._copy_seen()
            self._learn(steps[i : i + 1], start, thread)

    def _copy_seen(self) -> None:
        """Before an iteration in which both players answer the same profile."""
        tables = self._tables
        if tables.opp_regret is not tables.regret:
            self.root.copy_seen()
            tables.opp_regret[:] = tables.regret
            tables.opp_prediction[:] = tables.prediction

    def learn_tied(self, steps: Array, ties: Ties) -> None:
        """The same where rows share buckets: after a player's walk its rows are tied together."""
        tables = self._tables
        for step in steps:
            self._copy_seen()
            self._dealt = self.root.weights
            unfloored = step[None].copy()
            unfloored[0, 2] = -np.inf
            for me in (0, 1):
                if self.threads == 1:
                    self._work(unfloored, LEARN, (me, me + 1), (kernels.OPEN, kernels.WHOLE))
                else:
                    self._threaded(unfloored, LEARN, me)
                ties.tie(self._rooms, tables.regret, me, step[2], int(step[4]))
                if len(tables.prediction):
                    ties.tie(self._rooms, tables.prediction, me, turn=int(step[4]))

    def tied_averages(self, ties: Ties, turn: int) -> Array:
        """A copy of the averages in which rows that share a bucket have the bucket's."""
        table = self._tables.average.copy()
        for me in (0, 1):
            ties.tie(self._rooms, table, me, turn=turn)
        return table

    def _learn(self, steps: Array, start: Start | None, thread: int) -> None:
        self._dealt = self.root.weights
        if self.threads == 1 or start is not None:
            place = FROM_ROOT if start is None else self._set_out(start, (0, 1), thread)[0]
            self._work(steps, LEARN, (0, 2), (kernels.OPEN, kernels.WHOLE), thread, place, thread)
            return
        for i in range(len(steps)):
            for me in (0, 1):
                self._threaded(steps[i : i + 1], LEARN, me)

    def warm(self) -> None:
        """Compile, or load what was compiled."""
        self._work(NO_STEP[:0], LEARN, (0, 2), (kernels.OPEN, kernels.WHOLE))

    def evaluate(self, player: int, start: Start | None = None, *, thread: int = 0) -> Array:
        """What each row of a player wins from a node on, and after each move there. float64 [1 + moves, rows]"""
        return self._values(EVALUATE, player, start, thread)

    def respond(self, player: int, start: Start | None = None, *, thread: int = 0) -> Array:
        """The same when the player does the best that there is against the opponent's averages."""
        return self._values(RESPOND, player, start, thread)

    def round_values(self, player: int, start: Start | None = None, *, respond: bool = False) -> Array:
        """What each row of a player wins from each node of a round on, the first one or a later one. float64 [nodes, rows]

        Values are sums over the opponent's hands, each times its weight and what it played on the way. With `respond` the
        player does its best from the node on: counterfactual best-response values, before division.
        """
        unit = self._walk(RESPOND if respond else EVALUATE, player, start, 0)
        board, first = (0, 0) if start is None else (start.board, start.node)
        nodes = range(first, int(self.tree.forest.end[first]))
        return np.array([self._read(player, board, node, 0) for node in nodes]) * unit

    def earnings(self, player: int, *, respond: bool = False, thread: int = 0) -> float:
        """What a player wins on average from the root, in chips."""
        unit = self._walk(RESPOND if respond else EVALUATE, player, None, thread)
        return self.root.earnings(player, self._read(player, 0, 0, thread) * unit, respond=respond)

    @property
    def constant(self) -> float | None:
        """What both players earn together, in chips; None where that depends on what they do."""
        return self.root.constant

    def margins(self) -> Array:
        """How much less than its stop pay-off or shift each hand gets by entering, at best. float64 [1326], NaN elsewhere"""
        if self.root.gadget is None:
            raise InputError(f"{self.tree.name}: nothing stands at the root, so there are no margins")
        return self.root.margins(self._values(RESPOND, self.root.gadget.player, None, 0)[0])

    def _values(self, mode: int, me: int, start: Start | None, thread: int) -> Array:
        unit = self._walk(mode, me, start, thread)
        f, (board, node) = self.tree.forest, (0, 0) if start is None else (start.board, start.node)
        nodes, child = [node], node + 1
        for _ in range(int(f.width[node])):
            nodes.append(child)
            child = int(f.end[child])
        return np.array([self._read(me, board, n, thread) for n in nodes]) * unit

    def _read(self, me: int, board: int, node: int, thread: int) -> Array:
        """Values that the last walk left at a node, in its unit. float64 [rows]"""
        at, rows = int(self.tree.seats[me].value[node]), int(self.tree.boards.rows[board, me])
        values: Array = self._rooms.frames[thread][me].value[at : at + rows].astype(float)
        return values

    def _walk(self, mode: int, me: int, start: Start | None, thread: int) -> float:
        """Values of one player at all nodes of the first street, or from a node on. What their unit is in chips."""
        self._dealt, unit = self.root.dealt(1 - me)
        if start is not None:
            place, unit = self._set_out(start, (me,), thread)
            self._work(NO_STEP, mode, (me, me + 1), (kernels.OPEN, kernels.WHOLE), thread, place, thread)
        elif self.threads == 1:
            self._work(NO_STEP, mode, (me, me + 1), (kernels.OPEN, kernels.WHOLE), thread, FROM_ROOT, thread)
        else:
            self._threaded(NO_STEP, mode, me)
        return unit / self.scale

    def _set_out(self, start: Start, players: tuple[int, ...], thread: int) -> tuple[Array, float]:
        """Put reach where a walk from a node begins. The place for the loops, and what the opponent's is in units of."""
        tree, largest = self.tree, 1.0
        for me in players:
            room, seat = self._rooms.frames[thread][me], tree.seats[me]
            room.opp[:] = 0
            room.own[:] = 0
            mine, theirs = start.reach[me], start.reach[1 - me]
            largest = max(float(theirs.max(initial=0.0)), 1e-300)
            own, opp = int(seat.own[start.node]), int(seat.opp[start.node])
            room.own[own : own + len(mine)] = mine / max(float(mine.max(initial=0.0)), 1e-300)
            room.opp[opp : opp + len(theirs)] = theirs / largest
        return np.array([start.board, tree.street_of(start.board), start.node]), largest
