"""One walk on many threads, bitwise equal to one thread.

The tree is cut into subtrees. A first pass over the trunk collects the reach at every cut, the subtrees are
walked in any order (the kernels drop the GIL), and a second pass over the trunk uses their values. Each
node sees the same arithmetic whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core import cores
from riverboat.core.errors import check_threads
from riverboat.games.base import Array
from riverboat.solvers.tabular._kernels import traversal
from riverboat.strategies.tabular import Tree
from riverboat.trees.public import PublicTree

# Subtrees of at most this share of the tree are one task; fewer nodes than SMALL are not worth a thread.
TASKS = 64
SMALL = 20_000
_FULL_STEP = np.array([1.0, 1.0, -np.inf, 1.0, 1.0, 0.0])


class Walker:
    """Room for full walks of a tree, and threads to do them."""

    def __init__(self, tree: Tree, dtype: Any, threads: int = 1, kernels: Any = traversal) -> None:
        check_threads(threads)
        self.tree, self.dtype, self.kernels = tree, np.dtype(dtype), kernels
        small = len(tree.nodes.actor) < SMALL or not isinstance(tree, PublicTree)
        self.threads = 1 if small else min(threads, cores.available_cores())
        self.rng = np.zeros(1, np.uint64)
        none = np.zeros((0, 1), self.dtype)
        self.no_cuts = traversal.Cuts(np.zeros(0, np.int32), none, none, none)

    def frames(self, me: int) -> traversal.WalkFrames:
        """Fresh room for one walk of a player."""
        side = self.tree.sides[me]
        journal = len(self.tree.nodes.actor) if self.tree.shared else 0
        return traversal.frames(
            self.dtype.name,
            self.tree.depth + 1,
            self.tree.max_width,
            len(side.weight),
            len(side.weight_opp),
            journal,
            self.tree.table,
        )

    @cached_property
    def room(self) -> list[traversal.WalkFrames]:
        """Room for walks on this thread, one per player."""
        return [self.frames(p) for p in range(self.tree.players)]

    @cached_property
    def cuts(self) -> Array:
        """Roots of the subtrees that are walked apart, ascending. int32 [tasks]"""
        end, actor = self.tree.nodes.end, self.tree.nodes.actor
        limit = max(len(actor) // TASKS, 1)
        nodes: list[int] = []
        stack = [0]
        while stack:
            node = stack.pop()
            if end[node] - node <= limit:
                if end[node] - node > 1:  # a terminal stays in the trunk
                    nodes.append(node)
            else:
                stack.extend(self.tree.children(node))
        return np.array(sorted(nodes), np.int32)

    def walk(self, me: int, tables: traversal.RegretTables, mode: int, step: Array = _FULL_STEP) -> Array:
        """A full walk from the root: the value of each of the player's hands. float [hands]"""
        side, frames = self.tree.sides[me], self.room[me]
        frames.own[0] = 1
        frames.opp[0] = side.weight_opp
        if self.threads == 1:
            self._call(me, 0, tables, step, mode, frames, self.no_cuts)
            return np.array(frames.value[0])
        cuts = self._cut_room(me)
        collect = traversal.COLLECT if mode == traversal.LEARN else mode
        counted = frames.visits[0]
        self._call(me, 0, self._read_only(tables, mode), step, collect, frames, cuts)
        frames.visits[0] = counted - len(cuts.node)  # the trunk is walked again below, and cuts are roots of subtrees

        def subtree(task: int, room: traversal.WalkFrames) -> None:
            room.own[0], room.opp[0] = cuts.own[task], cuts.opp[task]
            self._call(me, int(cuts.node[task]), tables, step, mode, room, self.no_cuts)
            cuts.value[task] = room.value[0]

        self._spread(me, subtree, cuts.node)
        frames.own[0] = 1
        frames.opp[0] = side.weight_opp
        self._call(me, 0, tables, step, mode, frames, cuts)
        return np.array(frames.value[0])

    def _read_only(self, tables: traversal.RegretTables, mode: int) -> traversal.RegretTables:
        """In the first pass over the trunk nothing may be written."""
        return tables if mode == traversal.LEARN else tables._replace(delta=tables.delta[:0])

    def _cut_room(self, me: int) -> traversal.Cuts:
        side, count = self.tree.sides[me], len(self.cuts)
        own, opp = len(side.weight), len(side.weight_opp)
        value, reach = np.zeros((count, own), self.dtype), np.zeros((count, own), self.dtype)
        return traversal.Cuts(self.cuts, value, reach, np.zeros((count, opp), self.dtype))

    def _call(self, me: int, root: int, tables: Any, step: Array, mode: int, frames: Any, cuts: traversal.Cuts) -> None:
        side = self.tree.sides[me]
        task = traversal.Task(me, root, mode, False, self.tree.shared)
        span = traversal.Span(0, len(side.weight), 0, len(side.weight_opp))
        self.kernels.walk(self.tree.nodes, side, tables, step, task, span, self.rng, cuts, frames)

    def _spread(self, me: int, work: Any, cuts: Array) -> None:
        """Hand tasks to threads, the largest first."""
        size = self.tree.nodes.end[cuts] - cuts
        order = iter(np.argsort(-size, kind="stable").tolist())

        def run(room: traversal.WalkFrames) -> None:
            for task in order:
                work(task, room)

        rooms = self._rooms[me]
        done = [self._pool.submit(run, room) for room in rooms]
        for future in done:
            future.result()
        for room in rooms:
            self.room[me].visits[0] += room.visits[0]
            room.visits[0] = 0

    @cached_property
    def _rooms(self) -> list[list[traversal.WalkFrames]]:
        return [[self.frames(p) for _ in range(self.threads)] for p in range(self.tree.players)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat")
