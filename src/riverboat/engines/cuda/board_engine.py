"""`CudaBatchEngine` and `CudaBoardEngine`: traversals of board trees on a GPU, with their tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.engines.cpu._kernels.node import NO_GADGET, BoardTables
from riverboat.engines.cpu.board_engine import ZERO_STEP, CpuBoardEngine
from riverboat.engines.cpu.workspace import payoff_scale
from riverboat.engines.cuda._kernels.board import CudaWorkspace
from riverboat.engines.cuda._kernels.node import BEST_RESPONSE, EVALUATE, UPDATE
from riverboat.engines.cuda._kernels.root import CudaGadgets
from riverboat.engines.cuda.compilation import (
    MAX_SHARED_MEMORY,
    SIMULATED,
    compile_traversal,
    cuda,
    cuda_unavailable_reason,
    prepare_kernel,
    threads_per_block,
)
from riverboat.engines.cuda.layout import locked_regrets, make_layout, select_games
from riverboat.engines.protocol import BoardEngine, SubtreeStart
from riverboat.engines.roots import ADJUSTED_TABLES, RootState
from riverboat.engines.tables import TABLE_PADDING, TableFormat, format_of_average, table_bytes
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

# --- gadgets ------------------------------------------------------------------------------------------

DEVICE_GADGET_TABLES = ("regret", "average", "prediction", "opp_regret", "opp_prediction")
SET_ARRAYS = ("row", "share", "factor", "offset", "entry", "limit", "multiplier")  # one number for each set
MAX_ACTIONS = 3  # actions of a set, see `CudaGadgets`


class CudaRootStates:
    """Gadgets of many games on a GPU, with a copy on the processor that `download` updates after iterations."""

    def __init__(self, roots: Sequence[RootState]) -> None:
        self.roots = roots
        states = [root.state for root in roots]
        self.has_gadgets = any(state.kind != NO_GADGET for state in states)
        sets = np.array([len(state.row) for state in states], np.int32)
        self._at = np.concatenate([[0], np.cumsum(sets)])
        constants = {
            "kind": np.array([state.kind for state in states], np.int32),
            "player": np.array([state.player for state in states], np.int32),
            "at": self._at[:-1].astype(np.int64),
            "sets": sets,
        }
        constants |= {name: self._concatenate(name) for name in SET_ARRAYS}
        self._device_is_newer = False  # whether iterations have changed the tables on the device since the last copy
        self.simultaneous = any(state.opp_regret is not state.regret for state in states)
        tables = {name: cuda.to_device(self._flatten(name)) for name in DEVICE_GADGET_TABLES}
        if not self.simultaneous:
            tables |= {f"opp_{name}": tables[name] for name in ("regret", "prediction")}
        self.arrays: Any = CudaGadgets(**{name: cuda.to_device(x) for name, x in constants.items()}, **tables)

    def _flatten(self, name: str) -> Array:
        """Return one gadget table of all games, from the copy on the processor, as a flat array."""
        numbers = np.zeros(max(MAX_ACTIONS * int(self._at[-1]), 1))
        for g, root in enumerate(self.roots):
            own = getattr(root.state, name).ravel()
            start = MAX_ACTIONS * self._at[g]
            numbers[start : start + len(own)] = own
        return numbers

    def _concatenate(self, name: str) -> Array:
        """Return an array of all sets of all games, zero where a gadget lacks it; at least one number for the device."""
        numbers = np.zeros(max(int(self._at[-1]), 1), np.int32 if name == "row" else float)
        for g, root in enumerate(self.roots):
            own = getattr(root.state, name)
            numbers[self._at[g] : self._at[g] + len(own)] = own
        return numbers

    def mark_updated(self) -> None:
        """Mark the tables on the device as newer than the copy."""
        self._device_is_newer = self.has_gadgets

    def download(self) -> None:
        """Copy the tables to the processor if the device has newer ones."""
        if not self._device_is_newer:
            return
        for name in DEVICE_GADGET_TABLES if self.simultaneous else DEVICE_GADGET_TABLES[:3]:
            numbers = getattr(self.arrays, name).copy_to_host()
            for g, root in enumerate(self.roots):
                own = getattr(root.state, name)
                start = MAX_ACTIONS * self._at[g]
                own[:] = numbers[start : start + own.size].reshape(own.shape)
        self._device_is_newer = False

    def upload(self) -> None:
        """Copy the processor's tables to the device."""
        for name in DEVICE_GADGET_TABLES if self.simultaneous else DEVICE_GADGET_TABLES[:3]:
            getattr(self.arrays, name).copy_to_device(self._flatten(name))
        for name in ADJUSTED_TABLES:
            getattr(self.arrays, name).copy_to_device(self._concatenate(name))
        self._device_is_newer = False


