"""Fast fictitious play of one push-or-fold hand: a compiled loop for three players, the generic loop for two."""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.tournaments._kernels import push_fold as kernels
from riverboat.tournaments.hand_tables import permuted_triple_orders
from riverboat.tournaments.stage_game import PushFoldStage, map_orders
from riverboat.tournaments.stochastic_games import fictitious_play

MIN_CLASS_FREQUENCY = 2e-3  # a class that goes all-in less often than this always folds
BUTTON, SMALL_BLIND, BIG_BLIND = range(3)


def solve_hand(
    stage: PushFoldStage, strategy: Array, payoffs: Array, memory: int, iterations: int, until: float
) -> tuple[Array, float]:
    """Solve one hand by fictitious play until no player gains more than `until`; return strategy and largest gain.

    The initial strategy counts as `memory` iterations. `payoffs`: float64 [seats, outcomes]. All-in frequencies within
    `MIN_CLASS_FREQUENCY` of 0 or 1 are rounded in the result, not in the gain.
    """
    if stage.seats == 2:
        mean, gain = fictitious_play(stage, strategy, payoffs, memory, iterations, until)
        return _drop_rare_classes(mean), gain
    tables, mean = stage.tables, strategy.copy()
    three_player = ThreePlayerPayoffs(stage, payoffs)
    matrices = three_player.decision_matrices(mean)
    advantages, gains = np.zeros(mean.shape, np.float32), np.zeros(3)
    by_folded, pairs = tables.pair_orders_by_folded_class, tables.pair_probabilities.astype(np.float32)
    deals = kernels.ClassDealArrays(tables.triple_orders, tables.triple_probabilities, by_folded, pairs)
    payoff_arrays = kernels.StagePayoffArrays(three_player.threes, three_player.twos, three_player.walk)
    state = kernels.FictitiousPlayState(mean, mean.copy(), matrices, matrices.copy())
    kernels.fictitious_play_three_players(deals, payoff_arrays, state, memory, iterations, until, advantages, gains)
    return _drop_rare_classes(mean), float(gains.max())


def _drop_rare_classes(mean: Array) -> Array:
    mean[mean < MIN_CLASS_FREQUENCY] = 0.0
    mean[mean > 1 - MIN_CLASS_FREQUENCY] = 1.0
    return mean


class ThreePlayerPayoffs:
    """Payoffs of a three-player stage in the layout of the kernel: what a call of the big blind changes, by order."""

    def __init__(self, stage: PushFoldStage, payoffs: Array) -> None:
        self.tables = stage.tables
        self._payoffs = {terminal.line: payoffs[:, terminal.rows] for terminal in stage.terminals}
        self.twos = np.zeros((kernels.NUM_MATRICES, 3), np.float32)
        self.threes = np.zeros((3, 6, stage.tables.triple_orders.shape[1]), np.float32)
        to_pairs = map_orders((0, 1, 2), (0, 1))  # call gains: [13], by order of the players
        self.call_gains = [self._payoffs["JJJ"][seat] - to_pairs @ self._payoffs["JJF"][seat] for seat in range(3)]
        for seat, gain in enumerate(self.call_gains):
            for turn, ascending in enumerate(permuted_triple_orders()):
                self.threes[seat, turn, ascending] = gain
        # the big blind's class is first in the loop, and last in the outcomes
        for seat, jf, fj in ((BUTTON, kernels.JF0, kernels.FJ0), (SMALL_BLIND, kernels.JF1, kernels.FJ1)):
            self.twos[jf] = (self._payoffs["JFJ"][seat] - self._payoffs["JFF"][seat, 0])[[1, 0, 2]]
            self.twos[fj] = (self._payoffs["FJJ"][seat] - self._payoffs["FJF"][seat, 0])[[1, 0, 2]]
        self.twos[kernels.JF2] = self._payoffs["JFJ"][BIG_BLIND] - self._payoffs["JFF"][BIG_BLIND, 0]
        self.twos[kernels.FJ2] = self._payoffs["FJF"][BIG_BLIND, 0] - self._payoffs["FJJ"][BIG_BLIND]  # subtracted
        self.walk = self._payoffs["FFF"][[BUTTON, SMALL_BLIND], 0].astype(np.float32)

    def decision_matrices(self, mean: Array) -> Array:
        """Compute the kernel's decision matrices of a strategy anew. float32 [NUM_MATRICES, classes, classes]"""
        tables, pair_orders = self.tables, self.tables.pair_orders
        opens, calls, by_jf, by_fj, by_jj = (
            mean[line] for line in (kernels.OPEN, kernels.SB_J, kernels.BB_JF, kernels.BB_FJ, kernels.BB_JJ)
        )
        out = np.zeros((kernels.NUM_MATRICES, *tables.pair_probabilities.shape), np.float32)
        three = tables.triple_orders_with_range(2, by_jj)
        button, small_blind = (
            np.tensordot(self._payoffs["JJF"][seat], pair_orders, 1) + three @ self.call_gains[seat]
            for seat in (BUTTON, SMALL_BLIND)
        )
        out[kernels.JJ0], out[kernels.JJ1] = button.T, small_blind
        out[kernels.JJ2] = tables.triple_orders_with_range(1, calls) @ self.call_gains[BIG_BLIND]
        for by, end, kinds, transposed in (  # `orders`: [3, class of the folded player, of the opponent]
            (by_jf, "JFF", (kernels.JF0, kernels.JF1), SMALL_BLIND),
            (by_fj, "FJF", (kernels.FJ0, kernels.FJ1), BUTTON),
        ):
            orders = tables.folded_orders_with_range(by)
            for seat, kind in zip((BUTTON, SMALL_BLIND), kinds, strict=True):
                added = np.tensordot(self.twos[kind], orders, 1)
                folded = self._payoffs[end][seat, 0] * tables.pair_probabilities
                out[kind] = folded + (added.T if seat == transposed else added)
        out[kernels.JF2] = np.tensordot(self.twos[kernels.JF2], tables.folded_orders_with_range(opens), 1)
        difference = tables.pair_orders_with_folded_range(opens) - pair_orders
        out[kernels.FJ2] = np.tensordot(self.twos[kernels.FJ2], difference, 1)
        return out
