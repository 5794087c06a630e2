"""Tests that rules may be made of, and the mix of moves that fits some decisions best.

Thresholds of numbers are quantiles, rounded to what a person can keep in mind; levels and choices are all that occur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.arrays import Array
from riverboat.explain.decisions import Decisions
from riverboat.strategies.rule_list import CHOICE, FLAG, LEVEL, SHARE, Condition, Feature, Move, stand_in

QUANTILES = 20
MOST_LEVELS = 60
SMALLEST = 0.005  # a move that is played less often by a rule is left out of it
MISSED = 0.3  # what another most likely move counts beside the squared distance


def tests_of(decisions: Decisions) -> list[Condition]:
    """All single tests that tell some of the decisions from others, each with its contrary."""
    tests = []
    for feature in decisions.features:
        x = decisions.columns[feature.name]
        for value in _values(feature, x, decisions.weight):
            test = Condition(feature, value)
            hit = test.holds(decisions.columns)
            if hit.any() and not hit.all():
                tests += [test, test._replace(wanted=False)]
    return tests


def _values(feature: Feature, x: Array, weight: Array) -> list[float]:
    if feature.kind == FLAG:
        return [0.5]
    there, inverse = np.unique(x, return_inverse=True)
    if feature.kind in (LEVEL, CHOICE):
        # Of many, those that come up most often.
        often = np.argsort(-np.bincount(inverse, weight), kind="stable")[:MOST_LEVELS]
        # The lowest level is told from what has none by other features: the made hand before the flop by the street.
        least = 0 if feature.kind == CHOICE else 1
        return sorted(v for v in there[often].tolist() if v >= least)
    if len(there) <= QUANTILES:
        middles = there[1:].tolist()
    else:
        order = np.argsort(x, kind="stable")
        at = np.searchsorted(np.cumsum(weight[order]), np.arange(1, QUANTILES) / QUANTILES * weight.sum())
        middles = x[order][np.minimum(at, len(x) - 1)].tolist()
    step = 0.01 if feature.kind == SHARE else _step(float(np.ptp(x)))
    return sorted({round(round(v / step) * step, 10) for v in middles})


def _step(spread: float) -> float:
    """A hundredth of the spread, or what is next to it among 1, 2, 5, 10, …"""
    if not spread > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(spread / 100))
    return float(min((1, 2, 5, 10), key=lambda k: abs(k * power - spread / 100)) * power)


@dataclass(frozen=True, eq=False)
class Sums:
    """What the error of a mix is made of, so that sums over rows are enough to find the best mix and its error.

    The error is squared distance, and a share of the weight where the most likely move is another one. A column of moves
    counts where the move can be made. The call is left out: it has what the others leave, and what falls back on it, so its
    distance follows from theirs.
    """

    parts: Array  # float64 [n, numbers]: weight, weight × played, weight × played² of each column where it can be made,
    # then for each kind of decision and each move the weight where that is the most likely one
    columns: Array  # int64: which moves the first are of
    moves: tuple[Move, ...]
    kinds: Array  # bool [kinds, moves]: moves that can be made together
    call: int | None

    @staticmethod
    def of(decisions: Decisions, matters: Array) -> Sums:
        """Of all rows, weighted by how much each matters. float64 [n]"""
        call = decisions.call
        columns = np.array([k for k in range(len(decisions.moves)) if k != call])
        able = decisions.possible[:, columns] * matters[:, None]
        y = decisions.played[:, columns]
        kinds, kind = np.unique(decisions.possible, axis=0, return_inverse=True)
        likely = np.zeros((len(decisions), len(kinds), len(decisions.moves)))
        likely[np.arange(len(decisions)), kind.ravel(), decisions.played.argmax(axis=1)] = matters
        parts = [able, able * y, able * y * y, likely.reshape(len(decisions), -1)]
        return Sums(np.concatenate(parts, axis=1), columns, decisions.moves, kinds, call)

    def mix(self, sums: Array) -> Array:
        """The mean over rows where a move can be made; scaled down where it is too much. float64 [..., moves]"""
        k = len(self.columns)
        able, taken = sums[..., :k], sums[..., k : 2 * k]
        mean = np.where(able > 1e-15, taken / np.maximum(able, 1e-15), 0.0)
        total = mean.sum(axis=-1, keepdims=True)
        out = np.zeros((*sums.shape[:-1], len(self.moves)))
        out[..., self.columns] = mean / (np.maximum(total, 1.0) if self.call is not None else np.maximum(total, 1e-15))
        if self.call is not None:
            out[..., self.call] = np.maximum(1.0 - out.sum(axis=-1), 0.0)
        return out

    def loss(self, sums: Array) -> Array:
        """The error of that mix. float64 [...]"""
        k = len(self.columns)
        mix = self.mix(sums)
        m = mix[..., self.columns]
        error = (sums[..., 2 * k : 3 * k] - 2 * m * sums[..., k : 2 * k] + m * m * sums[..., :k]).sum(axis=-1)
        flat = mix.reshape(-1, len(self.moves))
        likely = sums[..., 3 * k :].reshape(-1, len(self.kinds), len(self.moves))
        other = likely.sum(axis=(1, 2))
        for place, able in enumerate(self.kinds):
            played = stand_in(flat, self.moves, np.broadcast_to(able, flat.shape))
            other = other - likely[np.arange(len(flat)), place, played.argmax(axis=1)]
        losses: Array = np.maximum(error, 0.0) + MISSED * np.maximum(other, 0.0).reshape(error.shape)
        return losses

    def named(self, decisions: Decisions, sums: Array, purify: bool = False) -> tuple[tuple[Move, float], ...]:
        """The mix as a rule has it, in whole percents where that changes little."""
        shares = self.mix(sums)
        shares = np.where(shares < SMALLEST, 0.0, shares)
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
        if purify:
            shares = (np.arange(len(shares)) == shares.argmax()).astype(float)
        return tuple((move, float(p)) for move, p in zip(decisions.moves, shares, strict=True) if p > 0)
