"""Newton's method on the indifference equations: polish thresholds, and find thresholds of a model without an order.

Between kinks (coinciding thresholds, edges of the axis) the equations are linear or quadratic, so a few steps converge
to rounding errors.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from riverboat.continuous.best_response import ProfileEvaluation, certify
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.programs import build_linear_forms
from riverboat.continuous.strategies import QualitativeModel, ThresholdProfile, sort_cuts
from riverboat.core.arrays import Array

_MAX_STEPS = 60
_RESIDUAL_TOLERANCE = 1e-9  # share of the pot below which an equation counts as solved
_DERIVATIVE_STEP = 1e-7  # step of a numerical derivative, as a share of the axis


def polish(profile: ThresholdProfile) -> ThresholdProfile:
    """Move thresholds to nearby points of indifference, with numerical derivatives; works for any game.

    A threshold that no equation depends on stays unchanged. With correlated signals, action values jump at the edges of
    the axis, and a threshold may lie at a jump without indifference. Then the threshold nearest to an edge is fixed
    there, one after the other, until the remaining equations are solved.
    """
    free = np.ones(len(profile.cuts), bool)
    profile, residual = _newton_steps(profile, free)
    if profile.game.signals.joint is None or residual <= _RESIDUAL_TOLERANCE * profile.game.scale:
        return profile
    inner = profile.game.signals.edges[1:-1]
    best, least_epsilon = profile, certify(profile).epsilon
    while free.any() and len(inner) and residual > _RESIDUAL_TOLERANCE * profile.game.scale:
        j = int(np.argmin(np.where(free, np.abs(profile.cuts[:, None] - inner).min(axis=1), np.inf)))
        free[j] = False
        cuts = profile.cuts
        cuts[j] = inner[np.abs(cuts[j] - inner).argmin()]
        profile, residual = _newton_steps(_with_sorted_cuts(profile, cuts), free)
        epsilon = certify(profile).epsilon
        if epsilon < least_epsilon:
            best, least_epsilon = profile, epsilon
    return best


def _newton_steps(profile: ThresholdProfile, free: Array) -> tuple[ThresholdProfile, float]:
    """Run damped Newton steps on the free thresholds; return the best profile and its largest residual.

    free: bool [thresholds]; the others stay fixed, and their equations are ignored
    """
    game, low, high = profile.game, profile.game.signals.low, profile.game.signals.high
    small = _DERIVATIVE_STEP * (high - low)
    cuts, situations = profile.cuts, [s for s, _, _ in profile.thresholds()]
    if not free.any():
        return profile, 0.0
    gap = np.where(free, ProfileEvaluation(profile).indifference_gaps(), 0.0)
    for _ in range(_MAX_STEPS):
        if np.abs(gap).max() <= 1e-15 * game.scale:
            break
        slope = np.zeros((len(cuts), len(cuts)))
        for j in map(int, np.flatnonzero(free)):
            is_last = j + 1 == len(cuts) or situations[j + 1] != situations[j]
            delta = small if cuts[j] + small < (high if is_last else cuts[j + 1]) else -small
            moved = cuts.copy()
            moved[j] += delta
            shifted = ProfileEvaluation(_with_sorted_cuts(profile, moved)).indifference_gaps()
            slope[:, j] = np.where(free, shifted - gap, 0.0) / delta
        step = np.linalg.lstsq(slope, -gap, rcond=1e-10)[0]
        size, better = 1.0, False
        while size > 1e-3 and not better:
            trial = _with_sorted_cuts(profile, np.clip(cuts + size * step, low, high))
            trial_gap = np.where(free, ProfileEvaluation(trial).indifference_gaps(), 0.0)
            better = np.abs(trial_gap).max() < np.abs(gap).max()
            size /= 2
        if not better:
            break
        cuts, gap, profile = trial.cuts, trial_gap, trial
    return profile, float(np.abs(gap).max())


def _with_sorted_cuts(profile: ThresholdProfile, cuts: Array) -> ThresholdProfile:
    model = QualitativeModel("", tuple(bands.moves for bands in profile.bands))
    return model.profile(profile.game, sort_cuts(model.bands, cuts))


class ThresholdFinder:
    """Newton's method for the thresholds of one model, for any number of signal distributions.

    It is the fast path for two players with independent signals: one step solves a small linear system. The linear
    forms are cached by the order of the thresholds.
    """

    def __init__(self, game: ContinuousGame, model: QualitativeModel) -> None:
        self.model = model
        self.linear_forms = cache(partial(build_linear_forms, game, model, rows=False))

    def find(self, game: ContinuousGame, start: Array, steps: int = 40) -> tuple[Array, float]:
        """Find thresholds for the distributions of a game with the same tree; return them and the largest residual."""
        signals = game.signals
        low, high = signals.low, signals.high
        cuts, best, least_residual, damp = start, start, np.inf, 1.0
        for _ in range(steps):
            forms = self.linear_forms(self.model.order_of(cuts))
            sorted_cuts = np.sort(cuts)
            ends = np.concatenate([[low], sorted_cuts, [high]])
            mass = np.stack([np.diff(signals.cdf(p, ends)) for p in (0, 1)])
            other = 1 - forms.players
            gap = np.einsum("jc,jc->j", forms.indifference, mass[other])
            residual = float(np.abs(gap).max(initial=0.0))
            if residual < least_residual * (1 - 1e-3):
                best, least_residual, damp = cuts, residual, min(1.0, damp * 2)
            else:
                damp /= 2
            if residual <= 1e-13 * game.scale or damp < 1e-2:
                break
            density = np.stack([signals.density(p, sorted_cuts) for p in (0, 1)])
            slope = (forms.indifference[:, :-1] - forms.indifference[:, 1:]) * density[other]
            step = np.linalg.lstsq(slope, -gap, rcond=1e-9)[0][forms.order_index]
            cuts = sort_cuts(self.model.bands, np.clip(cuts + damp * step, low, high))
        return best, least_residual
