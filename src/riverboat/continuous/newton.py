"""Newton's method on the equations of indifference: polishing, and finding thresholds without an order.

Between kinks (thresholds that meet, edges of the axis) the equations are linear or quadratic, so a few steps reach rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from riverboat.continuous.best_response import Evaluation, certify
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.linear_forms import Forms
from riverboat.continuous.profile import Profile
from riverboat.continuous.qualitative_model import Model, Order
from riverboat.core.arrays import Array

_STEPS = 60
_SOLVED = 1e-9  # of the pot: an equation that is solved
_SMALL = 1e-7  # of the axis: the step of a numerical derivative


def polish(profile: Profile, steps: int = _STEPS) -> Profile:
    """Thresholds at which players are indifferent, near those of a profile. Any game; derivatives are numerical.

    A threshold that influences nothing stays where it is. Where signals depend on each other, what a player expects jumps at
    the edges of the axis, and a threshold may lie at a jump without any indifference: those that are nearest to an edge are
    put there, one by one, until the others solve their equations.
    """
    profile, left = _descend(profile, np.ones(len(profile.cuts), bool), steps)
    if profile.game.signals.joint is None or left <= _SOLVED * profile.game.scale:
        return profile
    inner = profile.game.signals.edges[1:-1]
    free = np.ones(len(profile.cuts), bool)
    best, least = profile, certify(profile).epsilon
    while free.any() and len(inner) and left > _SOLVED * profile.game.scale:
        away = np.where(free, np.abs(profile.cuts[:, None] - inner).min(axis=1), np.inf)
        j = int(np.argmin(away))
        free[j] = False
        cuts = profile.cuts
        cuts[j] = inner[np.abs(cuts[j] - inner).argmin()]
        profile, left = _descend(profile.moved(_in_order(profile, cuts)), free, steps)
        epsilon = certify(profile).epsilon
        if epsilon < least:
            best, least = profile, epsilon
    return best


def _descend(profile: Profile, free: Array, steps: int) -> tuple[Profile, float]:
    """Newton's steps on the thresholds that are free; the best of the way, and the largest equation that is left."""
    game = profile.game
    low, high = game.signals.low, game.signals.high
    small = _SMALL * (high - low)
    cuts = profile.cuts
    if not free.any():
        return profile, 0.0
    gap = np.where(free, Evaluation(profile).indifference(), 0.0)
    for _ in range(steps):
        if np.abs(gap).max() <= 1e-15 * game.scale:
            break
        slope = np.zeros((len(cuts), len(cuts)))
        for j in map(int, np.flatnonzero(free)):
            side = small if _room(profile, cuts, j, small, high) else -small
            moved = cuts.copy()
            moved[j] += side
            there = Evaluation(profile.moved(_in_order(profile, moved))).indifference()
            slope[:, j] = np.where(free, there - gap, 0.0) / side
        step = np.linalg.lstsq(slope, -gap, rcond=1e-10)[0]
        size, better = 1.0, False
        while size > 1e-3 and not better:
            trial = _in_order(profile, np.clip(cuts + size * step, low, high))
            left = np.where(free, Evaluation(profile.moved(trial)).indifference(), 0.0)
            better = np.abs(left).max() < np.abs(gap).max()
            size /= 2
        if not better:
            break
        cuts, gap, profile = trial, left, profile.moved(trial)
    return profile, float(np.abs(gap).max())


def _room(profile: Profile, cuts: Array, j: int, small: float, high: float) -> bool:
    """Whether threshold j can move up without passing the next one of its situation."""
    at = 0
    for bands in profile.bands:
        n = len(bands.cuts)
        if j < at + n:
            return bool(cuts[j] + small < (cuts[j + 1] if j + 1 < at + n else high))
        at += n
    return False


def _in_order(profile: Profile, cuts: Array) -> Array:
    """Cuts of one situation must not pass each other."""
    out, at = cuts.copy(), 0
    for bands in profile.bands:
        n = len(bands.cuts)
        out[at : at + n] = np.maximum.accumulate(out[at : at + n])
        at += n
    return out


@dataclass(eq=False)
class Finder:
    """Thresholds of one model by its linear forms, for many distributions: forms are kept by order.

    The fast way for two players with independent signals: one step is a small linear system.
    """

    game: ContinuousGame
    model: Model
    kept: dict[Order, Forms] = field(default_factory=dict)

    def forms(self, order: Order) -> Forms:
        """Of the model with this order."""
        if order not in self.kept:
            self.kept[order] = Forms.make(self.game, self.model, order, rows=False)
        return self.kept[order]

    def find(self, game: ContinuousGame, start: Array, steps: int = 40) -> tuple[Array, float]:
        """Thresholds for the distributions of a game with the same tree, and the largest indifference that is left."""
        signals = game.signals
        low, high = signals.low, signals.high
        cuts, best, least = start.copy(), start, np.inf
        damp = 1.0
        for _ in range(steps):
            order = self.model.order_of(cuts)
            forms = self.forms(order)
            sorted_cuts = np.sort(cuts)
            ends = np.concatenate([[low], sorted_cuts, [high]])
            mass = np.stack([np.diff(signals.cdf(p, ends)) for p in (0, 1)])
            other = 1 - forms.players
            gap = np.einsum("jc,jc->j", forms.indifference, mass[other])
            worst = float(np.abs(gap).max(initial=0.0))
            if worst < least * (1 - 1e-3):
                best, least, damp = cuts, worst, min(1.0, damp * 2)
            else:
                damp /= 2
            if worst <= 1e-13 * game.scale or damp < 1e-2:
                break
            density = np.stack([signals.density(p, sorted_cuts) for p in (0, 1)])
            slope = (forms.indifference[:, :-1] - forms.indifference[:, 1:]) * density[other]
            step = np.linalg.lstsq(slope, -gap, rcond=1e-9)[0][forms.place]
            cuts = np.clip(cuts + damp * step, low, high)
            cuts = self._in_order(cuts)
        return best, least

    def _in_order(self, cuts: Array) -> Array:
        at = 0
        for moves in self.model.bands:
            n = len(moves) - 1
            cuts[at : at + n] = np.maximum.accumulate(cuts[at : at + n])
            at += n
        return cuts
