"""`CpuBoardEngine` and `CpuBatchEngine`: traversals of board trees on processors, with their tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock
from typing import TypeVar, Unpack

import numpy as np

from riverboat.compiled.simd import decode_codes
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.cpu._kernels import board as kernels
from riverboat.engines.cpu._kernels.node import BEST_RESPONSE, EVALUATE, UPDATE, BoardTables
from riverboat.engines.cpu.ties import TiedRows
from riverboat.engines.cpu.workspace import MAX_BLOCKS, EngineWorkspace
from riverboat.engines.protocol import BoardEngine, EngineOptions, SubtreeStart
from riverboat.engines.roots import RootState
from riverboat.engines.rules import LocalRule, board_kernels
from riverboat.engines.tables import (
    TableFormat,
    allocate_tables,
    check_table_memory,
    format_of_average,
    table_block,
    table_bytes,
    tables_from_average,
)
from riverboat.engines.threads import KernelTeam
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.trees.betting import BettingShape, make_shape
from riverboat.trees.boards import BoardTree
from riverboat.trees.public import child_nodes

SPLIT_BLOCKS = 2  # blocks for each thread that are split into batches, so that all threads end together
ZERO_STEP = np.zeros((1, 6))
FROM_ROOT = np.array([-1, -1, -1])


class CpuBoardEngine(BoardEngine):
    """A `BoardEngine` on threads, bitwise equal on any number of them.

    Values are in chips, independent of the internal scale.
    """

    def __init__(
        self,
        tree: BoardTree,
        form: TableFormat,
        tables: BoardTables | None = None,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        threads: int = 1,
        rule: LocalRule | None = None,
        workspace: EngineWorkspace | None = None,
        memory: int | None = None,
        stakes: float = 0.0,
    ) -> None:
        """Use given tables, or allocate them.

        `simultaneous`: both players of an iteration update against the same profile. With `workspace`, engines share
        memory, and one thread at a time traverses this tree. `stakes`: regrets of an action are weighted by (pot of the
        smallest action / own pot) to this power.
        """
        check_threads(threads)
        if tables is None:
            tables = allocate_tables(tree, form, predictive=predictive, simultaneous=simultaneous, memory=memory)
        if int(tree.forest.width.max(initial=0)) > kernels.MAX_NODE_ACTIONS:
            raise InputError(
                f"{tree.name}: {tree.forest.width.max()} actions at one node, more than {kernels.MAX_NODE_ACTIONS}"
            )
        self.tree, self.form, self._tables = tree, form, tables
        self._forest = tree.forest._replace(share=tree.forest.share**stakes)
        self.kernels = board_kernels(rule, form)
        self._workspace = (
            EngineWorkspace(tree, form.compute, threads if tree.streets > 1 else 1) if workspace is None else workspace
        )
        self.threads, self.scale = self._workspace.threads if workspace is None else 1, self._workspace.scale
        predictive, simultaneous = len(tables.prediction) > 0, tables.opp_regret is not tables.regret
        self.root = RootState(tree, self.scale, predictive=predictive, simultaneous=simultaneous)
        self._stride = np.uint64(tree.stride)
        self._parents = np.array(tree.deals.parents, np.int32)
        children = int(tree.boards.child[1]) - int(tree.boards.child[0]) if tree.streets > 1 else 0
        count = min(MAX_BLOCKS, children)
        first = tree.street_start[1] if tree.streets > 1 else 0
        self._blocks = (first + np.arange(count + 1) * children // max(count, 1)).astype(np.int32)
        self._units = _order_units(tree, self._blocks, self.threads)
        self._root_reach = self.root.weights  # reach at the root in the next traversal
        self._team: KernelTeam | None = None
        self._lock = Lock()  # traversals share memory

    @staticmethod
    def from_average(
        tree: BoardTree, average: Array, threads: int = 1, root_average: Array | None = None
    ) -> CpuBoardEngine:
        """Create an engine that evaluates and responds to a table of averages, without a copy.

        `root_average` is the gadget's table.
        """
        engine = CpuBoardEngine(
            tree, format_of_average(average.dtype), tables_from_average(tree, average), threads=threads
        )
        if root_average is not None:
            engine.write("root_average", root_average)
        return engine

    # --- tables -----------------------------------------------------------------------------

    def read(self, name: str) -> Array:
        """Return a table: the engine's own memory, not a copy."""
        self._check_table(name)
        table: Array = self.root.read(name) if name in self.root.table_names else getattr(self._tables, name)
        return table

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Write numbers into a table from index `start` on."""
        table = self.read(name)[start : start + len(numbers)]
        if table.shape != numbers.shape:
            raise InputError(f"{self.tree.name}: {numbers.shape} numbers do not fit into table {name!r} at {start}")
        table[:] = numbers

    def average_strategy(self, board: int, node: int) -> Array:
        """Return the average strategy, with locks, at a decision. float64 [actions, rows]"""
        at, width, rows = table_block(self.tree, board, node)
        weights = np.asarray(decode_codes(self._tables.average[at : at + width * rows]), float).reshape(width, rows)
        index, locked = self._tables.lock, self._tables.locked
        here = (index[:, 0] == board) & (index[:, 1] == node)
        for _, _, start in index[here]:  # also where the player's reach is zero
            lock_strategy = np.asarray(locked[start : start + weights.size], float).reshape(weights.shape)
            weights = np.where(lock_strategy >= 0, lock_strategy, weights)
        total = weights.sum(axis=0)
        return np.where(total > 1e-30, weights / np.where(total > 1e-30, total, 1.0), 1.0 / width)

    # --- traversals -------------------------------------------------------------------------

    def _run_kernel(self, thread: int, team: kernels.TeamMemory, number: int = 0, subtree: Array = FROM_ROOT) -> None:
        """Run the kernel with the vectors of `thread`, as thread `number` of its team.

        Number 0 runs the call in `team` once; the others wait for calls.
        """
        t, workspace = self.tree, self._workspace
        threads = 1 if subtree is not FROM_ROOT else self.threads
        self.kernels.traverse(
            self._forest, t.seats, t.boards, self._parents, self._root_reach, self.root.state, self._stride, self._tables,
            self._blocks, self._units, workspace.vectors[thread], team, number, threads, subtree,
        )  # fmt: skip

    def _run(
        self, steps: Array, mode: int, players: tuple[int, int], thread: int = 0, subtree: Array = FROM_ROOT
    ) -> None:
        """Run the kernel for some iterations: from the root on all threads of the engine, or on one in a subtree.

        `mode`: UPDATE, EVALUATE or BEST_RESPONSE; `players`: first, end; `thread`: index of the vectors to use if there is
        only one; `subtree`: board, street and node, or -1 each. Calls share memory, so the caller holds the lock until it
        has read the values.
        """
        memory = self._workspace.team_memory(thread)
        for low in range(0, max(len(steps), 1), kernels.MAX_STEPS):
            part = steps[low : low + kernels.MAX_STEPS]
            memory.call[:] = len(part), mode, *players
            memory.steps[: len(part)] = part
            if self.threads == 1 or subtree is not FROM_ROOT:
                self._run_kernel(thread, memory, subtree=subtree)
            else:
                if self._team is None or self._team.state is not memory.state:
                    self._team = KernelTeam(self.threads, memory.state)
                self._team.run(lambda thread: self._run_kernel(thread, memory, thread))

    def iterate(self, steps: Array, start: SubtreeStart | None = None, *, thread: int = 0) -> None:
        """Run iterations with alternating updates, or with simultaneous ones if the engine was created so.

        `thread`: index of the vectors to use, if several engines share a workspace.
        """
        simultaneous = self._tables.opp_regret is not self._tables.regret
        with self._lock:
            for part in (steps[i : i + 1] for i in range(len(steps))) if simultaneous else (steps,):
                self._copy_opponent_tables()
                self._root_reach = self.root.weights
                subtree = FROM_ROOT if start is None else self._set_start_reach(start, (0, 1), thread)[0]
                self._run(part, UPDATE, (0, 2), thread, subtree)

    def _copy_opponent_tables(self) -> None:
        """Copy the tables to those that the opponent plays from, before an iteration with simultaneous updates."""
        tables = self._tables
        if tables.opp_regret is not tables.regret:
            self.root.copy_opponent_tables()
            tables.opp_regret[:] = tables.regret
            tables.opp_prediction[:] = tables.prediction

    def iterate_tied(self, steps: Array, ties: TiedRows) -> None:
        """Run iterations of a card abstraction: after a player's traversal, rows of a bucket get their mean."""
        tables = self._tables
        for step in steps:
            self._copy_opponent_tables()
            self._root_reach = self.root.weights
            unfloored = step[None].copy()
            unfloored[0, 2] = -np.inf
            for me in (0, 1):
                self._run(unfloored, UPDATE, (me, me + 1))
                ties.average_rows(self._workspace, tables.regret, me, step[2], int(step[4]))
                if len(tables.prediction):
                    ties.average_rows(self._workspace, tables.prediction, me, rounding_step=int(step[4]))

    def tied_averages(self, ties: TiedRows, turn: int) -> Array:
        """Return a copy of the averages in which all rows of a bucket have the bucket's average.

        `turn`: iteration, which determines the dithered rounding of 16-bit tables.
        """
        table = self._tables.average.copy()
        for me in (0, 1):
            ties.average_rows(self._workspace, table, me, rounding_step=turn)
        return table

    def compile(self) -> None:
        """Compile the kernels, or load them from the cache."""
        memory = self._workspace.team_memory(0)
        memory.call[:] = 0
        self._run_kernel(0, memory)

    def street_values(
        self, players: tuple[int, ...] = (0, 1), start: SubtreeStart | None = None, *, best_response: bool = False
    ) -> list[Array]:
        """Return the values of players' rows at each node of a street, from the root or from `start` on.

        float64 [nodes, rows] each. Values are sums over the opponent's hands, each times its weight and its probability to
        reach the node. With `best_response` the players play best responses from the node on: these are counterfactual
        best-response values, not divided by the opponent's reach.
        """
        first = 0 if start is None else start.node
        nodes = range(first, int(self.tree.forest.end[first]))
        return self._node_values(players, nodes, start, respond=best_response)

    def expected_value(self, player: int, *, respond: bool = False) -> float:
        """Return the expected value of a player at the root, in chips."""
        return self._root_values((player,), respond=respond)[0]

    def expected_values(self, *, respond: bool = False, thread: int = 0) -> tuple[float, float]:
        """Return the expected values of both players at the root, in chips.

        `thread`: index of the vectors to use, if several engines share a workspace.
        """
        first, second = self._root_values((0, 1), respond=respond, thread=thread)
        return first, second

    def _root_values(self, players: tuple[int, ...], *, respond: bool, thread: int = 0) -> list[float]:
        """Return players' expected values at the root, in chips."""
        values = self._node_values(players, (0,), None, respond=respond, thread=thread)
        return [self.root.expected_value(me, v[0], respond=respond) for me, v in zip(players, values, strict=True)]

    def _values_at(self, player: int, start: SubtreeStart | None, *, respond: bool) -> Array:
        """Return the values at a node and after each action there, in chips."""
        node = 0 if start is None else start.node
        return self._node_values((player,), (node, *child_nodes(self.tree.forest, node)), start, respond=respond)[0]

    def _node_values(
        self,
        players: tuple[int, ...],
        nodes: Sequence[int],
        start: SubtreeStart | None,
        *,
        respond: bool,
        thread: int = 0,
    ) -> list[Array]:
        """Return the values of players' rows at nodes on the board where a traversal starts. float64 [nodes, rows] each"""
        mode, subtree = BEST_RESPONSE if respond else EVALUATE, FROM_ROOT
        with self._lock:
            if start is None:  # a player's traversal reads the reach of its opponent
                (first, unit_1), (second, unit_0) = self.root.normalized_reach(0), self.root.normalized_reach(1)
                self._root_reach, units = (first[0], second[1]), (unit_0, unit_1)
            elif start.board == start.node == 0:  # all threads of the engine can help
                self._root_reach, units = _normalize(start.reach)
            else:
                subtree, units = self._set_start_reach(start, players, thread)
            self._run(ZERO_STEP, mode, (players[0], players[-1] + 1), thread, subtree)
            board = 0 if start is None else start.board
            return [
                np.array([self._read_values(me, board, node, thread) for node in nodes]) * (units[me] / self.scale)
                for me in players
            ]

    def _read_values(self, me: int, board: int, node: int, thread: int) -> Array:
        """Return the values of the last traversal at a node, in internal units. float64 [rows]"""
        at, rows = int(self.tree.seats[me].value[node]), int(self.tree.boards.rows[board, me])
        values: Array = self._workspace.vectors[thread][me].value[at : at + rows].astype(float)
        return values

    def _set_start_reach(
        self, start: SubtreeStart, players: tuple[int, ...], thread: int
    ) -> tuple[Array, tuple[float, float]]:
        """Write both players' normalized reach at the start of a subtree to the vectors of `players`.

        Returns the subtree for the kernel (board, street, node), and the unit of each player's values.
        """
        tree, (reach, units) = self.tree, _normalize(start.reach)
        for me in players:
            vectors, seat = self._workspace.vectors[thread][me], tree.seats[me]
            vectors.opp[:] = 0
            vectors.own[:] = 0
            own, opp = int(seat.own[start.node]), int(seat.opp[start.node])
            vectors.own[own : own + len(reach[me])] = reach[me]
            vectors.opp[opp : opp + len(reach[1 - me])] = reach[1 - me]
        return np.array([start.board, tree.street_of(start.board), start.node]), units


