"""External sampling on a GPU, with the same deals, traversals and tables as on the CPU, thousands of deals at a time.

    trainer = BlueprintTrainer(tree, cards, device="cuda", seed=1, weighting="linear")
    trainer.step(100_000_000)            # deals

Every step runs on the device, including the dealing of cards. Blocks of threads race, as threads do on the CPU. A run
can continue on the other device: checkpoints are those of `BlueprintTrainer`. `CudaTraverser` has the tables of any
traverser on a device.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.ranking import RankTables
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.engines.cuda._kernels import external as device_kernels
from riverboat.engines.cuda.board_engine import free_bytes, to_device
from riverboat.engines.cuda.compilation import (
    SIMULATED,
    compile_for_device,
    compile_kernels,
    cuda,
    cuda_unavailable_reason,
)
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BucketTables, DealGroup, make_sampling_game
from riverboat.solvers.mccfr.traversers import tree_depth

# --- tables on the device, copied to the host on demand ---


class CudaTraverser:
    """Base class of GPU traversers: tables on the device, and a copy on the host that is updated when it is read."""

    batch = 0
    hybrid: BucketTables | None = None

    def __init__(self, tree: ActionTree, cards: CardAbstraction) -> None:
        reason = cuda_unavailable_reason()
        if reason is not None:
            raise InputError(f"{tree.rules.name}: GPU training is not available: {reason}; use device='cpu'")
        self.tree, self._host = tree, BucketTables(tree, cards.counts)
        self._game = make_sampling_game(tree, cards, self._host)
        self._device_newer = False  # whether the device's tables are newer than the host's
        self._host_dirty = False  # whether the host's tables may have been written to

    def _allocate_tables(self) -> None:
        """Allocate the tables on the device."""
        self._cells = to_device(self._host.cells)
        self._averages = [to_device(_average_cells(self.tree, street)) for street in range(len(self._host.counts))]

    @property
    def tables(self) -> BucketTables:
        """The tables on the host, up to date."""
        if self._device_newer:
            self._cells.copy_to_host(self._host.cells)
            self._device_newer = False
        self._host_dirty = True
        return self._host

    def _send_cells(self) -> Any:
        """Return the device's cells for an update by a kernel; first copy the host's cells there if they may differ."""
        if self._host_dirty:
            self._cells.copy_to_device(self._host.cells)
            self._host_dirty = False
        self._device_newer = True
        return self._cells

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply positive and negative regrets and averages by factors on the device; `seed` is not used."""
        cells, tables, discount = self._send_cells(), self._host, compile_external_kernels().discount
        factors = np.float32(positive), np.float32(negative), np.float32(decay)
        for street, averages in enumerate(self._averages):
            first, size = int(tables.base[street]), int(tables.width[street]) * tables.counts[street]
            discount[launch_grid(size, THREADS)](cells, first, first + size, averages, *factors)
        cuda.synchronize()


def _average_cells(tree: ActionTree, street: int) -> Array:
    """Return a mask of the cells of a table row that hold averages; the others hold regrets. bool [cells]"""
    averages = np.zeros(2 * int(tree.width[street]), np.bool_)
    for node in np.flatnonzero((tree.actor >= 0) & (tree.street == street)):
        at, count = 2 * int(tree.slot[node]), int(tree.count[node])
        averages[at + count : at + 2 * count] = True
    return averages


def to_device_all(given: Any) -> Any:
    """Copy all arrays in nested tuples to the device; other values are passed through."""
    if isinstance(given, np.ndarray):
        return to_device(given)
    if isinstance(given, tuple):
        copied = [to_device_all(each) for each in given]
        return type(given)(*copied) if hasattr(given, "_fields") else tuple(copied)
    return given


