"""Other ways to value the exits of a street than rollouts with several continuations, to compare with.

    FixedLeaves      a table from the blueprint: a hand is worth what it is when the blueprint plays itself, whoever comes
    LearntLeaves     a value that was learnt from solved subgames: a polynomial in equities and the stack

Both have one continuation. The table is the same for all ranges; the learnt value looks at both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.subgames.depth_limited.rollouts import Rollouts
from riverboat.subgames.depth_limited.street_game import Beside

RIDGE = 1e-3
LEAST = 1e-4  # of the likeliest hand's weight


class FixedLeaves:
    """What hands are worth at each exit, in chips, whoever holds what."""

    choices = 1

    def __init__(self, hands: Array, searching: Array, other: Array) -> None:
        """float64 [exits, hands] each."""
        self.worth, self.beside = (searching, other), Beside(hands)

    @staticmethod
    def of(rollouts: Rollouts, hands: Array, reach: Array) -> FixedLeaves:
        """The means of rollouts of the blueprint with itself, over those who come. float64 [2, exits, hands]

        Every hand comes a little, and all alike where nobody would: what nobody meets would be worth nothing, not even quads.
        """
        beside, most = Beside(hands), reach.max(axis=2, keepdims=True)
        reach = np.where(most > 0, np.maximum(reach, LEAST * most), 1.0)
        picked = np.zeros((reach.shape[1], rollouts.choices, reach.shape[2]))
        picked[:, 0] = reach[1]  # the first continuation is the blueprint
        other = rollouts.chooser(reach)[:, 0] / np.maximum(beside(reach[0]), 1e-9)
        return FixedLeaves(hands, rollouts.searcher(reach, picked) / np.maximum(beside(reach[1]), 1e-9), other)

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        values: Array = self.worth[1] * self.beside(reach[0])
        return values[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        values: Array = self.worth[0] * self.beside(picked[:, 0])
        return values


class PairEquities:
    """What each hand wins of each other by checking to the end, over some runouts."""

    def __init__(self, shown: Array) -> None:
        """`shown`: values of a showdown for a pot of one, to the other seat. float [hands, hands]"""
        self.share = shown.astype(np.float64)

    @staticmethod
    def of(rollouts: Rollouts, exit: int) -> PairEquities:
        """From rollouts of an exit where nobody can bet any more."""
        pair = rollouts.values[exit, 0] / rollouts.pots[exit]
        return PairEquities(pair[np.ix_(rollouts.groups, rollouts.groups)])


def features(equity: Array, mean: Array, stacks: Array, first: float) -> Array:
    """Of hands at exits: their equity, that of their range, the stack in pots, who acts first. [..., hands] -> [..., n]"""
    e, m, s = np.broadcast_arrays(equity, mean, np.log1p(stacks))
    p = np.full_like(e, first)
    base = [np.ones_like(e), e, e**2, e**3, e**4]
    return np.stack([*base, *(b * m for b in base[:3]), *(b * s for b in base), *(b * p for b in base[:3])], axis=-1)


class Learnt:
    """Least squares with a little ridge: values in pots from features."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    @staticmethod
    def fit(inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]) -> Learnt:
        """From solved subgames: rows of features, values in pots, and how often each hand is held."""
        if not inputs:
            raise InputError("nothing to learn from: give at least one solved subgame")
        x, y, w = (np.concatenate(part) for part in (inputs, targets, weights))
        scaled = x * w[:, None]
        gram = scaled.T @ x + RIDGE * w.sum() * np.eye(x.shape[1]) * 1e-3
        return Learnt(np.linalg.solve(gram, scaled.T @ y))

    def __call__(self, inputs: Array) -> Array:
        out: Array = inputs @ self.weights
        return out


class LearntLeaves:
    """Exits by a learnt value; where nobody can bet any more, by showdowns."""

    choices = 1

    def __init__(self, model: Learnt, pairs: PairEquities, hands: Array, pots: Array, stacks: Array, seat: int) -> None:
        """`stacks`: behind at each exit, in its pots; 0 where nobody can bet any more. float64 [exits] each"""
        self.model, self.pairs, self.pots, self.stacks, self.seat = model, pairs, pots, stacks, seat
        self.beside = Beside(hands)

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self._values(reach[1], reach[0], self.pairs.share * self.beside.apart, 1 - self.seat)[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self._values(reach[0], picked[:, 0], (1.0 - self.pairs.share.T) * self.beside.apart, self.seat)

    def _values(self, own: Array, other: Array, share: Array, seat: int) -> Array:
        met = self.beside(other)
        equity = np.where(met > 1e-12, other @ share.T / np.maximum(met, 1e-12), 0.5)
        held = own * met
        total = held.sum(axis=1, keepdims=True)
        mean = np.where(total > 1e-12, (held * equity).sum(axis=1, keepdims=True) / np.maximum(total, 1e-12), 0.5)
        worth = self.model(features(equity, mean, self.stacks[:, None], float(seat == 0)))
        worth = np.where(self.stacks[:, None] > 0, worth, equity)
        values: Array = worth * self.pots[:, None] * met
        return values
