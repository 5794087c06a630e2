"""`CudaBatch` and `CudaWalker`: the walks over board trees on a GPU, and the memory that they learn in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.engines.cpu.board_engine import NO_STEP, BoardWalker
from riverboat.engines.cpu.workspace import scale_of
from riverboat.engines.cuda._kernels.board import DeviceTables, Room
from riverboat.engines.cuda._kernels.node import EVALUATE, LEARN, RESPOND
from riverboat.engines.cuda.compilation import OWN_MEMORY, SIMULATED, compiled, cuda, prepare, threads_for, why_not
from riverboat.engines.cuda.layout import first_regrets, lay_out, of_games
from riverboat.engines.cuda.roots import DeviceRoots
from riverboat.engines.protocol import Start
from riverboat.engines.roots import Root
from riverboat.engines.tables import BEHIND, Format, format_of, table_bytes
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

BLOCKS = 400  # blocks that a device runs at a time, about: pieces of work are cut for them
FEW_OF = 16  # fewer than one of so many results are copied one by one
FEW = 3  # threads of a block in the simulator, where each is a thread of Python


class CudaBatch:
    """Trees of one number of streets, learning side by side on a device.

    What a tree learns does not depend on how many blocks the device runs. On its neighbours it depends only where it has
    several streets, and to rounding: by the work of all it is chosen how many boards are summed together.
    """

    def __init__(
        self,
        trees: Sequence[BoardTree],
        form: Format,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        threads: int | None = None,
        near: bool | None = None,
        learns: bool = True,
        stakes: float = 0.0,
    ) -> None:
        """`near`: whether vectors of the last street lie in a block's own memory; None: where they fit."""
        reason = why_not()
        if reason is not None:
            raise InputError(f"{trees[0].name}: no walk on a GPU: {reason}")
        self.trees, self.form, self.predictive, self.staked = tuple(trees), form, predictive, stakes != 0
        self.layout = layout = lay_out(trees, form.work, BLOCKS, stakes=stakes)
        self.scales = np.array([scale_of(tree.betting) for tree in trees])
        self.roots = [
            Root(tree, scale, predictive=predictive, apart=simultaneous)
            for tree, scale in zip(trees, self.scales, strict=True)
        ]
        size = np.dtype(form.work).itemsize
        _, most, whole = layout.memory(size)
        self.near = whole * size <= OWN_MEMORY if near is None else near
        self.memory = (whole if self.near else most) * size
        self.threads = threads or (FEW if SIMULATED else threads_for(layout.stride, self.memory, layout.streets == 1))
        size = int(layout.table[-1]) + BEHIND
        self._check_memory(table_bytes(size, form, predictive=predictive, apart=simultaneous))
        self._program, self._boards, self._items = (
            type(part)(*map(_upload, part)) for part in (layout.program, layout.boards, layout.items)
        )
        self._listed = layout.items
        self._chosen: tuple[int, ...] | None = None
        self.tables: Any = self._allocate(size, simultaneous) if learns else self._reading(size)
        self.gadgets = DeviceRoots(self.roots)
        sums, slots, _ = layout.memory(np.dtype(form.work).itemsize)
        sizes = [layout.streets, layout.stride, layout.hands, sums, layout.moves, slots, layout.slots]
        self._sizes, self._no_step, self._nothing = map(cuda.to_device, (np.array(sizes), NO_STEP, np.zeros((0, 6))))
        self._walked: tuple[bool, tuple[int, ...] | None] | None = None  # whose results are on the device still
        self._room: Any = self._make_room(1)
        self.blocks = self._resident()
        self._room = self._make_room(self.blocks)
        self._deal([root.weights for root in self.roots])

    # --- memory -----------------------------------------------------------------------------

    def _check_memory(self, need: int) -> None:
        free = free_bytes()
        if free is not None and need > free:
            raise MemoryLimitError(
                f"{self.trees[0].name}: the tables need {show_bytes(need)} and the device has {show_bytes(free)} free"
            )

    def _allocate(self, size: int, apart: bool) -> DeviceTables:
        form, guesses = self.form, size if self.predictive else 0
        regret, average, prediction = (
            _zeros(size, form.regret),
            _zeros(size, form.average),
            _zeros(guesses, form.regret),
        )
        for low, numbers in first_regrets(self.trees, self.layout, form):
            regret[low : low + len(numbers)].copy_to_device(numbers)
        seen = (_zeros(size, form.regret), _zeros(guesses, form.regret)) if apart else (regret, prediction)
        return DeviceTables(regret, average, prediction, *seen, _upload(self.layout.lock), _upload(self.layout.locked))

    def _reading(self, size: int) -> DeviceTables:
        """Tables of averages alone."""
        none = _zeros(0, self.form.regret)
        average = _zeros(size, self.form.average)
        return DeviceTables(none, average, none, none, none, _upload(self.layout.lock), _upload(self.layout.locked))

    def _make_room(self, blocks: int) -> Room:
        at, games = self.layout, len(self.trees)
        slots = 0 if self.near else blocks * at.slots
        sizes = (games * 2, games * 2, slots, at.inner, at.parts, 2 * games * (1 + at.moves))
        return Room(*(_zeros(count * at.stride, self.form.work) for count in sizes))

    def _resident(self) -> int:
        """How many blocks are at work on the device at the same time: they wait for each other, so no more may start."""
        if SIMULATED:
            return 1
        mode = LEARN if len(self.tables.regret) else RESPOND
        self._launch(NO_STEP[:0], mode, (0, 2), 1)  # compiles
        (made,) = self._kernel(mode).overloads.values()
        return int(made.max_cooperative_grid_blocks(self.threads, self.memory))

    def read(self, game: int, name: str) -> Array:
        """A table of a game, copied from the device."""
        low, high = self.layout.table[game : game + 2]
        cells: Array = getattr(self.tables, name)[low : high + BEHIND].copy_to_host()
        return cells

    def write(self, game: int, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        low, self._walked = int(self.layout.table[game]) + start, None
        getattr(self.tables, name)[low : low + len(numbers)].copy_to_device(np.ascontiguousarray(numbers))

    # --- walks ------------------------------------------------------------------------------

    def _deal(self, dealt: Sequence[tuple[Array, Array]]) -> None:
        """Set how hands come to the roots."""
        stride, games = self.layout.stride, len(self.trees)
        own, opp = (np.zeros((games, 2, stride), self.form.work) for _ in range(2))
        for g, both in enumerate(dealt):
            for p, weights in enumerate(both):
                own[g, p, : len(weights)] = 1
                opp[g, p, : len(weights)] = weights
        self._come(own, opp)

    def _come(self, own: Array, opp: Array) -> None:
        self._room.root_own.copy_to_device(own.ravel())
        self._room.root_opp.copy_to_device(opp.ravel())

    def _kernel(self, mode: int) -> Any:
        return compiled(
            self.form, mode, guesses=self.predictive, locked=len(self.layout.lock) > 0, gadget=self.gadgets.there,
            near=self.near, alone=self.layout.streets == 1, staked=self.staked,
        )  # fmt: skip

    def _launch(self, steps: Array, mode: int, players: tuple[int, int], blocks: int | None = None) -> None:
        counters = np.zeros(1 + 2 * max(len(steps), 1), np.int64)
        arguments = [
            self._program, self._boards, self._items, self._room, self.gadgets.arrays, self.tables, self._sizes,
            self._nothing, *players, cuda.to_device(counters),
        ]  # fmt: skip
        kernel = self._kernel(mode)
        prepare(kernel, tuple(arguments))
        if len(steps):
            arguments[7] = self._no_step if steps is NO_STEP else cuda.to_device(np.ascontiguousarray(steps))
        kernel[self.blocks if blocks is None else blocks, self.threads, 0, self.memory](*arguments)
        cuda.synchronize()

    def _among(self, games: Sequence[int] | None) -> None:
        """Walk these games from now on, or all."""
        chosen = None if games is None or len(games) == len(self.trees) else tuple(games)
        if chosen != self._chosen:
            whole = self.layout.items
            items = whole if chosen is None else of_games(whole, self.layout.boards.game, chosen)
            there = zip(items, self._listed, self._items, strict=True)  # nothing is sent that is there already
            self._items = type(items)(*(sent if np.array_equal(new, old) else _upload(new) for new, old, sent in there))
            self._listed, self._chosen = items, chosen

    def warm(self) -> None:
        """Compile what solving needs."""
        for mode in (LEARN, RESPOND):
            self._launch(NO_STEP[:0], mode, (0, 2))

    def learn(self, steps: Array, among: Sequence[int] | None = None) -> None:
        """The same iterations in all games, or in some."""
        self._among(among)
        self._walked = None
        apart = self.tables.opp_regret is not self.tables.regret
        for some in (steps[i : i + 1] for i in range(len(steps))) if apart else (steps,):
            if apart:
                self._copy_seen()
            self._launch(some, LEARN, (0, 2))
        self.gadgets.learnt()

    def _copy_seen(self) -> None:
        """Before an iteration in which both answer the same profile."""
        self.gadgets.copy_seen()
        self.tables.opp_regret.copy_to_device(self.tables.regret)
        if self.predictive:
            self.tables.opp_prediction.copy_to_device(self.tables.prediction)

    def _results(self, games: Sequence[int], player: int) -> Array:
        """Values at the roots of games and after each move there. float [games, 1 + moves, stride]"""
        one, count = (1 + self.layout.moves) * self.layout.stride, len(self.trees)
        result = self._room.result[player * count * one : (player + 1) * count * one]
        if len(games) * FEW_OF < count:
            flat: Array = np.concatenate([result[g * one : (g + 1) * one].copy_to_host() for g in games])
        else:
            flat = result.copy_to_host().reshape(-1, one)[games]
        return flat.reshape(len(games), 1 + self.layout.moves, self.layout.stride)

    def values(self, player: int, *, respond: bool = False, among: Sequence[int] | None = None) -> list[Array]:
        """For each game, or some, what each row of a player wins, and after each move at the root.

        float64 [1 + moves, rows]
        """
        some, results = self._look(player, respond, among)
        units = [self.roots[g].dealt(1 - player)[1] / self.scales[g] for g in some]
        return [
            values[: 1 + int(self.trees[g].forest.width[0]), : int(self.trees[g].rows[0, player])].astype(float) * unit
            for g, values, unit in zip(some, results, units, strict=True)
        ]

    def _look(self, player: int, respond: bool, among: Sequence[int] | None) -> tuple[list[int], Array]:
        """The games that are asked for, and their results."""
        self._among(among)
        self.gadgets.fetch()
        mode, asked = RESPOND if respond else EVALUATE, (respond, self._chosen)
        if self.gadgets.there:
            self._deal([root.dealt(1 - player)[0] for root in self.roots])
            self._launch(NO_STEP, mode, (player, player + 1))
            self._deal([root.weights for root in self.roots])
        elif self._walked != asked:  # hands come as they always do, so both players may be walked at once
            self._launch(NO_STEP, mode, (0, 2))
            self._walked = asked
        some = list(range(len(self.trees)) if among is None else among)
        return some, self._results(some, player)

    def earnings(self, player: int, *, respond: bool = False, among: Sequence[int] | None = None) -> list[float]:
        """What a player wins on average in each game, or in some, in chips."""
        if self.gadgets.there:
            some = range(len(self.trees)) if among is None else among
            values = self.values(player, respond=respond, among=among)
            return [self.roots[g].earnings(player, v[0], respond=respond) for g, v in zip(some, values, strict=True)]
        games, results = self._look(player, respond, among)
        chips = np.einsum("gr,gr->g", results[:, 0], self._worth[player][games])
        return [float(x) for x in chips]

    @cached_property
    def _worth(self) -> Array:
        """What a number of the device is in chips won on average, where no gadget deals. float64 [2, games, stride]"""
        worth = np.zeros((2, len(self.trees), self.layout.stride))
        for g, (tree, root) in enumerate(zip(self.trees, self.roots, strict=True)):
            for p in (0, 1):
                unit = root.dealt(1 - p)[1] / self.scales[g] / tree.total
                worth[p, g, : len(tree.weights[p])] = tree.weights[p] * tree.row_hands[p] * unit
        return worth

    @property
    def constants(self) -> list[float | None]:
        """For each game what both players earn together, see `CudaWalker.constant`."""
        return [root.constant for root in self.roots]

    def averages(self) -> list[tuple[Array, Array | None]]:
        """For each game the averages, and those of its gadget where there is one."""
        self.gadgets.fetch()
        table: Array = self.tables.average.copy_to_host()
        starts = self.layout.table
        return [
            (table[starts[g] : starts[g + 1] + BEHIND], root.read("root_average") if root.names else None)
            for g, root in enumerate(self.roots)
        ]


class CudaWalker:
    """A `Walker` on a device: a batch of one tree. What begins at a node is read by the processor, from a copy."""

    threads = 1

    def __init__(
        self,
        tree: BoardTree,
        form: Format,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        stakes: float = 0.0,
    ) -> None:
        self.tree, self.form = tree, form
        self.batch = CudaBatch([tree], form, predictive=predictive, simultaneous=simultaneous, stakes=stakes)
        self.root = self.batch.roots[0]
        self._copy: BoardWalker | None = None

    @staticmethod
    def reader(tree: BoardTree, average: Array, root: Array | None = None) -> CudaWalker:
        """A walker that evaluates and responds to a table of averages, of which it keeps a copy; `root` are the gadget's."""
        walker = CudaWalker.__new__(CudaWalker)
        walker.tree, walker.form = tree, format_of(average.dtype)
        walker.batch = CudaBatch([tree], walker.form, learns=False)
        walker.root, walker._copy = walker.batch.roots[0], None
        walker.batch.write(0, "average", np.asarray(average[: tree.table]))
        if root is not None and walker.root.gadget is not None:
            walker.root.read("root_average")[:] = root
        return walker

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are kept."""
        own = tuple(name for name in ("regret", "average", "prediction") if len(getattr(self.batch.tables, name)))
        return own + self.root.names

    def read(self, name: str) -> Array:
        """A table; those of the tree are copies."""
        if name not in self.names:
            raise InputError(f"{self.tree.name}: no table {name!r}; there are {', '.join(self.names)}")
        self.batch.gadgets.fetch()
        return self.root.read(name) if name in self.root.names else self.batch.read(0, name)

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        self._copy = None
        if name in self.root.names:
            self.batch.gadgets.fetch()
            self.root.read(name)[start : start + len(numbers)] = numbers
            self.batch.gadgets.send()
        else:
            self.batch.write(0, name, numbers, start)

    def learn(self, steps: Array, start: Start | None = None) -> None:
        """Iterations, both players in each."""
        if start is not None:
            raise InputError(f"{self.tree.name}: learning from a node is for the processor: take device='cpu'")
        self._copy = None
        self.batch.learn(steps)

    def warm(self) -> None:
        """Compile what solving needs."""
        self.batch.warm()

    @property
    def _reader(self) -> BoardWalker:
        if self._copy is None:
            root = self.read("root_average") if self.root.names else None
            self._copy = BoardWalker.reader(self.tree, self.read("average"), root=root)
        return self._copy

    def evaluate(self, player: int, start: Start | None = None) -> Array:
        """What each row of a player wins from a node on, and after each move there. float64 [1 + moves, rows]"""
        return self.batch.values(player)[0] if start is None else self._reader.evaluate(player, start)

    def respond(self, player: int, start: Start | None = None) -> Array:
        """The same when the player does the best that there is against the opponent's averages."""
        return self.batch.values(player, respond=True)[0] if start is None else self._reader.respond(player, start)

    def earnings(self, player: int, *, respond: bool = False, thread: int = 0) -> float:
        """What a player wins on average from the root, in chips."""
        return self.batch.earnings(player, respond=respond)[0]

    @property
    def constant(self) -> float | None:
        """What both players earn together, in chips; None where that depends on what they do."""
        return self.root.constant

    def margins(self) -> Array:
        """How much less than its stop pay-off or shift each hand gets by entering, at best. float64 [1326], NaN elsewhere"""
        if self.root.gadget is None:
            raise InputError(f"{self.tree.name}: nothing stands at the root, so there are no margins")
        return self.root.margins(self.respond(self.root.gadget.player)[0])

    def play(self, board: int, node: int) -> Array:
        """What the averages, and locks, play at a decision. float64 [moves, rows]"""
        return self._reader.play(board, node)


def free_bytes() -> int | None:
    """Memory that the device has free; None in the simulator."""
    return None if SIMULATED else int(cuda.current_context().get_memory_info().free)


def _upload(numbers: Array) -> Any:
    """An array on the device; an empty one still has a place."""
    if not len(numbers):
        return cuda.to_device(np.zeros(1, numbers.dtype))[:0]
    return cuda.to_device(np.ascontiguousarray(numbers))


def _zeros(count: int, dtype: Any) -> Any:
    """Zeros on the device."""
    array = cuda.device_array(max(count, 1), dtype)
    array[:] = 0
    return array[:count]