TARGET_BLOCKS = 400  # approximate number of resident blocks, for which work items are sized
PARTIAL_COPY_FACTOR = 16  # if less than one in this many results is needed, they are copied one by one
SIMULATED_THREADS = 3  # threads of a block in the simulator, where each one is a Python thread


class CudaBatchEngine:
    """Engine for trees with one number of streets, in parallel on a device.

    The results of a tree do not depend on the number of resident blocks. They depend on the other trees only if there
    are several streets, and only by rounding: the total work determines how many boards are summed together.
    """

    def __init__(
        self,
        trees: Sequence[BoardTree],
        form: TableFormat,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        threads: int | None = None,
        shared_slots: bool | None = None,
        trainable: bool = True,
        stakes: float = 0.0,
    ) -> None:
        """Allocate tables on the device. `shared_slots`: use shared memory for the last street; None: if it fits."""
        reason = cuda_unavailable_reason()
        if reason is not None:
            raise InputError(f"{trees[0].name}: no CUDA engine: {reason}")
        self.trees, self.form, self.predictive, self.weighs_stakes = tuple(trees), form, predictive, stakes != 0
        self.layout = layout = make_layout(trees, form.compute, TARGET_BLOCKS, stakes=stakes)
        self.scales = np.array([payoff_scale(tree.betting) for tree in trees])
        self.roots = [
            RootState(tree, scale, predictive=predictive, simultaneous=simultaneous)
            for tree, scale in zip(trees, self.scales, strict=True)
        ]
        size = np.dtype(form.compute).itemsize
        _, shared_without_slots, shared_with_slots = layout.shared_memory(size)
        self.shared_slots = shared_with_slots * size <= MAX_SHARED_MEMORY if shared_slots is None else shared_slots
        self.memory = (shared_with_slots if self.shared_slots else shared_without_slots) * size
        self.threads = threads or (
            SIMULATED_THREADS if SIMULATED else threads_per_block(layout.stride, self.memory, layout.streets == 1)
        )
        size = int(layout.table[-1]) + TABLE_PADDING
        need = table_bytes(size, form, predictive=predictive, simultaneous=simultaneous)
        require_device_memory(f"{trees[0].name}: the tables", need)
        self._program, self._boards, self._items = (
            type(part)(*map(to_device, part)) for part in (layout.program, layout.boards, layout.items)
        )
        self._host_items = layout.items
        self._selected_games: tuple[int, ...] | None = None
        self.tables: Any = self._allocate(size, simultaneous, trainable)
        self.gadgets = CudaRootStates(self.roots)
        sums, slots, _ = layout.shared_memory(np.dtype(form.compute).itemsize)
        sizes = [layout.streets, layout.stride, layout.hands, sums, layout.moves, slots, layout.slots]
        self._sizes, self._zero_step, self._no_steps = map(
            cuda.to_device, (np.array(sizes), ZERO_STEP, np.zeros((0, 6)))
        )
        # The evaluation whose results are still on the device.
        self._evaluated: tuple[bool, tuple[int, ...] | None] | None = None
        self._workspace: Any = self._allocate_workspace(1)
        self.blocks = self._max_resident_blocks()
        self._workspace = self._allocate_workspace(self.blocks)
        self._set_root_reach([root.weights for root in self.roots])

    # --- memory -----------------------------------------------------------------------------

    def _allocate(self, size: int, apart: bool, trainable: bool) -> BoardTables:
        """Allocate tables of `size` entries; without `trainable` only averages.

        `apart`: with copies that the opponent plays from, for simultaneous updates.
        """
        form, trained = self.form, size if trainable else 0
        regret, average = _zeros(trained, form.regret), _zeros(size, form.average)
        prediction = _zeros(trained if self.predictive else 0, form.regret)
        for low, numbers in locked_regrets(self.trees, self.layout, form) if trainable else ():
            regret[low : low + len(numbers)].copy_to_device(numbers)
        opponent_tables = regret, prediction
        if apart:
            opponent_tables = _zeros(len(regret), form.regret), _zeros(len(prediction), form.regret)
        locks = to_device(self.layout.lock), to_device(self.layout.locked)
        return BoardTables(regret, average, prediction, *opponent_tables, *locks)

    def _allocate_workspace(self, blocks: int) -> CudaWorkspace:
        at, games = self.layout, len(self.trees)
        slots = 0 if self.shared_slots else blocks * at.slots
        sizes = (games * 2, games * 2, slots, at.inner, at.parts, 2 * games * (1 + at.moves))
        return CudaWorkspace(*(_zeros(count * at.stride, self.form.compute) for count in sizes))

    def _max_resident_blocks(self) -> int:
        """Return the most blocks that are resident at the same time.

        Blocks wait for each other, so no more may be launched.
        """
        if SIMULATED:
            return 1
        mode = UPDATE if len(self.tables.regret) else BEST_RESPONSE
        self._launch(ZERO_STEP[:0], mode, (0, 2), 1)  # compiles
        (compiled,) = self._kernel(mode).overloads.values()
        return int(compiled.max_cooperative_grid_blocks(self.threads, self.memory))

    def read(self, game: int, name: str) -> Array:
        """Return a table of a game, copied from the device."""
        low, high = self.layout.table[game : game + 2]
        cells: Array = getattr(self.tables, name)[low : high + TABLE_PADDING].copy_to_host()
        return cells

    def write(self, game: int, name: str, numbers: Array, start: int = 0) -> None:
        """Write numbers into a table of a game from index `start` on."""
        low, self._evaluated = int(self.layout.table[game]) + start, None
        getattr(self.tables, name)[low : low + len(numbers)].copy_to_device(np.ascontiguousarray(numbers))

    # --- traversals -------------------------------------------------------------------------

    def _set_root_reach(self, dealt: Sequence[tuple[Array, Array]]) -> None:
        """Set the reach at the roots: one for a player's own, and `dealt`, by game and seat, for opponents' values."""
        stride, games = self.layout.stride, len(self.trees)
        own, opp = (np.zeros((games, 2, stride), self.form.compute) for _ in range(2))
        for g, ranges in enumerate(dealt):
            for p, weights in enumerate(ranges):
                own[g, p, : len(weights)] = 1
                opp[g, p, : len(weights)] = weights
        self._workspace.root_own.copy_to_device(own.ravel())
        self._workspace.root_opp.copy_to_device(opp.ravel())

    def _kernel(self, mode: int) -> Any:
        one_street, locked = self.layout.streets == 1, len(self.layout.lock) > 0
        return compile_traversal(
            self.form, mode=mode, predictive=self.predictive, locked=locked, has_gadget=self.gadgets.has_gadgets,
            shared_slots=self.shared_slots, one_street=one_street, weighs_stakes=self.weighs_stakes,
        )  # fmt: skip

    def _launch(self, steps: Array, mode: int, players: tuple[int, int], blocks: int | None = None) -> None:
        counters = np.zeros(1 + 2 * max(len(steps), 1), np.int64)
        arguments = [
            self._program, self._boards, self._items, self._workspace, self.gadgets.arrays, self.tables, self._sizes,
            self._no_steps, *players, cuda.to_device(counters),
        ]  # fmt: skip
        kernel = self._kernel(mode)
        prepare_kernel(kernel, tuple(arguments))
        if len(steps):
            arguments[7] = self._zero_step if steps is ZERO_STEP else cuda.to_device(np.ascontiguousarray(steps))
        kernel[self.blocks if blocks is None else blocks, self.threads, 0, self.memory](*arguments)
        cuda.synchronize()

    def _select_games(self, games: Sequence[int] | None) -> None:
        """Restrict the next traversals to some games, or to all."""
        chosen = None if games is None or len(games) == len(self.trees) else tuple(games)
        if chosen != self._selected_games:
            all_items = self.layout.items
            items = all_items if chosen is None else select_games(all_items, self.layout.boards.game, chosen)
            arrays = zip(items, self._host_items, self._items, strict=True)  # only changed arrays are uploaded
            self._items = type(items)(
                *(sent if np.array_equal(new, old) else to_device(new) for new, old, sent in arrays)
            )
            self._host_items, self._selected_games = items, chosen

    def compile(self) -> None:
        """Compile the kernels for updates and best responses."""
        for mode in (UPDATE, BEST_RESPONSE):
            self._launch(ZERO_STEP[:0], mode, (0, 2))

    def iterate(self, steps: Array, indices: Sequence[int] | None = None) -> None:
        """Run the same iterations in all games, or in some; `steps` as in `BoardEngine.iterate`."""
        self._select_games(indices)
        self._evaluated = None
        simultaneous = self.tables.opp_regret is not self.tables.regret
        for launch_steps in (steps[i : i + 1] for i in range(len(steps))) if simultaneous else (steps,):
            for tables in (self.gadgets.arrays, self.tables) if simultaneous else ():
                tables.opp_regret.copy_to_device(tables.regret)
                if self.predictive:
                    tables.opp_prediction.copy_to_device(tables.prediction)
            self._launch(launch_steps, UPDATE, (0, 2))
        self.gadgets.mark_updated()

    def _download_values(self, games: Sequence[int], player: int) -> Array:
        """Copy the values at the roots of games and after each action there. float [games, 1 + actions, stride]"""
        game_size, count = (1 + self.layout.moves) * self.layout.stride, len(self.trees)
        result = self._workspace.result[player * count * game_size : (player + 1) * count * game_size]
        if len(games) * PARTIAL_COPY_FACTOR < count:
            flat: Array = np.concatenate([result[g * game_size : (g + 1) * game_size].copy_to_host() for g in games])
        else:
            flat = result.copy_to_host().reshape(-1, game_size)[games]
        return flat.reshape(len(games), 1 + self.layout.moves, self.layout.stride)

    def values(self, player: int, *, respond: bool = False, indices: Sequence[int] | None = None) -> list[Array]:
        """Return the values of a player's rows at the root of each game, or of some, and after each action there.

        float64 [1 + actions, rows]
        """
        games, results = self._evaluate(player, respond, indices)
        units = [self.roots[g].normalized_reach(1 - player)[1] / self.scales[g] for g in games]
        return [
            values[: 1 + int(self.trees[g].forest.width[0]), : int(self.trees[g].rows[0, player])].astype(float) * unit
            for g, values, unit in zip(games, results, units, strict=True)
        ]

    def _evaluate(self, player: int, respond: bool, among: Sequence[int] | None) -> tuple[list[int], Array]:
        """Evaluate average strategies, or best responses to them, in games `among`; return the games and their values.

        The traversal is skipped if its results are still on the device.
        """
        self._select_games(among)
        self.gadgets.download()
        mode, evaluation = BEST_RESPONSE if respond else EVALUATE, (respond, self._selected_games)
        if self.gadgets.has_gadgets:
            self._set_root_reach([root.normalized_reach(1 - player)[0] for root in self.roots])
            self._launch(ZERO_STEP, mode, (player, player + 1))
            self._set_root_reach([root.weights for root in self.roots])
        elif self._evaluated != evaluation:  # the root reach is fixed, so one launch evaluates both players
            self._launch(ZERO_STEP, mode, (0, 2))
            self._evaluated = evaluation
        games = list(range(len(self.trees)) if among is None else among)
        return games, self._download_values(games, player)

    def expected_values(
        self, *, respond: bool = False, indices: Sequence[int] | None = None
    ) -> list[tuple[float, float]]:
        """Return both players' expected values in some games, in chips; with `respond`, of their best responses.

        `indices`: games; all by default.
        """
        first, second = (self.player_values(player, respond, indices) for player in (0, 1))
        return list(zip(first, second, strict=True))

    def adjust_gadgets(self, indices: Sequence[int]) -> None:
        """Adapt the gadgets with limits of some games, see `BoardEngine.adjust_gadget`."""
        for player in (0, 1):
            games = [g for g in indices if self.roots[g].has_limits and self.roots[g].state.player == player]
            for g, values in zip(games, self.values(player, respond=True, indices=games) if games else (), strict=True):
                self.roots[g].adjust(values[0])
        self.gadgets.upload()

    def player_values(self, player: int, respond: bool, indices: Sequence[int] | None) -> list[float]:
        """Return one player's expected values; arguments are those of `expected_values`."""
        if self.gadgets.has_gadgets:
            selected = range(len(self.trees)) if indices is None else indices
            values = self.values(player, respond=respond, indices=indices)
            return [
                self.roots[g].expected_value(player, v[0], respond=respond)
                for g, v in zip(selected, values, strict=True)
            ]
        games, results = self._evaluate(player, respond, indices)
        chips = np.einsum("gr,gr->g", results[:, 0], self._chip_weights[player][games])
        return [float(x) for x in chips]

    @cached_property
    def _chip_weights(self) -> Array:
        """Factors from device results to expected values in chips, without gadgets. float64 [2, games, stride]"""
        weights = np.zeros((2, len(self.trees), self.layout.stride))
        for g, (tree, root) in enumerate(zip(self.trees, self.roots, strict=True)):
            for p in (0, 1):
                unit = root.normalized_reach(1 - p)[1] / self.scales[g] / tree.total
                weights[p, g, : len(tree.weights[p])] = tree.weights[p] * tree.hands_per_row[p] * unit
        return weights

    @property
    def constant_sums(self) -> list[float | None]:
        """Sum of both players' values in each game, see `CudaBoardEngine.constant_sum`."""
        return [root.constant_sum for root in self.roots]

    def averages(self) -> list[tuple[Array, Array | None]]:
        """Return the table of averages of each game, and that of its gadget or None."""
        self.gadgets.download()
        table: Array = self.tables.average.copy_to_host()
        starts = self.layout.table
        return [
            (table[starts[g] : starts[g + 1] + TABLE_PADDING], root.read("root_average") if root.table_names else None)
            for g, root in enumerate(self.roots)
        ]


