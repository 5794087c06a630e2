"""`CudaBatch` and `CudaWalker`: the walks over board trees on a GPU, and the memory that they learn in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riverboat.errors import InputError, MemoryLimitError
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree
from riverboat.walks._cuda_kernels import Room, Tables
from riverboat.walks._cuda_node_kernels import EVALUATE, LEARN, RESPOND
from riverboat.walks._gadget_kernels import NONE, enter, learn_root
from riverboat.walks.board_walk import NO_STEP, BoardWalker
from riverboat.walks.cuda_code import SIMULATED, compiled, cuda, why_not
from riverboat.walks.cuda_layout import first_regrets, lay_out
from riverboat.walks.protocol import Start
from riverboat.walks.rooms import scale_of
from riverboat.walks.roots import Root
from riverboat.walks.tables import BEHIND, Format, table_bytes
from riverboat.words import show_bytes

BLOCKS = 400  # blocks that a device runs at a time, about: pieces of work are cut for them
LEAST_THREADS, MOST_THREADS = 64, 320  # of a block
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
    ) -> None:
        reason = why_not()
        if reason is not None:
            raise InputError(f"{trees[0].name}: no walk on a GPU: {reason}")
        self.trees, self.form, self.predictive = tuple(trees), form, predictive
        self.layout = layout = lay_out(trees, form.work, BLOCKS)
        self.scales = np.array([scale_of(tree.betting) for tree in trees])
        self.roots = [
            Root(tree, scale, predictive=predictive, apart=simultaneous)
            for tree, scale in zip(trees, self.scales, strict=True)
        ]
        half = int(np.clip(layout.stride // 2 // 32 * 32, LEAST_THREADS, MOST_THREADS))
        self.threads = threads or (FEW if SIMULATED else half)
        size = int(layout.table[-1]) + BEHIND
        self._check_memory(table_bytes(size, form, predictive=predictive, apart=simultaneous))
        self._nodes, self._boards, self._items = (
            type(part)(*map(_upload, part)) for part in (layout.nodes, layout.boards, layout.items)
        )
        self.tables: Any = self._allocate(size, simultaneous)
        self._barrier = cuda.to_device(np.zeros(1, np.int64))
        self._room: Any = self._make_room(1)
        self.blocks = self._resident()
        self._room = self._make_room(self.blocks)
        self._deal([root.weights for root in self.roots])

    # --- memory -----------------------------------------------------------------------------

    def _check_memory(self, need: int) -> None:
        if SIMULATED:
            return
        free = int(cuda.current_context().get_memory_info().free)
        if need > free:
            raise MemoryLimitError(
                f"{self.trees[0].name}: the tables need {show_bytes(need)} and the device has {show_bytes(free)} free"
            )

    def _allocate(self, size: int, apart: bool) -> Tables:
        form, guesses = self.form, size if self.predictive else 0
        regret, average, prediction = (
            _zeros(size, form.regret),
            _zeros(size, form.average),
            _zeros(guesses, form.regret),
        )
        for low, numbers in first_regrets(self.trees, self.layout, form):
            regret[low : low + len(numbers)].copy_to_device(numbers)
        seen = (_zeros(size, form.regret), _zeros(guesses, form.regret)) if apart else (regret, prediction)
        return Tables(regret, average, prediction, *seen, _upload(self.layout.lock), _upload(self.layout.locked))

    def _make_room(self, blocks: int) -> Room:
        at, games = self.layout, len(self.trees)
        sizes = (
            games * 2, games * 2, blocks * 2 * at.vectors, blocks * at.values, at.inner, at.exits, at.exits, at.exits,
            len(at.items.last) // 5 if at.streets > 1 else 0, games * (1 + at.moves),
        )  # fmt: skip
        return Room(*(_zeros(count * at.stride, self.form.work) for count in sizes))

    def _resident(self) -> int:
        """How many blocks are at work on the device at the same time: they wait for each other, so no more may start."""
        if SIMULATED:
            return 1
        self._launch(NO_STEP[:0], LEARN, (0, 2), 1)  # compiles
        (made,) = self._kernel(LEARN).overloads.values()
        return int(made.max_cooperative_grid_blocks(self.threads))

    def read(self, game: int, name: str) -> Array:
        """A table of a game, copied from the device."""
        low, high = self.layout.table[game : game + 2]
        cells: Array = getattr(self.tables, name)[low : high + BEHIND].copy_to_host()
        return cells

    def write(self, game: int, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        low = int(self.layout.table[game]) + start
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
        return compiled(self.form, mode, self.predictive, len(self.layout.lock) > 0)

    def _launch(self, steps: Array, mode: int, players: tuple[int, int], blocks: int | None = None) -> None:
        at = self.layout
        sizes = np.array([at.streets, at.stride, at.vectors, at.values, at.moves])
        self._barrier.copy_to_device(np.zeros(1, np.int64))
        self._kernel(mode)[self.blocks if blocks is None else blocks, self.threads](
            self._nodes, self._boards, self._items, self._room, self.tables, cuda.to_device(sizes),
            cuda.to_device(np.ascontiguousarray(steps).reshape(-1, 6)), *players, self._barrier,
        )  # fmt: skip
        cuda.synchronize()

    def warm(self) -> None:
        """Compile what solving needs."""
        for mode in (LEARN, RESPOND):
            self._launch(NO_STEP[:0], mode, (0, 2))

    def learn(self, steps: Array) -> None:
        """The same iterations in all games."""
        apart = self.tables.opp_regret is not self.tables.regret
        gadgets = any(root.state.kind != NONE for root in self.roots)
        if not (apart or gadgets):
            self._launch(steps, LEARN, (0, 2))
            return
        for i in range(len(steps)):
            if apart:
                self._copy_seen()
            if gadgets:
                for me in (0, 1):
                    self._learn_behind_gadgets(steps[i], me)
            else:
                self._launch(steps[i : i + 1], LEARN, (0, 2))
        if gadgets:
            self._deal([root.weights for root in self.roots])

    def _copy_seen(self) -> None:
        """Before an iteration in which both answer the same profile."""
        for root in self.roots:
            root.copy_seen()
        self.tables.opp_regret.copy_to_device(self.tables.regret)
        if self.predictive:
            self.tables.opp_prediction.copy_to_device(self.tables.prediction)

    def _learn_behind_gadgets(self, step: Array, me: int) -> None:
        """A walk for one player; the choices at the roots are made and learnt by the processor."""
        stride = self.layout.stride
        own, opp = (np.zeros((len(self.trees), 2, stride), self.form.work) for _ in range(2))
        for g, (tree, root) in enumerate(zip(self.trees, self.roots, strict=True)):
            own[g, me, : tree.rows[0, me]] = 1
            opp[g, 1 - me, : tree.rows[0, 1 - me]] = root.weights[1 - me]
            if root.state.kind != NONE:
                rows = int(tree.rows[0, root.state.player])
                enter(root.state, me, rows, float(step[4]), own[g, me], opp[g, 1 - me])
        self._come(own, opp)
        self._launch(step, LEARN, (me, me + 1))
        values = self._result()
        for g, root in enumerate(self.roots):
            if root.state.kind != NONE and me == root.state.player:
                learn_root(root.state, step, np.ascontiguousarray(values[g, 0]), 0)

    def _result(self) -> Array:
        """Values at the roots and after each move there. float [games, 1 + moves, stride]"""
        flat: Array = self._room.result.copy_to_host()
        return flat.reshape(len(self.trees), 1 + self.layout.moves, self.layout.stride)

    def values(self, player: int, *, respond: bool = False) -> list[Array]:
        """For each game what each row of a player wins, and after each move at the root. float64 [1 + moves, rows]"""
        dealt = [root.dealt(1 - player) for root in self.roots]
        self._deal([weights for weights, _ in dealt])
        self._launch(NO_STEP, RESPOND if respond else EVALUATE, (player, player + 1))
        result = self._result()
        self._deal([root.weights for root in self.roots])
        each = []
        for g, tree in enumerate(self.trees):
            moves, rows = int(tree.forest.width[0]), int(tree.rows[0, player])
            each.append(result[g, : 1 + moves, :rows].astype(float) * (dealt[g][1] / self.scales[g]))
        return each

    def earnings(self, player: int, *, respond: bool = False) -> list[float]:
        """What a player wins on average in each game, in chips."""
        values = self.values(player, respond=respond)
        return [root.earnings(player, v[0], respond=respond) for root, v in zip(self.roots, values, strict=True)]


class CudaWalker:
    """A `Walker` on a device: a batch of one tree. What begins at a node is read by the processor, from a copy."""

    threads = 1

    def __init__(self, tree: BoardTree, form: Format, *, predictive: bool = False, simultaneous: bool = False) -> None:
        self.tree, self.form = tree, form
        self.batch = CudaBatch([tree], form, predictive=predictive, simultaneous=simultaneous)
        self.root = self.batch.roots[0]
        self._copy: BoardWalker | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are kept."""
        own = tuple(name for name in ("regret", "average", "prediction") if len(getattr(self.batch.tables, name)))
        return own + self.root.names

    def read(self, name: str) -> Array:
        """A table; those of the tree are copies."""
        if name not in self.names:
            raise InputError(f"{self.tree.name}: no table {name!r}; there are {', '.join(self.names)}")
        return self.root.read(name) if name in self.root.names else self.batch.read(0, name)

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        self._copy = None
        if name in self.root.names:
            self.root.read(name)[start : start + len(numbers)] = numbers
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
            root = self.root.read("root_average") if self.root.names else None
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
