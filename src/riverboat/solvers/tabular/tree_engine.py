"""Traversals of a tree on several threads, bitwise equal to one thread.

The tree is cut into subtrees. A first pass over the trunk collects the reach at every cut. Then the subtrees are
traversed in any order (the kernels release the GIL). A second pass over the trunk uses their values. Each node sees the
same arithmetic for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core import resources
from riverboat.core.errors import check_threads
from riverboat.engines.threads import ThreadTeam
from riverboat.games.base import Array
from riverboat.solvers.tabular._kernels import traversal
from riverboat.strategies.tabular import Tree
from riverboat.trees.public import PublicTree

# A task is a subtree of at most 1 / TASKS_PER_TREE of the nodes; smaller trees than MIN_PARALLEL_NODES use one thread.
TASKS_PER_TREE = 64
MIN_PARALLEL_NODES = 20_000
_FULL_STEP = np.array([1.0, 1.0, -np.inf, 1.0, 1.0, 0.0])  # a step without discounts, floor or rounding bound


class TreeEngine:
    """Workspace and threads for full traversals of a tree; `sides` may replace the tree's arrays of the players."""

    def __init__(
        self, tree: Tree, dtype: Any, threads: int = 1, kernels: Any = traversal, sides: Sequence[Any] | None = None
    ) -> None:
        check_threads(threads)
        self.tree, self.dtype, self.kernels = tree, np.dtype(dtype), kernels
        self._sides = sides
        small = len(tree.nodes.actor) < MIN_PARALLEL_NODES or not isinstance(tree, PublicTree)
        self.threads = 1 if small else min(threads, resources.available_cores())
        self._team = ThreadTeam(self.threads)
        self.rng = np.zeros(1, np.uint64)
        none = np.zeros((0, 1), self.dtype)
        self.no_cuts = traversal.SubtreeCuts(np.zeros(0, np.int32), none, none, none)

    def make_frames(self, me: int) -> traversal.TraversalFrames:
        """Allocate the frames of one traversal for a player."""
        side = self.tree.player_arrays[me]
        journal = len(self.tree.nodes.actor) if self.tree.shared else 0
        sizes = self.tree.depth + 1, self.tree.max_width, len(side.weight), len(side.weight_opp)
        return traversal.make_frames(self.dtype.name, *sizes, journal, self.tree.table_size)

    @cached_property
    def player_frames(self) -> list[traversal.TraversalFrames]:
        """Frames for traversals on the calling thread, one per player."""
        return [self.make_frames(p) for p in range(self.tree.players)]

    @cached_property
    def cuts(self) -> Array:
        """Roots of the subtrees that are separate tasks, ascending. int32 [tasks]"""
        end, actor = self.tree.nodes.end, self.tree.nodes.actor
        limit = max(len(actor) // TASKS_PER_TREE, 1)
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

    def traverse(self, me: int, tables: traversal.RegretTables, mode: int, step: Array = _FULL_STEP) -> Array:
        """Traverse the tree and return the counterfactual values of player `me`'s hands. float [hands]

        `mode` is UPDATE (an iteration of CFR with the numbers in `step`), EVALUATE or RESPOND.
        """
        side, frames = self.tree.player_arrays[me], self.player_frames[me]
        frames.own[0] = 1
        frames.opp[0] = side.weight_opp
        if self.threads == 1:
            self._traverse_from(me, 0, tables, step, mode, frames, self.no_cuts)
            return np.array(frames.value[0])
        count, own, opp = len(self.cuts), len(side.weight), len(side.weight_opp)
        vectors = (np.zeros((count, hands), self.dtype) for hands in (own, own, opp))
        cuts = traversal.SubtreeCuts(self.cuts, *vectors)
        # The first pass must not write to the tables.
        collect = traversal.COLLECT_REACH if mode == traversal.UPDATE else mode
        read_only = tables if mode == traversal.UPDATE else tables._replace(delta=tables.delta[:0])
        visits = frames.visits[0]
        self._traverse_from(me, 0, read_only, step, collect, frames, cuts)
        # The second pass counts the trunk, the tasks count the roots at the cuts.
        frames.visits[0] = visits - len(cuts.node)

        all_frames = self.worker_frames[me]
        order = iter(np.argsort(cuts.node - self.tree.nodes.end[cuts.node], kind="stable").tolist())  # largest first

        def run(thread: int) -> None:
            task_frames = all_frames[thread]
            for task in order:
                task_frames.own[0], task_frames.opp[0] = cuts.own[task], cuts.opp[task]
                self._traverse_from(me, int(cuts.node[task]), tables, step, mode, task_frames, self.no_cuts)
                cuts.value[task] = task_frames.value[0]

        self._team.run(run)
        for task_frames in all_frames:
            frames.visits[0] += task_frames.visits[0]
            task_frames.visits[0] = 0
        frames.own[0] = 1
        frames.opp[0] = side.weight_opp
        self._traverse_from(me, 0, tables, step, mode, frames, cuts)
        return np.array(frames.value[0])

    def _traverse_from(
        self, me: int, root: int, tables: Any, step: Array, mode: int, frames: Any, cuts: traversal.SubtreeCuts
    ) -> None:
        side = self.tree.player_arrays[me] if self._sides is None else self._sides[me]
        task = traversal.TraversalTask(me, root, mode, False, self.tree.shared)
        span = traversal.HandSpan(0, len(side.weight), 0, len(side.weight_opp))
        self.kernels.traverse(self.tree.nodes, side, tables, step, task, span, self.rng, cuts, frames)

    @cached_property
    def worker_frames(self) -> list[list[traversal.TraversalFrames]]:
        return [[self.make_frames(p) for _ in range(self.threads)] for p in range(self.tree.players)]
