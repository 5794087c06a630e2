"""Walks over a `BoardTree` from Python: room, threads, and what is handed to the compiled loops."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.errors import InputError, check_threads
from riverboat.games.base import Array
from riverboat.lanes import LANES
from riverboat.trees.boards import BoardTree
from riverboat.walks import _board_kernels as kernels
from riverboat.walks._node_kernels import EVALUATE as EVALUATE
from riverboat.walks._node_kernels import LEARN as LEARN
from riverboat.walks._node_kernels import RESPOND as RESPOND
from riverboat.walks._node_kernels import Tables as Tables

BLOCKS = 48  # of boards that are summed together, whatever the number of threads
NO_STEP = np.zeros((1, 6))
FROM_ROOT = np.array([-1, -1, -1])


def aligned(count: int, dtype: Any) -> Array:
    """Zeros that begin where a vector register's worth of memory begins: crossing that line costs."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count * size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + count * size].view(dtype)


class BoardWalker:
    """Room for walks of a tree, and threads to do them. Values come in chips, whatever scale walks use inside."""

    def __init__(self, tree: BoardTree, dtype: Any = np.float32, threads: int = 1, loops: Any = kernels) -> None:
        check_threads(threads)
        if int(tree.forest.width.max(initial=0)) > kernels.MAX_WIDTH:
            raise InputError(f"{tree.name}: {tree.forest.width.max()} moves at one node, more than {kernels.MAX_WIDTH}")
        self.tree, self.dtype, self.loops = tree, np.dtype(dtype), loops
        self.threads = min(threads, os.cpu_count() or 1) if tree.streets > 1 else 1
        self.stride = np.uint64(tree.stride)
        self.parents = np.array(tree.deals.parents, np.int32)
        # pay-offs and reach are scaled so that regrets of many iterations stay below two (16-bit tables end there)
        largest = max(float(np.abs(tree.betting.pay).max(initial=0.0)), 1e-9)
        self.scale = 1.0 / (256.0 * largest)
        self.mass = tuple(float(np.sum(w)) for w in tree.game.weights)
        self.weights = tuple(tree.weights[p] / self.mass[p] for p in (0, 1))
        children = int(tree.boards.child[1]) - int(tree.boards.child[0]) if tree.streets > 1 else 0
        count = min(BLOCKS, children)
        first = tree.street_at[1] if tree.streets > 1 else 0
        self.blocks = (first + np.arange(count + 1) * children // max(count, 1)).astype(np.int32)
        self.out = aligned(count * self._deals(1) * (tree.stride + 1) * LANES, self.dtype)
        self.counter = np.zeros(1, np.int64)

    def _deals(self, street: int) -> int:
        """Deals that lead to a street, sixteen roots each."""
        f = self.tree.forest
        return (
            int(f.deal_at[f.batch_at[street + 1]] - f.deal_at[f.batch_at[street]]) if street < self.tree.streets else 0
        )

    def frames(self, me: int) -> kernels.Frames:
        """Fresh room for walks of one player."""
        tree, seat, stride = self.tree, self.tree.seats[me], self.tree.stride
        hands = int(tree.hand_counts.max())
        deals = int(tree.forest.deal_at[-1]) * (stride + 1) * LANES
        pay = aligned(seat.pay.size, self.dtype).reshape(seat.pay.shape)
        pay[:] = seat.pay * self.scale
        return kernels.Frames(
            own=aligned(seat.rows[0] * stride, self.dtype),
            sigma=aligned(seat.rows[0] * stride, self.dtype),
            opp=aligned(seat.rows[1] * stride, self.dtype),
            value=aligned(seat.rows[2] * stride, self.dtype),
            reach=aligned((stride + 1) * LANES, self.dtype),
            worth=aligned((stride + 1) * LANES, self.dtype),
            sums=aligned((hands + 1) * LANES, self.dtype),
            cards=aligned((2 * hands + 53) * LANES, self.dtype),
            dealt_own=aligned(deals, self.dtype),
            dealt_opp=aligned(deals, self.dtype),
            gained=aligned(deals, self.dtype),
            pay=pay,
            kids=np.zeros(kernels.MAX_WIDTH, np.int64),
            board=np.zeros(tree.streets, np.int64),
            next=np.zeros(tree.streets, np.int64),
        )

    @cached_property
    def rooms(self) -> list[tuple[kernels.Frames, kernels.Frames]]:
        """Room for each thread."""
        return [(self.frames(0), self.frames(1)) for _ in range(self.threads)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max(self.threads - 1, 1), thread_name_prefix="riverboat")

    def _work(
        self, tables: Any, steps: Array, mode: int, players: tuple[int, int], phases: Any, thread: int = 0,
        place: Array = FROM_ROOT,
    ) -> None:  # fmt: skip
        t = self.tree
        self.loops.work(
            t.forest, t.seats, t.boards, self.parents, self.weights, self.stride, tables, steps, mode,
            *players, *phases, self.blocks, self.counter, self.out, self.rooms[thread], self.rooms[0], place,
        )  # fmt: skip

    def learn(self, tables: Any, steps: Array) -> None:
        """Iterations in which the players take turns."""
        if self.threads == 1:
            self._work(tables, steps, LEARN, (0, 2), (kernels.OPEN, kernels.WHOLE))
            return
        for i in range(len(steps)):
            for me in (0, 1):
                self._threaded(tables, steps[i : i + 1], LEARN, me)

    def warm(self, tables: Any) -> None:
        """Compile, or load what was compiled."""
        self._work(tables, NO_STEP[:0], LEARN, (0, 2), (kernels.OPEN, kernels.WHOLE))

    def _threaded(self, tables: Any, step: Array, mode: int, me: int) -> None:
        players = me, me + 1
        self._work(tables, step, mode, players, (kernels.OPEN, kernels.SHARE))
        share = (kernels.SHARE, kernels.CLOSE)
        others = [self._pool.submit(self._work, tables, step, mode, players, share, k) for k in range(1, self.threads)]
        self._work(tables, step, mode, players, share)
        for other in others:
            other.result()
        self._work(tables, step, mode, players, (kernels.CLOSE, kernels.WHOLE))

    def values(self, tables: Any, mode: int, me: int) -> Array:
        """What each of a player's rows wins from the root, times the weight of the opponent's hands. float64 [rows]"""
        assert mode in (EVALUATE, RESPOND)
        if self.threads == 1:
            self._work(tables, NO_STEP, mode, (me, me + 1), (kernels.OPEN, kernels.WHOLE))
        else:
            self._threaded(tables, NO_STEP, mode, me)
        at, rows = int(self.tree.seats[me].value[0]), int(self.tree.boards.rows[0, me])
        room = self.rooms[0][me]
        return np.asarray(room.value[at : at + rows], float) * (self.mass[1 - me] / self.scale)

    def earnings(self, tables: Any, mode: int, me: int) -> float:
        """What a player wins on average, in chips."""
        tree = self.tree
        values = self.values(tables, mode, me)
        return float(np.sum(values * tree.weights[me] * tree.row_hands[me])) / tree.total

    def values_below(self, tables: Any, me: int, board: int, node: int, reach: Array) -> Array:
        """What each of a player's rows wins from a node on, and after each of its moves, when both follow the table.

        `reach` weighs the opponent's rows there. Values are sums over them, in chips. float64 [1 + moves, rows]
        """
        tree, seat, f = self.tree, self.tree.seats[me], self.tree.forest
        room = self.rooms[0][me]
        room.opp[:] = 0
        room.own[:] = 0
        largest = max(float(reach.max(initial=0.0)), 1e-300)
        at = int(seat.opp[node])
        room.opp[at : at + len(reach)] = reach / largest
        place = np.array([board, tree.street_of(board), node])
        self._work(tables, NO_STEP, EVALUATE, (me, me + 1), (kernels.OPEN, kernels.WHOLE), place=place)
        rows = int(tree.boards.rows[board, me])
        kids = [node]
        child = node + 1
        for _ in range(int(f.width[node])):
            kids.append(child)
            child = int(f.end[child])
        found = [room.value[int(seat.value[n]) :][:rows] for n in kids]
        return np.array(found, float) * (largest / self.scale)
