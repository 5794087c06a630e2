"""Public chance sampling over buckets on a GPU: all hands of a batch of boards at once.

    solver = VectorSampling(tree, cards, seed=1, weighting="linear")
    solver.step(10_000)                  # boards

Threads of the processor deal boards, rank their hands and find their buckets; the device walks the betting of all of them
with the strategy of the batch's beginning, and learns from their sum. Tables are those of `BucketTables`: the device has a
copy, which is fetched when somebody asks for it, so runs go on with `pcs` on processors and back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import cache, partial
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.engines.cuda._kernels import vector as device_kernels
from riverboat.engines.cuda._kernels.vector import CARDS, FIELDS, PLAN, RUN
from riverboat.engines.cuda.board_engine import free_bytes
from riverboat.engines.cuda.compilation import SIMULATED, bound, cuda
from riverboat.engines.cuda.vector_plan import Street, VectorPlan, vector_plan
from riverboat.engines.sampling._kernels import vector_deal as deal_kernels
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.cuda_tables import DeviceTables, check_device_is_there, grid, send
from riverboat.solvers.mccfr.samplers import BucketSampling, hands_of
from riverboat.solvers.mccfr.tables import BLOCK, Weighting, exact_weight

THREADS = 3 if SIMULATED else 128
PACK = BLOCK  # boards that are dealt and sent together
REGISTERS = 64  # of a thread that sweeps
AT_WORK = 100_000  # columns that a device sweeps at a time
PART = 0.8  # of the free memory
MOST_BUCKETS = 1 << 32 - device_kernels.BUCKET
NAMES = ("weigh", "learn", "discount", "enter", "sweep", "gather")


class Kernels(NamedTuple):
    """What is launched."""

    weigh: Any
    learn: Any
    discount: Any
    enter: Any
    sweep: Any
    gather: Any


@cache
def compiled() -> Kernels:
    """All steps."""
    names = {**vars(device_kernels), "FLOAT": from_dtype(np.dtype(np.float32))}
    limits: Any = {} if SIMULATED else {"sweep": {"max_registers": REGISTERS}}
    return Kernels(*(cuda.jit(bound(names[name], names), **limits.get(name, {})) for name in NAMES))


class Dealt(NamedTuple):
    """Boards, and their hands in order: parts of one array, see `_vector_cuda_kernels`."""

    seen: Array  # uint32 [streets one after the other: boards · live]
    by_bucket: Array  # int32 [same]
    run: Array  # int32 [streets: boards · runs · 3]


class _Pack(NamedTuple):
    """Boards on the processor."""

    all: Array  # uint32
    dealt: Dealt
    rooms: list[deal_kernels.Boards]  # the same for each thread
    copied: Any  # happens when the device has them


class VectorSampling(DeviceTables, BucketSampling):
    """A blueprint in training by public chance sampling on a device."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        threads: int = 1,
        weighting: str | Weighting = "none",
        batch: int | None = None,
        pack: int = PACK,
    ) -> None:
        check_device_is_there(tree)
        if pack < 1 or BLOCK % pack or (batch is not None and (batch < 1 or pack % batch)):
            raise InputError(
                f"batch={batch}, pack={pack}: boards of one strategy, and a multiple that is dealt at a time; must divide "
                f"{BLOCK}, so that steps of any length cut no batch"
            )
        if max(cards.counts) > MOST_BUCKETS:
            raise InputError(
                f"{cards.name}: {max(cards.counts):,} buckets on a street, {MOST_BUCKETS:,} at most on a GPU"
            )
        self._coming: tuple[int, int, list[Future[None]]] = (0, 0, [])  # boards that are being dealt, and by whom
        super().__init__(tree, cards, "pcs", seed=seed, threads=threads, weighting=weighting)
        self.hands, self.pack = hands_of(tree), pack
        count, k = len(tree.rules.deck.cards), device_kernels
        live = np.array([comb(count - int(n), tree.rules.hole) for n in self.hands.shown], np.int64)
        plan = vector_plan(tree, self.hands.pair, live)
        self.decisions = int(sum(n * np.sum((tree.actor >= 0) & (tree.street == s)) for s, n in enumerate(live)))
        self.sizes = sizes = np.zeros((len(live), FIELDS), np.int64)
        buckets = np.array(self.cards.counts[: len(live)])
        sizes[:, k.LIVE], sizes[:, k.BUCKETS] = live, buckets
        sizes[:, k.UNITS] = [len(street.kind) for street in plan.streets]
        sizes[:, k.SEQUENCES], sizes[:, k.SLOTS] = plan.sequences, plan.slots
        sizes[:, k.WIDTH], sizes[:, k.BASE] = self._host.width, self._host.base
        sizes[:, k.RUNS] = np.minimum(live, np.minimum(buckets, live) + live // RUN)
        if batch is None:  # as few boards as keep the device at work: one strategy is answered by fewer of them
            batch = 1
            while batch < pack and batch * len(plan.columns.unit) < AT_WORK:
                batch *= 2
        self.batch = self._fitting(min(batch, pack))
        self._allocate(plan)

    # --- memory -----------------------------------------------------------------------------

    def _rooms_of(self, boards: int) -> tuple[Array, Array, Array, Array]:
        """Numbers of each street: of units by bucket, sequences by bucket, units by hand and slots by hand."""
        k = device_kernels
        live, units, buckets = (self.sizes[:, field] for field in (k.LIVE, k.UNITS, k.BUCKETS))
        hands = boards * live
        return buckets * units, buckets * self.sizes[:, k.SEQUENCES], hands * units, hands * self.sizes[:, k.SLOTS]

    def _bytes_for(self, boards: int) -> int:
        units, sequences, reach, met = (int(part.sum()) for part in self._rooms_of(boards))
        return 4 * (units + 2 * sequences + 2 * reach + met) + self._host.nbytes

    def _fitting(self, boards: int) -> int:
        """As many boards as memory holds, of those that are asked for."""
        free = free_bytes()
        while free is not None and boards > 1 and self._bytes_for(boards) > PART * free:
            boards //= 2
        if free is not None and self._bytes_for(boards) > PART * free:
            raise MemoryLimitError(
                f"{self.tree.rules.name}: tables and one board need {show_bytes(self._bytes_for(1))} and the device has "
                f"{show_bytes(free)} free: take device='cpu'"
            )
        return boards

    def _allocate(self, plan: VectorPlan) -> None:
        k, sizes = device_kernels, self.sizes
        units, sequences, reach, met = self._rooms_of(self.batch)
        names = [name for name in Street._fields if name != "pay"]
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
        self._stream, self.kernels = cuda.stream(), compiled()
        self._plan, self._columns = send(np.concatenate(parts)), send(np.array(plan.columns))
        self._pays, self._sizes = send(np.concatenate([street.pay for street in plan.streets])), send(sizes)
        self._table, self._reach = int(units.sum()), int(reach.sum())
        self._sums = cuda.device_array(int(2 * sequences.sum() + units.sum()), np.float32)
        self._rows = cuda.device_array(max(1, int(2 * reach.sum() + met.sum())), np.float32)
        self._rows[: int(reach[0])].copy_to_device(np.ones(int(reach[0]), np.float32))  # the first street's
        self._cells, self._paid = send(self._host.cells), send(np.append(np.zeros(2), self.hands.hand))

    def _allocate_packs(self) -> None:
        k, sizes, hands = device_kernels, self.sizes, len(self.hands.mask)
        runs = np.ascontiguousarray(sizes[:, k.RUNS])
        seen, run = _starts(self.pack * sizes[:, k.LIVE]), _starts(self.pack * runs)
        much, more = int(self.pack * sizes[:, k.LIVE].sum()), 3 * int(self.pack * runs.sum())
        sizes[:, k.SEEN], sizes[:, k.BY_BUCKET], sizes[:, k.RUN_AT] = seen, much + seen, 2 * much + 3 * run
        self._packs = []  # while one is copied, the other is filled
        for _ in range(2):
            every: Array = cuda.pinned_array(2 * much + more, np.uint32).view(np.ndarray)
            every[:] = 0
            dealt = Dealt(every[:much], every[much : 2 * much].view(np.int32), every[2 * much :].view(np.int32))
            rooms = [
                deal_kernels.Boards(*dealt, seen, run, runs, np.zeros(hands + 1, np.int32)) for _ in range(self.threads)
            ]
            self._packs.append(_Pack(every, dealt, rooms, cuda.event()))
        self._there = send(every)

    # --- training ---------------------------------------------------------------------------

    def _race(self, end: int) -> None:
        begin = self.iterations
        while begin < end:
            stop = min(begin + self.pack, end)
            self._wait_for(begin, stop)
            self.walk(stop - begin, partial(self._deal_ahead, stop, stop + self.pack))
            begin = stop
        self.updates += self.decisions * (end - self.iterations)

    def deal(self, begin: int, end: int) -> None:
        """Lay out some boards of the run, at most a pack, in `dealt`."""
        self._deal_ahead(begin, end)
        self._wait_for(begin, end)

    def _deal_ahead(self, begin: int, end: int) -> None:
        """Threads begin to deal, as soon as what was dealt there before is gone."""
        deals, pack = self._deals(begin, end), self._packs[0]
        pack.copied.synchronize()

        def go(thread: int) -> None:
            _, board, _ = self._rooms[thread]
            deal_kernels.deal_boards(self.game, self.cards.look, self.hands, board, deals, pack.rooms[thread])

        self._coming = begin, end, [self._pool.submit(go, thread) for thread in range(self.threads)]

    def _wait_for(self, begin: int, end: int) -> None:
        """Until these boards are there; others that are on their way are forgotten."""
        first, last, work = self._coming
        for done in work:
            done.result()
        if (first, last) != (begin, end):
            self.deal(begin, end)

    @property
    def dealt(self) -> Dealt:
        """The boards that are walked next."""
        return self._packs[0].dealt

    def walk(self, boards: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Learn from the first boards of `dealt`, after which others may be written there: `meanwhile`, on processors."""
        self._give()
        pack, stream = self._packs[0], self._stream
        self._there.copy_to_device(pack.all, stream=stream)
        pack.copied.record(stream)
        self._packs.reverse()
        self._coming = (0, 0, [])  # what was dealt is gone
        meanwhile()
        for first in range(0, boards, self.batch):
            self._walk_batch(first, min(self.batch, boards - first))

    def _walk_batch(self, first: int, boards: int) -> None:
        """Learn from some boards that are on the device."""
        steps, k, stream, memory = self.kernels, device_kernels, self._stream, 4 * THREADS
        plan, sizes, sums, rows, dealt = self._plan, self._sizes, self._sums, self._rows, self._there
        width, streets = self._columns.shape[1], len(self.sizes)
        steps.weigh[*grid(self._table, THREADS), stream](plan, sizes, self._table, self._cells, sums)
        if streets > 1:
            later = self._reach - int(self.sizes[1, k.REACH])
            steps.enter[*grid(later, THREADS), stream](plan, sizes, self._reach, first, dealt, sums, rows)
        two = self.tree.rules.hole == 2
        steps.sweep[(boards, -(-width // THREADS)), THREADS, stream, memory * CARDS](
            self._columns, sizes, two, first, dealt, sums, rows
        )
        for s in range(streets - 1, -1, -1):
            count = boards * int(self.sizes[s, k.RUNS] * self.sizes[s, k.UNITS])
            steps.gather[*grid(count, THREADS), stream, memory * RUN](
                plan, self._pays, sizes, s, first, boards, dealt, sums, rows
            )
        steps.learn[*grid(self._table, THREADS), stream](plan, sizes, self._table, self._cells, sums, self._paid)

    def _discount(self, period: int) -> None:
        factors = self.weighting.factors(period)
        if factors is not None:
            self._give()
            at = *grid(self._table, THREADS), self._stream
            self.kernels.discount[at](self._plan, self._sizes, self._table, self._cells, *factors)
            self.weight = exact_weight(self.weight * factors[0])

    # --- state ------------------------------------------------------------------------------

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self._wait_for(*self._coming[:2])
        self._coming = (0, 0, [])  # boards of another seed are of no use
        super().restore(state)


def _starts(numbers: Any) -> Array:
    """Where each of some parts begins that stand one behind the other."""
    begins: Array = np.cumsum(numbers, dtype=np.int64) - np.asarray(numbers)
    return begins