def launch_grid(count: int, threads: int) -> tuple[int, int]:
    """Return the number of blocks for `count` threads, and the threads per block."""
    return max(1, -(-count // threads)), threads


THREADS = 3 if SIMULATED else 128  # threads of a block
GROUP = 32  # deals that a block traverses at a time: enough decisions to occupy its threads
BLOCKS = 6  # blocks that are resident on one multiprocessor
MAX_TRAVERSALS = 128  # traversals of a group that a note can number
CHUNK = 1 << 18  # deals per launch
MIN_CHUNK = 1 << 10
CHUNK_DIVISOR = 8  # a chunk has at most 1 / CHUNK_DIVISOR of the deals so far: strategies change fast at the beginning
MEMORY_SHARE = 0.9  # usable share of the free memory


class CudaDealer(NamedTuple):
    """Deck and lookup data for dealing; fields are named as in `SamplingGame`."""

    deck: Array  # uint8 [cards]
    base: Array  # int64 [streets]
    width: Array  # int64 [streets]
    ranks: RankTables
    hole: int
    board: int


class CudaBettingNodes(NamedTuple):
    """The betting tree; fields are named as in `SamplingGame`."""

    nodes: Array  # int32 [4 · nodes]
    pay: Array  # float32 [4 · nodes]: the same numbers


class CudaDeals(NamedTuple):
    """Deals of one launch."""

    keys: Array  # uint64 [deals]
    rows: Array  # int64 [deals · 8]: first cell of each row, at 8 · deal + street + 4 · seat
    result: Array  # float32 [deals]: 1 if seat 0's hand wins, -1 if it loses


class CudaTally(NamedTuple):
    """Counters of a training."""

    paid: Array  # float64 [2]: total payoff of each seat as traverser
    visits: Array  # int64 [1]: decisions visited


class CudaTraversalNotes(NamedTuple):
    """Memory of the traversals of each block, one row for a block; fields as in `TraversalNotes`."""

    own: Array  # uint64 [blocks, own decisions]
    other: Array  # uint64 [blocks, decisions of opponents]
    at: Array  # int64 [blocks, own decisions]
    first: Array  # int64 [blocks, own decisions]
    sigma: Array  # float32 [blocks, slots]
    value: Array  # float32 [blocks, slots]


@cache
def compile_external_kernels() -> SimpleNamespace:
    """Compile the kernels of external sampling."""
    names = dict(vars(device_kernels))
    names.update({name: compile_for_device(part) for name, part in names.items() if hasattr(part, "py_func")})
    names.update({kind: from_dtype(np.dtype(kind.lower())) for kind in ("UINT8", "INT32", "INT64")})
    return compile_kernels(names, ("deal_hands", "traverse", "discount"))


class CudaExternalTraverser(CudaTraverser):
    """External sampling on a GPU: `blocks` of `threads` threads, each of which traverses `group` deals at a time."""

    traversal = "external"

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        blocks: int | None = None,
        group: int = GROUP,
        threads: int = THREADS,
    ) -> None:
        super().__init__(tree, cards)
        if blocks is None:  # as many as can be resident
            blocks = 2 if SIMULATED else BLOCKS * cuda.get_current_device().MULTIPROCESSOR_COUNT
        if not 1 <= group <= MAX_TRAVERSALS // 2 or blocks < 1 or threads < 1:
            raise InputError(
                f"blocks={blocks}, group={group}, threads={threads}: must be at least 1, group at most {MAX_TRAVERSALS // 2}"
            )
        rules, levels, game, host = tree.rules, tree_depth(tree), self._game, self._host
        if levels > device_kernels.LEVELS or 2 * rules.hole + sum(rules.board) > device_kernels.CARDS:
            raise InputError(
                f"{rules.name}: {levels} decisions on a line and hands of {rules.hole} cards: a GPU supports at most "
                f"{device_kernels.LEVELS} decisions, and {device_kernels.CARDS} cards in a deal; use device='cpu'"
            )
        self.block_threads, self.deals_per_block = threads, group
        own, other, slots = (int(n) * group + 1 for n in DealGroup(game.nodes).need)
        slots += 2 * group
        self.blocks = self._fit_blocks(blocks, 24 * own + 8 * other + 8 * slots, host.nbytes + 76 * CHUNK)
        self.kernels = compile_external_kernels()
        dealer = CudaDealer(game.deck, game.base, game.width, game.ranks, game.hole, game.board)
        self._dealer, self._look = to_device_all(dealer), to_device_all(cards.lookup)
        self._nodes = to_device_all(CudaBettingNodes(game.nodes, game.pay))
        self._allocate_tables()
        sizes = ((own, np.uint64), (other, np.uint64), (own, np.int64), (own, np.int64))
        lists = [cuda.device_array((self.blocks, n), kind) for n, kind in sizes]
        values = [cuda.device_array((self.blocks, slots), np.float32) for _ in range(2)]
        self._notes = CudaTraversalNotes(*lists, *values)
        kinds = ((CHUNK, np.uint64), (8 * CHUNK, np.int64), (CHUNK, np.float32))
        self._dealt = CudaDeals(*(cuda.device_array(n, kind) for n, kind in kinds))
        self._tally = to_device_all(CudaTally(np.zeros(2), np.zeros(1, np.int64)))

    def _fit_blocks(self, blocks: int, notes: int, rest: int) -> int:
        """Reduce the number of blocks to those that fit in memory: `notes` bytes for each, and `rest` for all else."""
        free = free_bytes()
        if free is None:
            return blocks
        fitting = min(blocks, (int(MEMORY_SHARE * free) - rest) // notes)
        if fitting < 1:
            raise MemoryLimitError(
                f"{self.tree.rules.name}: tables and one group of deals need {format_bytes(rest + notes)}, the device has "
                f"{format_bytes(free)} free: use device='cpu'"
            )
        return fitting

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1; see `Traverser`."""
        cells, tally, threads = self._send_cells(), self._tally, self.block_threads
        tally.paid.copy_to_device(payoff)
        tally.visits.copy_to_device(np.zeros(1, np.int64))
        while begin < end:
            count = min(end - begin, CHUNK, max(MIN_CHUNK, begin // CHUNK_DIVISOR))
            self.kernels.deal_hands[launch_grid(count, threads)](
                self._dealer, self._look, np.uint64(seed % 2**64), begin, count, self._dealt
            )
            blocks, share = min(self.blocks, -(-count // self.deals_per_block)), np.float32(self._host.share)
            self.kernels.traverse[blocks, threads](
                self._nodes, cells, self._dealt, count, self.deals_per_block, share, self._notes, tally
            )
            begin += count
        return int(tally.visits.copy_to_host()[0]), tally.paid.copy_to_host()