def _normalize(reach: tuple[Array, Array]) -> tuple[tuple[Array, Array], tuple[float, float]]:
    """Return both players' reach divided by its maximum, and the maximum of each player's opponent."""
    first, second = (max(float(r.max(initial=0.0)), 1e-300) for r in reach)
    return (reach[0] / first, reach[1] / second), (second, first)


def _order_units(tree: BoardTree, blocks: Array, threads: int) -> Array:
    """Return the threads' units of work, the most costly first. int64 [units, 2]: block; batch, or ALL_BATCHES

    Blocks are whole, so that batches share the data of their boards, except for the least costly ones.
    """
    if tree.streets == 1:
        return np.zeros((0, 2), np.int64)
    forest, boards = tree.forest, tree.boards
    batches = np.arange(forest.batch_at[1], forest.batch_at[2] + 1)
    count, rows, nodes = len(blocks) - 1, boards.rows.sum(axis=1), forest.batch[:, 1] - forest.batch[:, 0]
    rows_before, nodes_before = (np.concatenate([[0], np.cumsum(sizes, dtype=float)]) for sizes in (rows, nodes))
    cost, end_boards, end_batches = np.zeros((count, len(batches) - 1)), blocks, batches
    for street in range(1, tree.streets):
        cost += np.outer(np.diff(rows_before[end_boards]), np.diff(nodes_before[end_batches]))
        if street < tree.streets - 1:
            end_boards, end_batches = boards.child[end_boards], forest.child_at[end_batches]
    order = np.argsort(-cost.sum(axis=1), kind="stable")
    whole = order[: max(count - SPLIT_BLOCKS * threads, 0)]
    units = [(cost[block].sum(), block, kernels.ALL_BATCHES) for block in whole]
    units += [(cost[block, k], block, batch) for block in order[len(whole) :] for k, batch in enumerate(batches[:-1])]
    return np.array([unit[1:] for unit in sorted(units, key=lambda unit: -unit[0])], np.int64).reshape(-1, 2)


