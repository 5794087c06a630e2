"""Continuous games by brute force: points instead of polynomials, one profile of signals at a time.

Every piece between edges and thresholds becomes `points` equally likely signals at the midpoints of its parts. For
piecewise constant strategies and densities, expected values at such a midpoint are exact (a signal of the same part
counts as equal, which is right on average); only the integral of a best response over its kinks is approximate.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from riverboat.continuous.game import Leaf
from riverboat.continuous.strategies import ThresholdProfile


class Brute:
    def __init__(self, profile: ThresholdProfile, points: int) -> None:
        self.profile, self.game = profile, profile.game
        signals = self.game.signals
        breaks = sorted({*map(float, signals.edges), *(min(max(c, signals.low), signals.high) for c in profile.cuts)})
        self.places: list[float] = []
        self.segments: list[int] = []
        parts: list[float] = []  # share of the segment
        for low, high in pairwise(breaks):
            k = max(i for i in range(len(signals.edges) - 1) if signals.edges[i] <= (low + high) / 2)
            for n in range(points):
                self.places.append(low + (high - low) * (n + 0.5) / points)
                self.segments.append(k)
                parts.append((high - low) / points / (signals.edges[k + 1] - signals.edges[k]))
        self.weights = [
            [signals.mass[p, k] * part for k, part in zip(self.segments, parts, strict=True)]
            for p in range(self.game.players)
        ]
        self.parts = parts
        self.moves = [[self._move(s, x) for x in self.places] for s in range(len(profile.bands))]

    def chance(self, deal: tuple[int, ...]) -> float:
        signals = self.game.signals
        if signals.joint is not None:
            a, b = deal
            return float(signals.joint[self.segments[a], self.segments[b]] * self.parts[a] * self.parts[b])
        return float(np.prod([self.weights[p][k] for p, k in enumerate(deal)]))

    def pay(self, leaf: Leaf, deal: tuple[int, ...], player: int) -> float:
        signals = self.game.signals
        keys = [-1.0 - k if signals.tied[k] else 0.0 for k in (self.segments[d] for d in deal)]
        strength = [
            signals.edges[self.segments[d]] if key else self.places[d] for d, key in zip(deal, keys, strict=True)
        ]
        total = leaf.base[player]
        if leaf.signal_weights:
            total += leaf.signal_weights[player] * signals.value(self.places[deal[player]])
        if player in leaf.contenders:
            top = max(strength[p] for p in leaf.contenders)
            winners = [p for p in leaf.contenders if strength[p] == top]
            total += leaf.prize / len(winners) if player in winners else 0.0
        return total

    def _move(self, situation: int, place: float) -> int:
        bands = self.profile.bands[situation]
        return bands.moves[sum(cut <= place for cut in bands.cuts)]

    def leaf_values(self, player: int) -> np.ndarray:
        """[leaves, points]: reach of chance and the other players times the payoff."""
        game, count = self.game, len(self.places)
        out = np.zeros((len(game.leaf_paths), count))
        for deal in product(range(count), repeat=game.players):
            chance = self.chance(deal)
            if chance == 0:
                continue
            for z, ending in enumerate(game.leaf_paths):
                others = (c for p, c in enumerate(ending.choices) if p != player)
                owners = (p for p in range(game.players) if p != player)
                if all(self.moves[s][deal[p]] == m for p, c in zip(owners, others, strict=True) for s, m in c):
                    out[z, deal[player]] += chance * self.pay(ending.leaf, deal, player)
        return out

    def value(self, player: int) -> float:
        return self._walk(player, best=False)

    def best(self, player: int) -> float:
        return self._walk(player, best=True)

    def _walk(self, player: int, *, best: bool) -> float:
        game, leaves = self.game, self.leaf_values(player)
        total = 0.0
        for point in range(len(self.places)):

            def worth(last: tuple[int, int] | None, point: int = point) -> float:
                value = sum(
                    leaves[z, point]
                    for z, e in enumerate(game.leaf_paths)
                    if (e.choices[player][-1] if e.choices[player] else None) == last
                )
                for s, situation in enumerate(game.situations):
                    if situation.player == player and situation.parent == last:
                        moves = [worth((s, m), point) for m in range(len(situation.moves))]
                        value += max(moves) if best else moves[self.moves[s][point]]
                return float(value)

            total += worth(None)
        return total


def half_street(pot: float) -> tuple[float, float, float]:
    """Thresholds of von Neumann's game with a bet of 1, from solving its three equations by hand.

    Player 1 is indifferent between fold and call at c: (pot + 1) a = 1 - b. Player 0 is indifferent between bet and
    check at b: 2 b - 1 = c, and at a: c pot - (1 - c) = pot a.
    """
    c = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    b = (1 + c) / 2
    return (1 - b) / (pot + 1), b, c
