"""Public chance sampling (Johanson et al. 2012) over buckets on a GPU: all hands of a batch of boards at once.

    trainer = BlueprintTrainer(tree, cards, "pcs", device="cuda", seed=1, weighting="linear")
    trainer.step(10_000)                 # boards

CPU threads deal boards, rank their hands and look up their buckets. The device traverses the betting of all boards of a
batch with the strategy of its start, and updates the tables with their sum. Tables are those of `BucketTables`: the
device has a copy, which is fetched on demand, so runs can continue with `pcs` on the CPU and back.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from math import comb
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.engines.cuda._kernels import public_chance as device_kernels
from riverboat.engines.cuda._kernels.public_chance import CARDS, FIELDS, MAX_RUN, PLAN
from riverboat.engines.cuda.board_engine import free_bytes, to_device
from riverboat.engines.cuda.compilation import SIMULATED, compile_kernels, cuda
from riverboat.engines.cuda.vector_plan import StreetPlan, VectorPlan, vector_plan
from riverboat.engines.sampling._kernels import public_chance as deal_kernels
from riverboat.engines.threads import ThreadTeam
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.cuda_trainer import CudaTraverser, launch_grid
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, deal_range
from riverboat.solvers.mccfr.traversers import board_workspace, deck_hands

THREADS = 3 if SIMULATED else 128  # threads of a block
PACK = LOOKUP_BLOCK  # boards that are dealt and copied together
REGISTERS = 64  # registers of a thread of the kernel `column_values`
MIN_COLUMNS = 100_000  # columns (see `vector_plan`) of a batch of boards that occupy a device
MEMORY_SHARE = 0.8  # usable share of the free memory
MAX_BUCKETS = 1 << 32 - device_kernels.BUCKET  # a packed hand has 32 bits, its bucket begins at bit BUCKET


KERNELS = "sequence_probabilities", "update_tables", "street_reach", "column_values", "gather_values"


@cache
def compile_public_chance_kernels() -> SimpleNamespace:
    """Compile the kernels of public chance sampling."""
    names = {**vars(device_kernels), "FLOAT": from_dtype(np.dtype(np.float32))}
    return compile_kernels(names, KERNELS, column_values={} if SIMULATED else {"max_registers": REGISTERS})


class PackedBoards(NamedTuple):
    """The hands of some boards as the device reads them: views of one array.

    `engines.cuda._kernels.public_chance` describes the format.
    """

    seen: Array  # uint32 [streets one after the other: boards · live]: packed hands in the order of a board
    by_bucket: Array  # int32 [same]: positions of the hands in that order, grouped by bucket
    run: Array  # int32 [streets: boards · runs · 3]: first entry of by_bucket, number of hands, bucket


class _BoardPack(NamedTuple):
    """A pack of boards in host memory."""

    all: Array  # uint32
    dealt: PackedBoards
    thread_arrays: list[deal_kernels.PackedBoardArrays]  # the same arrays with scratch memory, one per thread
    copied: Any  # CUDA event: copied to the device


class CudaPublicChanceTraverser(CudaTraverser):
    """Public chance sampling on a GPU, with boards that CPU threads deal.

    `batch` boards are traversed between two updates of the tables; `pack` boards are dealt and copied at a time.
    """

    traversal = "pcs"

    def __init__(
        self, tree: ActionTree, cards: CardAbstraction, *, threads: int = 1, batch: int | None = None, pack: int = PACK
    ) -> None:
        super().__init__(tree, cards)
        if pack < 1 or LOOKUP_BLOCK % pack or (batch is not None and (batch < 1 or pack % batch)):
            raise InputError(
                f"batch={batch}, pack={pack}: boards per update and boards dealt at a time; batch must divide pack, and pack "
                f"{LOOKUP_BLOCK}, so that no step ends inside a batch"
            )
        if max(cards.counts) > MAX_BUCKETS:
            raise InputError(
                f"{cards.name}: {max(cards.counts):,} buckets on a street, a GPU supports at most {MAX_BUCKETS:,}"
            )
        self._pending: tuple[int, int, int] | None = None  # seed, first and last board that are being dealt
        self._futures: list[Future[None]] = []
        self.team, self._look = ThreadTeam(threads), cards.lookup
        self._board_workspaces = [board_workspace(tree) for _ in range(threads)]
        self.hands, self.pack = deck_hands(tree), pack
        count, k = len(tree.rules.deck.cards), device_kernels
        live = np.array([comb(count - int(n), tree.rules.hole) for n in self.hands.shown], np.int64)
        plan = vector_plan(tree, self.hands.pair, live)
        self.decisions = int(sum(n * np.sum((tree.actor >= 0) & (tree.street == s)) for s, n in enumerate(live)))
        self.sizes = sizes = np.zeros((len(live), FIELDS), np.int64)
        buckets = np.array(cards.counts[: len(live)])
        sizes[:, k.LIVE], sizes[:, k.BUCKETS] = live, buckets
        sizes[:, k.UNITS] = [len(street.kind) for street in plan.streets]
        sizes[:, k.SEQUENCES], sizes[:, k.SLOTS] = plan.sequences, plan.slots
        sizes[:, k.WIDTH], sizes[:, k.BASE] = self._host.width, self._host.base
        sizes[:, k.RUNS] = np.minimum(live, np.minimum(buckets, live) + live // MAX_RUN)
        if batch is None:  # as few boards as occupy the device, so that updates are frequent
            batch = 1
            while batch < pack and batch * len(plan.columns.unit) < MIN_COLUMNS:
                batch *= 2
        self.boards = self._fit_boards(min(batch, pack))  # boards that are traversed between two updates
        self._allocate(plan)

    # --- memory -----------------------------------------------------------------------------

    def _sizes_for(self, boards: int) -> tuple[Array, Array, Array, Array]:
        """Return array sizes by street: buckets × units, buckets × sequences, hands × units, hands × slots."""
        k = device_kernels
        live, units, buckets = (self.sizes[:, field] for field in (k.LIVE, k.UNITS, k.BUCKETS))
        hands = boards * live
        return buckets * units, buckets * self.sizes[:, k.SEQUENCES], hands * units, hands * self.sizes[:, k.SLOTS]

    def _bytes_for(self, boards: int) -> int:
        units, sequences, reach, met = (int(part.sum()) for part in self._sizes_for(boards))
        return 4 * (units + 2 * sequences + 2 * reach + met) + self._host.nbytes

    def _fit_boards(self, boards: int) -> int:
        """Reduce the requested boards to those that fit in memory."""
        free = free_bytes()
        while free is not None and boards > 1 and self._bytes_for(boards) > MEMORY_SHARE * free:
            boards //= 2
        if free is not None and self._bytes_for(boards) > MEMORY_SHARE * free:
            raise MemoryLimitError(
                f"{self.tree.rules.name}: tables and one board need {format_bytes(self._bytes_for(1))}, but the device has "
                f"{format_bytes(free)} free: use device='cpu'"
            )
        return boards

    def _allocate(self, plan: VectorPlan) -> None:
        k, sizes = device_kernels, self.sizes
        units, sequences, reach, met = self._sizes_for(self.boards)
        names = [name for name in StreetPlan._fields if name != "pay"]
        parts = [getattr(street, name) for street in plan.streets for name in names]
        sizes[:, PLAN : PLAN + len(names)] = _starts([len(part) for part in parts]).reshape(len(sizes), -1)
        sizes[:, k.PAY] = _starts([len(street.pay) for street in plan.streets])
        sizes[:, k.TABLE] = _starts(units)
        for field, numbers, before in (
            (k.WEIGHT, sequences, 0),
            (k.GAINED, sequences, sequences.sum()),
            (k.HELD, units, 2 * sequences.sum()),
            (k.REACH, reach, 0),
            (k.VALUE, reach, reach.sum()),
            (k.MET, met, 2 * reach.sum()),
        ):
            sizes[:, field] = before + _starts(numbers)
        self._allocate_packs()
        self._stream, self.kernels = cuda.stream(), compile_public_chance_kernels()
        self._plan, self._columns = to_device(np.concatenate(parts)), to_device(np.array(plan.columns))
        self._pays, self._sizes = to_device(np.concatenate([street.pay for street in plan.streets])), to_device(sizes)
        self._table, self._reach = int(units.sum()), int(reach.sum())
        self._sums = cuda.device_array(int(2 * sequences.sum() + units.sum()), np.float32)
        self._rows = cuda.device_array(max(1, int(2 * reach.sum() + met.sum())), np.float32)
        # Reach on the first street is one.
        self._rows[: int(reach[0])].copy_to_device(np.ones(int(reach[0]), np.float32))
        self._allocate_tables()
        self._paid = to_device(np.append(np.zeros(2), self.hands.hand))

    def _allocate_packs(self) -> None:
        k, sizes, hands = device_kernels, self.sizes, len(self.hands.mask)
        runs = np.ascontiguousarray(sizes[:, k.RUNS])
        seen, run = _starts(self.pack * sizes[:, k.LIVE]), _starts(self.pack * runs)
        seen_size, run_size = int(self.pack * sizes[:, k.LIVE].sum()), 3 * int(self.pack * runs.sum())
        sizes[:, k.SEEN], sizes[:, k.BY_BUCKET], sizes[:, k.RUN_AT] = seen, seen_size + seen, 2 * seen_size + 3 * run
        self._packs = []  # double buffering: one is copied while the other is filled
        for _ in range(2):
            buffer: Array = cuda.pinned_array(2 * seen_size + run_size, np.uint32).view(np.ndarray)
            buffer[:] = 0
            hands_seen, by_bucket, boards_run = np.split(buffer, [seen_size, 2 * seen_size])
            dealt = PackedBoards(hands_seen, by_bucket.view(np.int32), boards_run.view(np.int32))
            thread_arrays = [
                deal_kernels.PackedBoardArrays(*dealt, seen, run, runs, np.zeros(hands + 1, np.int32))
                for _ in range(self.team.threads)
            ]
            self._packs.append(_BoardPack(buffer, dealt, thread_arrays, cuda.event()))
        self._device_boards = to_device(buffer)

    # --- training ---------------------------------------------------------------------------

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1; see `Traverser`."""
        self._paid[:2].copy_to_device(payoff)
        for first in range(begin, end, self.pack):
            stop = min(first + self.pack, end)
            self._wait_for_boards(seed, first, stop)
            self.train_boards(stop - first, partial(self._deal_ahead, seed, stop, stop + self.pack))
        cuda.synchronize()
        return self.decisions * (end - begin), self._paid[:2].copy_to_host()

    def deal(self, seed: int, begin: int, end: int) -> None:
        """Deal some boards of a run, at most a pack, into `dealt`."""
        self._deal_ahead(seed, begin, end)
        self._wait_for_boards(seed, begin, end)

    def _deal_ahead(self, seed: int, begin: int, end: int) -> None:
        """Start dealing boards begin … end - 1 on threads, once the buffer's previous boards are on the device."""
        deals, pack = deal_range(seed, begin, end), self._packs[0]
        pack.copied.synchronize()

        def run(thread: int) -> None:
            board, arrays = self._board_workspaces[thread], pack.thread_arrays[thread]
            deal_kernels.pack_boards(self._game, self._look, self.hands, board, deals, arrays)

        self._pending = seed, begin, end
        self._futures = [self.team.pool.submit(run, thread) for thread in range(self.team.threads)]

    def _wait_for_boards(self, seed: int, begin: int, end: int) -> None:
        """Wait until boards begin … end - 1 are dealt; if other boards were being dealt, discard those."""
        for future in self._futures:
            future.result()
        if self._pending != (seed, begin, end):
            self.deal(seed, begin, end)

    @property
    def dealt(self) -> PackedBoards:
        """The boards of the next batch."""
        return self._packs[0].dealt

    def train_boards(self, boards: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Train on the first boards of `dealt`.

        `meanwhile` runs on the CPU as soon as the boards are copied and others may be written to `dealt`.
        """
        cells, pack, stream = self._send_cells(), self._packs[0], self._stream
        self._device_boards.copy_to_device(pack.all, stream=stream)
        pack.copied.record(stream)
        self._packs.reverse()
        self._pending = None  # the dealt boards are used up
        meanwhile()
        for first in range(0, boards, self.boards):
            self._train_batch(cells, first, min(self.boards, boards - first))

    def _train_batch(self, cells: Any, first: int, boards: int) -> None:
        """Train on some boards that are on the device."""
        kernels, k, stream, memory = self.kernels, device_kernels, self._stream, 4 * THREADS
        plan, sizes, sums, rows, dealt = self._plan, self._sizes, self._sums, self._rows, self._device_boards
        width, streets = self._columns.shape[1], len(self.sizes)
        tables = plan, sizes, self._table, cells, sums
        kernels.sequence_probabilities[*launch_grid(self._table, THREADS), stream](*tables)
        if streets > 1:
            later = self._reach - int(self.sizes[1, k.REACH])
            reach = plan, sizes, self._reach, first, dealt, sums, rows
            kernels.street_reach[*launch_grid(later, THREADS), stream](*reach)
        two = self.tree.rules.hole == 2
        kernels.column_values[(boards, -(-width // THREADS)), THREADS, stream, memory * CARDS](
            self._columns, sizes, two, first, dealt, sums, rows
        )
        for s in range(streets - 1, -1, -1):
            count = boards * int(self.sizes[s, k.RUNS] * self.sizes[s, k.UNITS])
            kernels.gather_values[*launch_grid(count, THREADS), stream, memory * MAX_RUN](
                plan, self._pays, sizes, s, first, boards, dealt, sums, rows
            )
        kernels.update_tables[*launch_grid(self._table, THREADS), stream](*tables, self._paid)


def _starts(numbers: Any) -> Array:
    """Return the start offsets of consecutive parts with these sizes."""
    return np.asarray(np.cumsum(numbers, dtype=np.int64) - np.asarray(numbers))
