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

from riverboat.abstraction.card_abstraction import CardAbstraction
from riverboat.arrays import Array
from riverboat.errors import InputError, MemoryLimitError
from riverboat.games.action_tree import ActionTree
from riverboat.solving import _vector_cuda_kernels as device_kernels
from riverboat.solving import _vector_deal_kernels as deal_kernels
from riverboat.solving._vector_cuda_kernels import CARDS, FIELDS, RUN, Dealt, Rows, Sums
from riverboat.solving.blueprint_tables import BLOCK, BucketTables, Weighting
from riverboat.solving.bucket_sampling import BucketSampling, hands_of
from riverboat.solving.vector_plan import Columns, Street, vector_plan
from riverboat.walks.cuda_code import SIMULATED, bound, cuda, why_not
from riverboat.walks.cuda_walk import free_bytes
from riverboat.words import show_bytes

THREADS = 3 if SIMULATED else 128
BATCH = BLOCK  # boards that are walked with one strategy
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
    return Kernels(*(cuda.jit(bound(names[name], names)) for name in NAMES))


class VectorSampling(BucketSampling):
    """A blueprint in training by public chance sampling on a device."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        threads: int = 1,
        weighting: str | Weighting = "none",
        batch: int = BATCH,
    ) -> None:
        reason = why_not()
        if reason is not None:
            raise InputError(f"{tree.rules.name}: no training on a GPU: {reason}; take device='cpu'")
        if batch < 1:
            raise InputError(f"batch={batch}: boards that are walked with one strategy, at least 1")
        self._host: BucketTables
        self._newer = False  # whether the device has learnt what the processor's tables do not have
        self._lent = True  # whether somebody may have written to the processor's tables
        self._coming: tuple[int, int, list[Future[None]]] = (0, 0, [])  # boards that are being dealt, and by whom
        super().__init__(tree, cards, "pcs", seed=seed, threads=threads, weighting=weighting)
        self.hands, self.batch = hands_of(tree), batch
        count = len(tree.rules.deck.cards)
        if max(cards.counts) > MOST_BUCKETS:
            raise InputError(
                f"{cards.name}: {max(cards.counts):,} buckets on a street, {MOST_BUCKETS:,} at most on a GPU"
            )
        live = np.array([comb(count - int(n), tree.rules.hole) for n in self.hands.shown], np.int64)
        plan = vector_plan(tree, self.hands.pair, live)
        self.decisions = int(sum(n * np.sum((tree.actor >= 0) & (tree.street == s)) for s, n in enumerate(live)))
        sizes = np.zeros((len(live), FIELDS), np.int64)
        counts = np.array(self.cards.counts[: len(live)])
        sizes[:, device_kernels.LIVE] = live
        sizes[:, device_kernels.UNITS] = [len(street.kind) for street in plan.streets]
        sizes[:, device_kernels.SEQUENCES], sizes[:, device_kernels.SLOTS] = plan.sequences, plan.slots
        sizes[:, device_kernels.BUCKETS] = counts
        sizes[:, device_kernels.WIDTH], sizes[:, device_kernels.BASE] = self._host.width, self._host.base
        sizes[:, device_kernels.RUNS] = np.minimum(live, np.minimum(counts, live) + live // RUN)
        self.sizes = sizes
        self.batch = self._fitting(batch)
        self._allocate(plan.streets, plan.columns)

    # --- memory -----------------------------------------------------------------------------

    def _numbers(self, boards: int) -> dict[int, Array]:
        """How much of each kind a street has, by the column of `sizes` that says where it begins."""
        k = device_kernels
        live, units, runs = (self.sizes[:, field] for field in (k.LIVE, k.UNITS, k.RUNS))
        return {
            k.REACH: boards * live * units,
            k.WEIGHT: self.sizes[:, k.BUCKETS] * self.sizes[:, k.SEQUENCES],
            k.HELD: self.sizes[:, k.BUCKETS] * units,
            k.SLOT: boards * live * self.sizes[:, k.SLOTS],
            k.DEALT: boards * live,
            k.RUN_AT: boards * runs,
        }

    def _bytes_for(self, boards: int) -> int:
        k, much = device_kernels, {key: int(part.sum()) for key, part in self._numbers(boards).items()}
        numbers = 2 * much[k.REACH] + much[k.SLOT] + 2 * much[k.WEIGHT] + much[k.HELD] + 2 * much[k.DEALT]
        return 4 * (numbers + 3 * much[k.RUN_AT]) + self._host.nbytes

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

    def _allocate(self, streets: tuple[Street, ...], columns: Columns) -> None:
        k, boards = device_kernels, self.batch
        much = self._numbers(boards)
        for field, part in much.items():
            self.sizes[:, field] = np.cumsum(part) - part
        total = {field: max(1, int(part.sum())) for field, part in much.items()}
        hands = len(self.hands.mask)
        self.dealt = Dealt(
            np.zeros(total[k.DEALT], np.uint32),
            np.zeros(total[k.DEALT], np.int32),
            np.zeros(3 * total[k.RUN_AT], np.int32),
        )
        at, run_at, runs = (np.ascontiguousarray(self.sizes[:, field]) for field in (k.DEALT, k.RUN_AT, k.RUNS))
        self._boards = [
            deal_kernels.Boards(*self.dealt, at, run_at, runs, np.zeros(hands + 1, np.int32))
            for _ in range(self.threads)
        ]
        self.kernels = compiled()
        self._there = Dealt(*map(_send, self.dealt))
        self._streets = tuple(Street(*map(_send, street)) for street in streets)
        self._columns, self._width = Columns(*map(_send, columns)), len(columns.unit)
        self._sizes = _send(self.sizes)
        self._sums = Sums(*(_room(total[field]) for field in (k.WEIGHT, k.WEIGHT, k.HELD)))
        self._rows = Rows(*(_room(total[field]) for field in (k.REACH, k.REACH, k.SLOT)))
        self._cells, self._paid = _send(self._host.cells), _send(np.zeros(2))

    # --- training ---------------------------------------------------------------------------

    def step(self, iterations: int) -> None:
        """Train for at least so many boards: whole blocks of 64."""
        super().step(iterations)
        cuda.synchronize()

    def _race(self, end: int) -> None:
        begin = self.iterations
        while begin < end:
            stop = min(begin + self.batch, end)
            self._wait_for(begin, stop)
            self.walk(stop - begin, partial(self._deal_ahead, stop, stop + self.batch))
            begin = stop
        self.updates += self.decisions * (end - self.iterations)

    def deal(self, begin: int, end: int) -> None:
        """Lay out some boards of the run, at most a batch, in `dealt`."""
        self._deal_ahead(begin, end)
        self._wait_for(begin, end)

    def _deal_ahead(self, begin: int, end: int) -> None:
        """Threads begin to deal."""
        deals = self._deals(begin, end)

        def go(thread: int) -> None:
            _, board, _ = self._rooms[thread]
            deal_kernels.deal_boards(self.game, self.cards.look, self.hands, board, deals, self._boards[thread])

        self._coming = begin, end, [self._pool.submit(go, thread) for thread in range(self.threads)]

    def _wait_for(self, begin: int, end: int) -> None:
        """Until these boards are there; others that are on their way are forgotten."""
        first, last, work = self._coming
        for done in work:
            done.result()
        if (first, last) != (begin, end):
            self.deal(begin, end)

    def walk(self, boards: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Learn from the first boards of `dealt`; `meanwhile` has the processor to itself, and `dealt` too."""
        self._give()
        for here, there in zip(self.dealt, self._there, strict=True):
            there.copy_to_device(here)
        meanwhile()
        self._newer = True
        steps, sizes, sums, rows, there = self.kernels, self._sizes, self._sums, self._rows, self._there
        k, two = device_kernels, self.tree.rules.hole == 2
        for s, street in enumerate(self._streets):
            steps.weigh[self._grid(s, k.BUCKETS)](street, sizes, s, self._cells, sums)
        for s, street in enumerate(self._streets):
            steps.enter[self._grid(s, k.LIVE, boards)](street, sizes, s, boards, there, sums, rows)
        memory = 4 * THREADS
        steps.sweep[(boards, -(-self._width // THREADS)), THREADS, 0, memory * CARDS](
            self._columns, sizes, two, there, sums, rows
        )
        for s in range(len(self._streets) - 1, -1, -1):
            steps.gather[(*self._grid(s, k.RUNS, boards), 0, memory * RUN)](
                self._streets[s], sizes, s, boards, there, sums, rows
            )
        for s, street in enumerate(self._streets):
            steps.learn[self._grid(s, k.BUCKETS)](street, sizes, s, self._cells, sums, self.hands.hand[s], self._paid)

    def _grid(self, s: int, field: int, times: int = 1) -> tuple[int, int]:
        """Blocks for a thread for each unit of a street and so many of a kind, and their threads."""
        count = int(self.sizes[s, field] * self.sizes[s, device_kernels.UNITS]) * times
        return max(1, -(-count // THREADS)), THREADS

    def _discount(self, period: int) -> None:
        factors = self.weighting.factors(period)
        if factors is not None:
            self._give()
            self._newer = True
            for s, street in enumerate(self._streets):
                grid = self._grid(s, device_kernels.BUCKETS)
                self.kernels.discount[grid](street, self._sizes, s, self._cells, *factors)
            self.weight *= factors[0]

    # --- tables -----------------------------------------------------------------------------

    def _give(self) -> None:
        """Tables that somebody may have written to go to the device again."""
        if self._lent:
            self._cells.copy_to_device(self._host.cells)
            self._lent = False

    @property
    def tables(self) -> BucketTables:
        """What has been learnt, on the processor."""
        if self._newer:
            self._cells.copy_to_host(self._host.cells)
            self.payoff += self._paid.copy_to_host()
            self._paid.copy_to_device(np.zeros(2))
            self._newer = False
        self._lent = True
        return self._host

    @tables.setter
    def tables(self, tables: BucketTables) -> None:
        self._host = tables

    def state(self) -> dict[str, Array]:
        """All that is needed to go on, on a device or without. The table itself, not a copy."""
        self.tables  # noqa: B018  # what was paid is fetched with it
        return super().state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self._newer = False
        super().restore(state)
        self._lent = True


def _send(numbers: Array) -> Any:
    """An array on the device; an empty one still has a place."""
    if not numbers.size:
        return cuda.to_device(np.zeros(1, numbers.dtype))[:0]
    return cuda.to_device(np.ascontiguousarray(numbers))


def _room(count: int) -> Any:
    return cuda.device_array(count, np.float32)
