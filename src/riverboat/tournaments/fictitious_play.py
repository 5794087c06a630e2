"""Fictitious play of a hand of push or fold, quickly: three players by a compiled loop, two as they are."""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.tournaments._kernels import stage as kernels
from riverboat.tournaments.hand_tables import turned_threes
from riverboat.tournaments.iteration import fictitious_play
from riverboat.tournaments.stage import Stage, told

RARE = 2e-3  # who goes all-in with a class no more often folds it
BUTTON, SMALL, BIG = range(3)


def play_hand(
    stage: Stage, strategy: Array, pay: Array, memory: int, iterations: int, until: float
) -> tuple[Array, float]:
    """A strategy after so many iterations, from one that counts for `memory` of them, and the largest gain left.

    `pay`: what outcomes are worth. float64 [seats, outcomes]
    """
    if stage.seats == 2:
        mean, gain = fictitious_play(stage, strategy, pay, memory, iterations, until)
        return _rounded(mean), gain
    tables, mean = stage.tables, strategy.copy()
    worth = Worth(stage, pay)
    now = worth.sums(mean)
    more, gains = np.zeros(mean.shape, np.float32), np.zeros(3)
    deals = kernels.Deals(tables.shares, tables.ways, tables.dead, tables.pairs.astype(np.float32))
    pays = kernels.Pays(worth.threes, worth.twos, worth.walk)
    learnt = kernels.Learnt(mean, mean.copy(), now, now.copy())
    kernels.fictitious_threes(deals, pays, learnt, memory, iterations, until, more, gains)
    return _rounded(mean), float(gains.max())


def _rounded(mean: Array) -> Array:
    mean[mean < RARE] = 0.0
    mean[mean > 1 - RARE] = 1.0
    return mean


class Worth:
    """Pay-offs as the loop takes them: what folding behind leaves everybody, and what the big blind's calls add to that."""

    def __init__(self, stage: Stage, pay: Array) -> None:
        self.tables = stage.tables
        first, self._pay = 0, {}
        for end in stage.ends:
            self._pay[end.line] = pay[:, first : (first := first + len(end.orders))]
        self.twos = np.zeros((kernels.KEPT, 3), np.float32)
        self.threes = np.zeros((3, 6, stage.tables.shares.shape[1]), np.float32)
        self.more = [
            self._shown("JJJ", seat) - told((0, 1, 2), (0, 1)) @ self._shown("JJF", seat) for seat in range(3)
        ]  # by order of the players
        for seat, more in enumerate(self.more):
            for turn, ascending in enumerate(turned_threes()):
                self.threes[seat, turn, ascending] = more
        # the big blind's class comes first in the loop, and last in the outcomes
        for seat, jf, fj in ((BUTTON, kernels.JF0, kernels.FJ0), (SMALL, kernels.JF1, kernels.FJ1)):
            self.twos[jf] = (self._shown("JFJ", seat) - self._alone("JFF", seat))[[1, 0, 2]]
            self.twos[fj] = (self._shown("FJJ", seat) - self._alone("FJF", seat))[[1, 0, 2]]
        self.twos[kernels.JF2] = self._shown("JFJ", BIG) - self._alone("JFF", BIG)
        self.twos[kernels.FJ2] = self._alone("FJF", BIG) - self._shown("FJJ", BIG)  # is taken away
        self.walk = np.array([self._alone("FFF", BUTTON), self._alone("FFF", SMALL)], np.float32)

    def _alone(self, end: str, seat: int) -> float:
        return float(self._pay[end][seat, 0])

    def _shown(self, end: str, seat: int) -> Array:
        return np.asarray(self._pay[end][seat])

    def sums(self, mean: Array) -> Array:
        """The loop's matrices for a strategy. float32 [KEPT, classes, classes]"""
        tables, met = self.tables, self.tables.met
        opens, calls, by_jf, by_fj, by_jj = (
            mean[line] for line in (kernels.OPEN, kernels.SB_J, kernels.BB_JF, kernels.BB_FJ, kernels.BB_JJ)
        )
        out = np.zeros((kernels.KEPT, *tables.pairs.shape), np.float32)
        three = tables.threes(2, by_jj)
        out[kernels.JJ0] = (np.tensordot(self._shown("JJF", BUTTON), met, 1) + three @ self.more[BUTTON]).T
        out[kernels.JJ1] = np.tensordot(self._shown("JJF", SMALL), met, 1) + three @ self.more[SMALL]
        out[kernels.JJ2] = tables.threes(1, calls) @ self.more[BIG]
        behind = tables.rows(by_jf), tables.rows(by_fj)  # by the classes of who folded, and of the opponent
        for seat, kinds in ((BUTTON, (kernels.JF0, kernels.FJ0)), (SMALL, (kernels.JF1, kernels.FJ1))):
            for kind, end, rows, turned in zip(
                kinds, ("JFF", "FJF"), behind, (seat == SMALL, seat == BUTTON), strict=True
            ):
                added = np.tensordot(self.twos[kind], rows, 1)
                out[kind] = self._alone(end, seat) * tables.pairs + (added.T if turned else added)
        out[kernels.JF2] = np.tensordot(self.twos[kernels.JF2], tables.rows(opens), 1)
        out[kernels.FJ2] = np.tensordot(self.twos[kernels.FJ2], tables.folded(opens) - met, 1)
        return out
