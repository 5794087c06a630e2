"""Room for walks: the vectors of one walk, for each thread and player, and the threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.compiled.simd import LANES
from riverboat.core import cores
from riverboat.core.errors import check_threads
from riverboat.engines.cpu._kernels import board as kernels
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.trees.boards import BoardTree

BLOCKS = 48  # of boards that are summed together, whatever the number of threads


def aligned(count: int, dtype: Any) -> Array:
    """Zeros that begin where a vector register's worth of memory begins: crossing that line costs."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count * size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + count * size].view(dtype)


def scale_of(betting: BettingTree) -> float:
    """Pay-offs times this are what walks see: regrets of many iterations stay below two, where 16-bit tables end."""
    return 1.0 / (256.0 * max(float(np.abs(betting.pay).max(initial=0.0)), 1e-9))


class Rooms:
    """Room for walks of a tree on some threads. Pay-offs are kept here as walks see them, times `scale`."""

    def __init__(self, tree: BoardTree, dtype: Any, threads: int = 1) -> None:
        check_threads(threads)
        self.tree, self.dtype = tree, np.dtype(dtype)
        self.threads = min(threads, cores.available_cores())
        self.scale = scale_of(tree.betting)
        self._outs: dict[int, Array] = {}

    @cached_property
    def frames(self) -> list[tuple[kernels.WalkVectors, kernels.WalkVectors]]:
        """For each thread and player."""
        return [(self._frames(0), self._frames(1)) for _ in range(self.threads)]

    @cached_property
    def dealt(self) -> list[tuple[tuple[Array, Array], tuple[Array, Array]]]:
        """What others copy from the room of the thread that opens the root: each array that is handed over costs time."""
        return [((a.dealt_own, a.dealt_opp), (b.dealt_own, b.dealt_opp)) for a, b in self.frames]

    def out(self, home: int) -> Array:
        """Room for what the blocks of boards gain, of the thread that opens the root: others that share it write there."""
        if home not in self._outs:
            f = self.tree.forest
            deals = int(f.deal_at[f.batch_at[2]] - f.deal_at[f.batch_at[1]]) if self.tree.streets > 1 else 0
            self._outs[home] = aligned(BLOCKS * deals * (self.tree.stride + 1) * LANES, self.dtype)
        return self._outs[home]

    def _frames(self, me: int) -> kernels.WalkVectors:
        tree, seat, stride, dtype = self.tree, self.tree.seats[me], self.tree.stride, self.dtype
        deals = int(tree.forest.deal_at[-1]) * (stride + 1) * LANES
        pay = aligned(seat.pay.size, dtype).reshape(seat.pay.shape)
        pay[:] = seat.pay * self.scale
        return kernels.WalkVectors(
            own=aligned(seat.rows[0] * stride, dtype),
            sigma=aligned(seat.rows[0] * stride, dtype),
            opp=aligned(seat.rows[1] * stride, dtype),
            value=aligned(seat.rows[2] * stride, dtype),
            reach=aligned((stride + 1) * LANES, dtype),
            worth=aligned((stride + 1) * LANES, dtype),
            forgone=aligned((stride + 1) * LANES, dtype),
            held=aligned(52 * LANES, dtype),
            beaten=aligned(2 * HANDS * LANES, dtype),
            blocked=aligned(4 * HANDS * LANES, dtype),
            dealt_own=aligned(deals, dtype),
            dealt_opp=aligned(deals, dtype),
            gained=aligned(deals, dtype),
            pay=pay,
            kids=np.zeros(kernels.MAX_WIDTH, np.int64),
            weight=np.zeros(kernels.MAX_WIDTH, dtype),
            board=np.zeros(tree.streets, np.int64),
            next=np.zeros(tree.streets, np.int64),
        )

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max(self.threads - 1, 1), thread_name_prefix="riverboat")

    def on_all(self, task: Callable[[int], None]) -> None:
        """Do a task on every thread, told its number."""
        others = [self._pool.submit(task, k) for k in range(1, self.threads)]
        task(0)
        for other in others:
            other.result()