class CudaBoardEngine(BoardEngine):
    """A `BoardEngine` on a device: a batch of one tree. Traversals that begin below the root run on the processor."""

    threads = 1

    def __init__(self, tree: BoardTree, form: TableFormat, **options: Any) -> None:
        """Allocate tables on the device; `options` are those of `CudaBatchEngine`."""
        self.tree, self.form = tree, form
        self.batch = CudaBatchEngine([tree], form, **options)
        self.root, self._tables = self.batch.roots[0], self.batch.tables
        self._cpu_copy: CpuBoardEngine | None = None

    @staticmethod
    def from_average(tree: BoardTree, average: Array, root_average: Array | None = None) -> CudaBoardEngine:
        """Create an engine that evaluates and responds to a copy of a table of averages.

        `root_average` is the gadget's table.
        """
        engine = CudaBoardEngine(tree, format_of_average(average.dtype), trainable=False)
        engine.batch.write(0, "average", np.asarray(average[: tree.table_size]))
        if root_average is not None and engine.root.gadget is not None:
            engine.root.read("root_average")[:] = root_average
        return engine

    def read(self, name: str) -> Array:
        """Return a table; those of the tree are copies."""
        self._check_table(name)
        self.batch.gadgets.download()
        return self.root.read(name) if name in self.root.table_names else self.batch.read(0, name)

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Write numbers into a table from index `start` on."""
        self._cpu_copy = None
        if name in self.root.table_names:
            self.batch.gadgets.download()
            self.root.read(name)[start : start + len(numbers)] = numbers
            self.batch.gadgets.upload()
        else:
            self.batch.write(0, name, numbers, start)

    def iterate(self, steps: Array, start: SubtreeStart | None = None) -> None:
        """Run iterations of both players."""
        if start is not None:
            raise InputError(f"{self.tree.name}: iterations from a node are not supported on a GPU: use device='cpu'")
        self._cpu_copy = None
        self.batch.iterate(steps)

    def adjust_gadget(self, caps: Array | None = None) -> None:
        """Adapt a gadget with limits to the average strategy so far, as `RootState.adjust` does."""
        super().adjust_gadget(caps)
        self._cpu_copy = None
        self.batch.gadgets.upload()

    def compile(self) -> None:
        """Compile the kernels for updates and best responses."""
        self.batch.compile()

    @property
    def _cpu_engine(self) -> CpuBoardEngine:
        """Engine on the processor with a copy of the averages."""
        if self._cpu_copy is None:
            root = self.read("root_average") if self.root.table_names else None
            self._cpu_copy = CpuBoardEngine.from_average(self.tree, self.read("average"), root_average=root)
        return self._cpu_copy

    def _values_at(self, player: int, start: SubtreeStart | None, *, respond: bool) -> Array:
        """Return the values at a node and after each action there, computed on the processor if below the root."""
        if start is not None:
            return self._cpu_engine._values_at(player, start, respond=respond)
        return self.batch.values(player, respond=respond)[0]

    def expected_value(self, player: int, *, respond: bool = False) -> float:
        """Return the expected value of a player at the root, in chips."""
        return self.batch.player_values(player, respond, None)[0]

    def expected_values(self, *, respond: bool = False) -> tuple[float, float]:
        """Return the expected values of both players at the root, in chips."""
        return self.batch.expected_values(respond=respond)[0]

    def average_strategy(self, board: int, node: int) -> Array:
        """Return the average strategy, with locks, at a decision. float64 [actions, rows]"""
        return self._cpu_engine.average_strategy(board, node)


def free_bytes() -> int | None:
    """Return the free memory of the device in bytes; None in the simulator."""
    return None if SIMULATED else int(cuda.current_context().get_memory_info().free)


def require_device_memory(what: str, need: int) -> None:
    """Raise MemoryLimitError if the device has too little free memory."""
    free = free_bytes()
    if free is not None and need > free:
        raise MemoryLimitError(f"{what} need {format_bytes(need)} and the device has {format_bytes(free)} free")


def to_device(numbers: Array) -> Any:
    """Copy an array to the device; an empty one gets memory as well."""
    if not numbers.size:
        return cuda.to_device(np.zeros((1,) * numbers.ndim, numbers.dtype))[(slice(0),) * numbers.ndim]
    return cuda.to_device(np.ascontiguousarray(numbers))


def _zeros(count: int, dtype: Any) -> Any:
    """Allocate zeros on the device."""
    array = cuda.device_array(max(count, 1), dtype)
    array[:] = 0
    return array[:count]
