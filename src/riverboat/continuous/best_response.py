"""Exact values and best responses over the continuum, and the ε that they certify.

Against bands, what a player expects at a leaf is a polynomial in its own signal between any two thresholds or edges: the
probability that an opponent is below it and plays so is piecewise linear (quadratic where densities are linear), and
of several opponents their product. A best response takes the upper envelope of its moves in each situation, from the last
to the first, and its gain is an integral of polynomials. There is no grid anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.piecewise import Piecewise, envelope, evaluate, integral, product
from riverboat.continuous.profile import Bands, Profile
from riverboat.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Certificate:
    """How good a profile is: what each player gets, and could get by its best response."""

    game: ContinuousGame
    values: tuple[float, ...]
    best: tuple[float, ...]
    responses: tuple[Bands, ...]  # [situations]: the best response of whoever decides there

    @property
    def gains(self) -> tuple[float, ...]:
        """What each player could gain by deviating alone."""
        return tuple(max(b - v, 0.0) for b, v in zip(self.best, self.values, strict=True))

    @property
    def epsilon(self) -> float:
        """The largest gain, in the game's unit."""
        return max(self.gains)

    @property
    def share(self) -> float:
        """The same as a share of the pot (of `game.scale`)."""
        return self.epsilon / self.game.scale

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "values": list(self.values),
            "best_responses": list(self.best),
            "epsilon": self.epsilon,
            "epsilon_share": self.share,
            "unit": self.game.unit,
        }


def certify(profile: Profile) -> Certificate:
    """Best responses of all players to a profile."""
    evaluation = Evaluation(profile)
    game = profile.game
    values, best = [], []
    responses: dict[int, Bands] = {}
    for player in range(game.players):
        values.append(evaluation.value(player))
        worth, bands = evaluation.respond(player)
        best.append(worth)
        responses |= bands
    return Certificate(game, tuple(values), tuple(best), tuple(responses[s] for s in range(len(game.situations))))


