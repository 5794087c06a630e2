"""External sampling on a GPU: the same deals, walks and tables as `Blueprint`, thousands of deals at a time.

    solver = DeviceSampling(tree, cards, seed=1, weighting="linear")
    solver.step(100_000_000)             # deals

Everything happens on the device, from the drawing of cards on. Blocks of threads race, as threads do on processors. A run
goes on there and back: checkpoints are those of `Blueprint`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.ranking import RankTables
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.engines.cuda._kernels import external as device_kernels
from riverboat.engines.cuda.board_engine import free_bytes
from riverboat.engines.cuda.compilation import DEVICE, SIMULATED, bound, cuda, part_on_device
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.cuda_tables import DeviceTables, check_device_is_there, grid, send, send_all
from riverboat.solvers.mccfr.samplers import levels_of
from riverboat.solvers.mccfr.tables import BucketTables, Weighting, exact_weight

THREADS = 3 if SIMULATED else 128  # of a block
GROUP = 32  # deals that a block walks at a time: their decisions keep its threads at work
BLOCKS = 6  # at work on one of the device's processors
MOST_WALKS = 128  # of a group, in a note
CHUNK = 1 << 18  # deals that are drawn together
FEWEST = 1 << 10
PART_OF_RUN = 8  # a chunk is at most so small a part of what has been walked: strategies change fast in the beginning
PART = 0.9  # of the free memory
OWN_PARTS = ("scale_of", "visit", "grown", "pass_on", "spread_out", "learn")  # each below those that it calls


class Kernels(NamedTuple):
    """What is launched."""

    deal: Any
    walk: Any
    discount: Any


class Dealer(NamedTuple):
    """What it takes to deal; named as in `_blueprint_deal_kernels.Game`."""

    deck: Array  # uint8 [cards]
    base: Array  # int64 [streets]
    width: Array  # int64 [streets]
    ranks: RankTables
    hole: int
    board: int


class Nodes(NamedTuple):
    """The betting tree, as in `_blueprint_deal_kernels.Game`."""

    nodes: Array  # int32 [4 · nodes]
    pay: Array  # float32 [4 · nodes]: the same numbers


class Dealt(NamedTuple):
    """Deals that are walked together."""

    keys: Array  # uint64 [deals]
    rows: Array  # int64 [deals · 8]: first cell of each row, at 8 · deal + street + 4 · seat
    result: Array  # float32 [deals]: 1 where seat 0's hand is better, -1 worse


class Tally(NamedTuple):
    """What was done."""

    paid: Array  # float64 [2]: what both seats have won as traversers
    visits: Array  # int64 [1]: decisions


class Notes(NamedTuple):
    """What blocks note of their walks, a row each; see `_blueprint_kernels.WalkNotes`."""

    own: Array  # uint64 [blocks, own decisions]
    other: Array  # uint64 [blocks, decisions of opponents]
    at: Array  # int64 [blocks, own decisions]
    first: Array  # int64 [blocks, own decisions]
    sigma: Array  # float32 [blocks, slots]
    value: Array  # float32 [blocks, slots]


@cache
def compiled() -> Kernels:
    """All steps."""
    names = dict(vars(device_kernels))
    names.update({name: part_on_device(part) for name, part in names.items() if hasattr(part, "py_func")})
    names.update({kind: from_dtype(np.dtype(kind.lower())) for kind in ("UINT8", "INT32", "INT64")})
    for name in OWN_PARTS:
        names[name] = cuda.jit(device=True, **DEVICE)(bound(names[name], names))
    return Kernels(*(cuda.jit(bound(names[name], names)) for name in Kernels._fields))


class DeviceSampling(DeviceTables):
    """A blueprint in training by external sampling on a device."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        weighting: str | Weighting = "none",
        blocks: int | None = None,
        group: int = GROUP,
        threads: int = THREADS,
    ) -> None:
        check_device_is_there(tree)
        if blocks is None:  # as many as can be at work at a time
            blocks = 2 if SIMULATED else BLOCKS * cuda.get_current_device().MULTIPROCESSOR_COUNT
        if not 1 <= group <= MOST_WALKS // 2 or blocks < 1 or threads < 1:
            raise InputError(
                f"blocks={blocks}, group={group}, threads={threads}: each at least 1, and groups of at most {MOST_WALKS // 2}"
            )
        super().__init__(tree, cards, seed=seed, weighting=weighting)
        rules, levels = tree.rules, levels_of(tree)
        if levels > device_kernels.LEVELS or 2 * rules.hole + sum(rules.board) > device_kernels.CARDS:
            raise InputError(
                f"{rules.name}: {levels} decisions on a line and hands of {rules.hole} cards: on a GPU at most "
                f"{device_kernels.LEVELS}, and {device_kernels.CARDS} cards in a deal; take device='cpu'"
            )
        self.block_threads, self.in_group = threads, group
        self.blocks = self._fitting(blocks)
        self.kernels, game = compiled(), self.game
        dealer = Dealer(game.deck, game.base, game.width, game.ranks, game.hole, game.board)
        self._dealer, self._look = send_all(dealer), send_all(cards.look)
        self._nodes, self._cells = send_all(Nodes(game.nodes, game.pay)), send(self._host.cells)
        self._averages = [send(_averages(tree, street)) for street in range(rules.rounds)]
        own, other, slots = self._lengths(group)
        sizes = ((own, np.uint64), (other, np.uint64), (own, np.int64), (own, np.int64))
        lists = [cuda.device_array((self.blocks, n), kind) for n, kind in sizes]
        values = [cuda.device_array((self.blocks, slots), np.float32) for _ in range(2)]
        self._notes = Notes(*lists, *values)
        kinds = ((CHUNK, np.uint64), (8 * CHUNK, np.int64), (CHUNK, np.float32))
        self._dealt = Dealt(*(cuda.device_array(n, kind) for n, kind in kinds))
        self._tally = send_all(Tally(np.zeros(2), np.zeros(1, np.int64)))
        self._paid = self._tally.paid

    # --- memory -----------------------------------------------------------------------------

    def _lengths(self, group: int) -> tuple[int, int, int]:
        """Of a block's lists: own decisions, others, slots."""
        own, other, slots = (int(n) * group + 1 for n in self._need)
        return own, other, slots + 2 * group

    def _fitting(self, blocks: int) -> int:
        """As many blocks as memory holds, of those that are asked for."""
        free, (own, other, slots) = free_bytes(), self._lengths(self.in_group)
        if free is None:
            return blocks
        notes, rest = 24 * own + 8 * other + 8 * slots, self._host.nbytes + 76 * CHUNK
        fitting = min(blocks, (int(PART * free) - rest) // notes)
        if fitting < 1:
            raise MemoryLimitError(
                f"{self.tree.rules.name}: tables and one group of deals need {show_bytes(rest + notes)} and the device has "
                f"{show_bytes(free)} free: take device='cpu'"
            )
        return fitting

    # --- training ---------------------------------------------------------------------------

    def _race(self, end: int) -> None:
        self._give()
        begin = self.iterations
        while begin < end:
            count = min(end - begin, CHUNK, max(FEWEST, begin // PART_OF_RUN))
            self._walk(begin, count)
            begin += count
        self.updates += int(self._tally.visits.copy_to_host()[0])
        self._tally.visits.copy_to_device(np.zeros(1, np.int64))

    def _walk(self, begin: int, count: int) -> None:
        """Draw some deals and learn from them."""
        steps, threads = self.kernels, self.block_threads
        seed = np.uint64(self.seed % 2**64)
        steps.deal[grid(count, threads)](self._dealer, self._look, seed, begin, count, self._dealt)
        blocks, share = min(self.blocks, -(-count // self.in_group)), np.float32(self._host.share)
        steps.walk[blocks, threads](
            self._nodes, self._cells, self._dealt, count, self.in_group, share, self._notes, self._tally
        )

    def _discount(self, period: int) -> None:
        factors = self.weighting.factors(period)
        if factors is None:
            return
        self._give()
        tables: BucketTables = self._host
        for street, averages in enumerate(self._averages):
            first, size = int(tables.base[street]), int(tables.width[street]) * tables.counts[street]
            self.kernels.discount[grid(size, self.block_threads)](
                self._cells, first, first + size, averages, *(np.float32(x) for x in factors)
            )
        self.weight = exact_weight(self.weight * factors[0])


def _averages(tree: ActionTree, street: int) -> Array:
    """Which cells of a row are averages. bool [cells]"""
    averages = np.zeros(2 * int(tree.width[street]), np.bool_)
    for node in np.flatnonzero((tree.actor >= 0) & (tree.street == street)):
        at, count = 2 * int(tree.slot[node]), int(tree.count[node])
        averages[at + count : at + 2 * count] = True
    return averages