# --- batches of subgames with one betting tree and different boards, ranges and gadgets ------------------

T = TypeVar("T")


def trees_of_one_shape(
    games: Sequence[BoardGame], shape_factory: Callable[[BoardGame, int], BettingShape] | None = None
) -> list[BoardTree]:
    """Build the trees of games with the same betting, which share the shape of the first. The betting is not checked.

    `shape_factory` returns the shape of a game for a number of hands, for example from a cache.
    """
    if not games:
        return []
    hands = max(int(np.count_nonzero(w)) for game in games for w in game.weights)
    shape = (shape_factory or shape_for_game)(games[0], hands)
    return [BoardTree(game, shape) for game in games]


def shape_for_game(game: BoardGame, hands: int) -> BettingShape:
    """Return the shape of a game's betting for boards with at most `hands` hands of a player."""
    return make_shape(game.betting, len(game.deals) + 1, hands)


class CpuBatchEngine:
    """Engines for trees of one shape (`trees_of_one_shape`), one for each tree, with shared threads and workspace."""

    def __init__(self, trees: Sequence[BoardTree], form: TableFormat, **options: Unpack[EngineOptions]) -> None:
        if not trees or any(tree.shape is not trees[0].shape for tree in trees):
            raise InputError("a batch needs at least one tree, all of one shape: make them with trees_of_one_shape")
        threads, memory, size = options.get("threads", 1), options.get("memory"), sum(tree.table_size for tree in trees)
        tables = {name: bool(options.get(name)) for name in ("predictive", "simultaneous")}
        required = table_bytes(size, form, **tables)
        check_table_memory(f"{len(trees)} subgames", required, memory, "; solve fewer at once")
        single = len(trees) == 1  # then the threads share its boards
        self.workspace = EngineWorkspace(trees[0], form.compute, 1 if single else threads)
        workspace = None if single and threads > 1 else self.workspace
        self.engines = [CpuBoardEngine(tree, form, workspace=workspace, **options) for tree in trees]

    def map_engines(self, task: Callable[[CpuBoardEngine, int], T], indices: Sequence[int] | None = None) -> list[T]:
        """Run a task for all engines, or for those with some indices, on all threads; return its results in this order.

        The task receives the engine and the index of the thread, whose vectors it may use.
        """
        selected = range(len(self.engines)) if indices is None else indices
        results: list[T | None] = [None] * len(selected)
        turns = count()

        def work(thread: int) -> None:
            while (turn := next(turns)) < len(selected):
                results[turn] = task(self.engines[selected[turn]], thread)

        self.workspace.team.run(work)
        return results  # type: ignore[return-value]

    def iterate(self, steps: Array, indices: Sequence[int] | None = None) -> None:
        """Run the same iterations in all subgames, or in some; `steps` as in `BoardEngine.iterate`."""
        self.map_engines(lambda engine, thread: engine.iterate(steps, thread=thread), indices)

    def expected_values(
        self, *, respond: bool = False, indices: Sequence[int] | None = None
    ) -> list[tuple[float, float]]:
        """Return both players' expected values in each subgame, in chips; with `respond`, of their best responses."""
        return self.map_engines(lambda engine, thread: engine.expected_values(respond=respond, thread=thread), indices)

    def adjust_gadgets(self, indices: Sequence[int]) -> None:
        """Adapt the gadgets with limits of some subgames, see `BoardEngine.adjust_gadget`."""
        for index in indices:
            self.engines[index].adjust_gadget()

    @property
    def roots(self) -> list[RootState]:
        """Roots of the subgames."""
        return [engine.root for engine in self.engines]

    @property
    def trees(self) -> list[BoardTree]:
        """Trees of the batch."""
        return [engine.tree for engine in self.engines]

    @property
    def constant_sums(self) -> list[float | None]:
        """Sum of both players' values in each subgame, see `CpuBoardEngine.constant_sum`."""
        return [engine.constant_sum for engine in self.engines]

    def averages(self) -> list[tuple[Array, Array | None]]:
        """Return the table of averages of each subgame, and that of its gadget or None."""
        return [
            (w.read("average"), w.read("root_average") if "root_average" in w.table_names else None)
            for w in self.engines
        ]