class Evaluation:
    """A profile cut into pieces between thresholds and edges, and what its leaves pay there."""

    def __init__(self, profile: Profile) -> None:
        self.profile, self.game = profile, profile.game
        signals = self.game.signals
        cuts = np.clip(profile.cuts, signals.low, signals.high)
        self.breaks = np.unique(np.concatenate([signals.edges, cuts]))
        self.middle = (self.breaks[:-1] + self.breaks[1:]) / 2
        self.segment = signals.segment(self.middle)
        self.width = np.diff(self.breaks)
        self.choice = [bands.at(self.middle) for bands in profile.bands]

    # --- densities ------------------------------------------------------------------------------

    @cached_property
    def _unit(self) -> Array:
        """Density of each player given its segment of the axis, as a line on each piece. float64 [players, pieces, 2]"""
        signals, k = self.game.signals, self.segment
        length = signals.edges[k + 1] - signals.edges[k]
        start = (self.breaks[:-1] - signals.edges[k]) / length
        tilt = signals.tilt[:, k]
        return np.stack([(1 + tilt * (2 * start - 1)) / length, 2 * tilt / length**2], axis=-1)

    @cached_property
    def _part(self) -> Array:
        """Share of its segment that each piece has. float64 [players, pieces]"""
        part: Array = self._unit[..., 0] * self.width + self._unit[..., 1] * self.width**2 / 2
        return part

    def density(self, player: int) -> Array:
        """A player's density on the pieces. float64 [pieces, 2]"""
        densities: Array = self.game.signals.mass[player, self.segment][:, None] * self._unit[player]
        return densities

    # --- leaves ---------------------------------------------------------------------------------

    @cached_property
    def _reach(self) -> Array:
        """Whether a player plays to a leaf. float64 [players, leaves, pieces]"""
        game = self.game
        out = np.ones((game.players, len(game.endings), len(self.middle)))
        for z, ending in enumerate(game.endings):
            for p, choices in enumerate(ending.choices):
                for s, move in choices:
                    out[p, z] *= self.choice[s] == move
        return out

    def _against(self, me: int, other: int) -> tuple[Array, Array]:
        """Probability that the other plays to each leaf: in all, and with a lower signal, given the own piece.

        float64 [leaves, pieces], float64 [leaves, pieces, 3]
        """
        signals, k = self.game.signals, self.segment
        reach, pieces = self._reach[other], np.arange(len(k))
        if self.game.players == 2:
            table = signals.conditional[me]
        else:
            table = signals.mass[other][None]
        own = k if len(table) > 1 else np.zeros_like(k)  # the row of the table for each own piece
        chance = table[:, k] * self._part[other]  # [rows, pieces]
        held = reach[:, None, :] * chance
        below = np.concatenate([np.zeros((*held.shape[:2], 1)), np.cumsum(held, axis=2)], axis=2)
        total = below[:, own, -1]
        terms = np.zeros((len(reach), len(k), 3))
        terms[..., 0] = below[:, own, pieces]
        inside = reach * table[own, k]
        terms[..., 1] = inside * self._unit[other, :, 0]
        terms[..., 2] = inside * self._unit[other, :, 1] / 2
        if signals.tied.any():
            first = np.searchsorted(k, k, side="left")
            after = np.searchsorted(k, k, side="right")
            even = (below[:, own, first] + below[:, own, after]) / 2  # equal signals share
            tied = signals.tied[k]
            terms[:, tied] = 0.0
            terms[:, tied, 0] = even[:, tied]
        return total, terms

    def leaves(self, me: int) -> Array:
        """What a player expects from each leaf, on each piece of its own signal. float64 [leaves, pieces, degree + 1]"""
        game = self.game
        others = [p for p in range(game.players) if p != me]
        against = {p: self._against(me, p) for p in others}
        start, slope = game.signals.value_line(self.segment)
        start = start + slope * (self.breaks[:-1] - game.signals.edges[self.segment])
        value = np.stack([start, slope], axis=-1)
        rows = []
        for z, ending in enumerate(game.endings):
            leaf = ending.leaf
            met = np.prod([against[p][0][z] for p in others], axis=0)[:, None]
            pay = leaf.base[me] * met
            parts = [pay]
            if me in leaf.contenders:
                won = leaf.prize * np.ones((1, 1))
                for p in others:
                    won = product(won, against[p][1][z] if p in leaf.contenders else against[p][0][z][:, None])
                parts.append(won)
            if leaf.worth[me]:
                parts.append(leaf.worth[me] * product(met, value))
            rows.append(parts)
        degree = max(part.shape[-1] for parts in rows for part in parts)
        out = np.zeros((len(rows), len(self.middle), degree))
        for z, parts in enumerate(rows):
            for part in parts:
                out[z, :, : part.shape[-1]] += part
        top = np.flatnonzero(np.abs(out).max(axis=(0, 1)) > 0)
        return out[..., : (int(top[-1]) if len(top) else 0) + 1]

    # --- values ---------------------------------------------------------------------------------

    def _own(self, me: int) -> Iterator[int]:
        """A player's situations, the last ones first."""
        for s in range(len(self.game.situations) - 1, -1, -1):
            if self.game.situations[s].player == me:
                yield s

    def moves(self, me: int) -> tuple[dict[int, Array], Array]:
        """What each move of each situation is worth to its player, who goes on as the profile does; and the whole.

        {situation: float64 [moves, pieces, degree + 1]}, float64 [pieces, degree + 1]
        """
        leaves = self.leaves(me)
        total = np.zeros(leaves.shape[1:])
        worth = {s: np.zeros((len(self.game.situations[s].moves), *leaves.shape[1:])) for s in self._own(me)}
        for z, ending in enumerate(self.game.endings):
            if ending.choices[me]:
                s, move = ending.choices[me][-1]
                worth[s][move] += leaves[z]
            else:
                total += leaves[z]
        pieces = np.arange(leaves.shape[1])
        for s in self._own(me):
            value = worth[s][self.choice[s], pieces]
            parent = self.game.situations[s].parent
            if parent is None:
                total += value
            else:
                worth[parent[0]][parent[1]] += value
        return worth, total

    def value(self, me: int) -> float:
        """What a player gets on average."""
        total = self.moves(me)[1]
        return integral(product(total, self.density(me)), self.width)

    def respond(self, me: int) -> tuple[float, dict[int, Bands]]:
        """What a player's best response gets, and the response: bands for each of its situations."""
        leaves = self.leaves(me)
        total = Piecewise(self.breaks, np.zeros((len(self.middle), 1)))
        worths: dict[int, list[Piecewise]] = {}
        for s in self._own(me):
            moves = len(self.game.situations[s].moves)
            worths[s] = [Piecewise(self.breaks, np.zeros(leaves.shape[1:])) for _ in range(moves)]
        for z, ending in enumerate(self.game.endings):
            worth = Piecewise(self.breaks, leaves[z])
            if ending.choices[me]:
                s, move = ending.choices[me][-1]
                worths[s][move] = worths[s][move] + worth
            else:
                total = total + worth
        bands: dict[int, Bands] = {}
        for s in self._own(me):
            best, which = envelope(worths[s])
            bands[s] = Bands(tuple(map(int, which)), tuple(map(float, best.breaks[1:-1]))).merged()
            parent = self.game.situations[s].parent
            if parent is None:
                total = total + best
            else:
                worths[parent[0]][parent[1]] = worths[parent[0]][parent[1]] + best
        own = Piecewise(self.breaks, self.density(me)).refined(total.breaks)
        return integral(product(total.coef, own.coef), np.diff(total.breaks)), bands

    def indifference(self) -> Array:
        """At each threshold, what the move above it is worth more than the move below it. float64 [thresholds]"""
        worth: dict[int, Array] = {}
        for player in range(self.game.players):
            worth |= self.moves(player)[0]
        out = []
        for s, k, cut in self.profile.thresholds():
            bands = self.profile.bands[s]
            piece = int(np.clip(np.searchsorted(self.breaks, cut, side="right") - 1, 0, len(self.middle) - 1))
            gap = worth[s][bands.moves[k + 1], piece] - worth[s][bands.moves[k], piece]
            out.append(float(evaluate(gap, np.asarray(cut - self.breaks[piece]))))
        return np.array(out)
