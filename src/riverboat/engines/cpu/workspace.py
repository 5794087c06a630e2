"""Memory of traversals, for each thread and player."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.deck import NUM_HANDS
from riverboat.compiled.atomics import is_abandoned, team_state_size
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core import resources
from riverboat.core.arrays import aligned_zeros
from riverboat.core.errors import check_threads
from riverboat.engines.cpu._kernels import board as kernels
from riverboat.engines.threads import ThreadTeam
from riverboat.games.boards.board_game import BettingTree
from riverboat.trees.boards import BoardTree

MAX_BLOCKS = 48  # blocks of boards that are summed together, independent of the number of threads


def payoff_scale(betting: BettingTree) -> float:
    """Return the factor from chips to internal payoffs.

    It keeps regrets of many iterations below two, the limit of 16-bit tables.
    """
    return 1.0 / (256.0 * max(float(np.abs(betting.payoffs).max(initial=0.0)), 1e-9))


class EngineWorkspace:
    """Scratch memory for traversals of a tree on some threads, and the tree's payoffs multiplied by `scale`."""

    def __init__(self, tree: BoardTree, dtype: Any, threads: int = 1) -> None:
        check_threads(threads)
        self.tree, self.dtype = tree, np.dtype(dtype)
        self.threads = min(threads, resources.available_cores())
        self.team = ThreadTeam(self.threads)
        self.scale = payoff_scale(tree.betting)
        self._team_memory: dict[int, kernels.TeamMemory] = {}

    @cached_property
    def vectors(self) -> list[tuple[kernels.TraversalVectors, kernels.TraversalVectors]]:
        """Vectors of each thread and player."""
        return [(self._allocate_vectors(0), self._allocate_vectors(1)) for _ in range(self.threads)]

    def team_memory(self, root_thread: int) -> kernels.TeamMemory:
        """Return the memory that a team shares; thread `root_thread` traverses the first street.

        It is new after a thread of the team has failed.
        """
        memory = self._team_memory.get(root_thread)
        if memory is None or is_abandoned(memory.state):
            f = self.tree.forest
            deals = int(f.deal_at[f.batch_at[2]] - f.deal_at[f.batch_at[1]]) if self.tree.streets > 1 else 0
            first, second = self.vectors[root_thread]
            self._team_memory[root_thread] = kernels.TeamMemory(
                state=aligned_zeros(team_state_size(self.threads), np.int64),
                call=np.zeros(4, np.int64),
                steps=np.zeros((kernels.MAX_STEPS, 6)),
                own=(first.dealt_own, second.dealt_own),
                opp=(first.dealt_opp, second.dealt_opp),
                value=(first.exit_value, second.exit_value),
                block_value=aligned_zeros(MAX_BLOCKS * deals * (self.tree.stride + 1) * SIMD_WIDTH, self.dtype),
                cycles=aligned_zeros(self.threads * 8, np.int64).reshape(self.threads, 8),
            )
        return self._team_memory[root_thread]

    def _allocate_vectors(self, me: int) -> kernels.TraversalVectors:
        tree, seat, stride, dtype = self.tree, self.tree.seats[me], self.tree.stride, self.dtype
        deals = int(tree.forest.deal_at[-1]) * (stride + 1) * SIMD_WIDTH
        pay = aligned_zeros(seat.pay.size, dtype).reshape(seat.pay.shape)
        pay[:] = seat.pay * self.scale
        return kernels.TraversalVectors(
            own=aligned_zeros(seat.rows[0] * stride, dtype),
            sigma=aligned_zeros(seat.rows[0] * stride, dtype),
            opp=aligned_zeros(seat.rows[1] * stride, dtype),
            value=aligned_zeros(seat.rows[2] * stride, dtype),
            reach=aligned_zeros((stride + 1) * SIMD_WIDTH, dtype),
            terminal_value=aligned_zeros((stride + 1) * SIMD_WIDTH, dtype),
            fold_value=aligned_zeros((stride + 1) * SIMD_WIDTH, dtype),
            held=aligned_zeros(52 * SIMD_WIDTH, dtype),
            beaten=aligned_zeros(2 * NUM_HANDS * SIMD_WIDTH, dtype),
            blocked=aligned_zeros(4 * NUM_HANDS * SIMD_WIDTH, dtype),
            dealt_own=aligned_zeros(deals, dtype),
            dealt_opp=aligned_zeros(deals, dtype),
            exit_value=aligned_zeros(deals, dtype),
            pay=pay,
            child_offsets=np.zeros(kernels.MAX_NODE_ACTIONS, np.int64),
            weight=np.zeros(kernels.MAX_NODE_ACTIONS, dtype),
            board=np.zeros(tree.streets, np.int64),
            batch=np.zeros(tree.streets, np.int64),
            next=np.zeros(tree.streets, np.int64),
        )
