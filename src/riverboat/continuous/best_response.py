"""Exact values and best responses over continuous signals, and the ε that they certify.

Against bands, the expected payoff of a leaf is a polynomial in the player's own signal between any two thresholds or
edges. The probability that an opponent has a lower signal and reaches the leaf is piecewise linear, or quadratic where
densities are linear; for several opponents it is the product. A best response takes the upper envelope of the action
values in each situation, from the last to the first. Its gain is an integral of polynomials, so no grid is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.continuous import piecewise
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.piecewise import PiecewisePolynomial, multiply_polynomials
from riverboat.continuous.strategies import ActionBands, ThresholdProfile
from riverboat.core.arrays import Array


@dataclass(frozen=True, eq=False)
class EquilibriumCertificate:
    """Quality of a profile: each player's value and best-response value.

    Attributes
    ----------
    game
        The game.
    values
        Expected value of each player.
    best_response_values
        Value of each player's best response.
    responses
        Best response at each situation, of the player who acts there.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> game = river(street="half")
    >>> profile = ThresholdProfile.from_words(game, {"root": ("b x b", (0.1, 0.7)), "b": ("f c", (0.4,))})
    >>> certify(profile).epsilon < 1e-12
    True
    """

    game: ContinuousGame
    values: tuple[float, ...]
    best_response_values: tuple[float, ...]
    responses: tuple[ActionBands, ...]  # [situations]: the best response of the player who acts there

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of each player by deviating alone."""
        return tuple(max(b - v, 0.0) for b, v in zip(self.best_response_values, self.values, strict=True))

    @property
    def epsilon(self) -> float:
        """The largest gain, in the game's unit."""
        return max(self.gains)

    @property
    def epsilon_share(self) -> float:
        """The largest gain as a share of the pot (of `game.scale`)."""
        return self.epsilon / self.game.scale

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return {
            "values": list(self.values),
            "best_responses": list(self.best_response_values),
            "epsilon": self.epsilon,
            "epsilon_share": self.epsilon_share,
            "unit": self.game.unit,
        }


def certify(profile: ThresholdProfile) -> EquilibriumCertificate:
    """Compute best responses of all players to a profile.

    Parameters
    ----------
    profile
        Threshold profile.

    Returns
    -------
    EquilibriumCertificate
        Exact values, best responses and ε.

    Examples
    --------
    The first player never bluffs, so the second player should fold more:

    >>> from riverboat.continuous.examples import river
    >>> game = river(street="half")
    >>> honest = ThresholdProfile.from_words(game, {"root": ("x b", (0.7,)), "b": ("f c", (0.4,))})
    >>> [round(gain, 4) for gain in certify(honest).gains]
    [0.01, 0.1013]
    """
    evaluation, players = ProfileEvaluation(profile), range(profile.game.players)
    values = tuple(evaluation.expected_value(player) for player in players)
    best, bands = zip(*(evaluation.best_response(player) for player in players), strict=True)
    responses = {s: response for own in bands for s, response in own.items()}
    ordered = tuple(responses[s] for s in range(len(responses)))
    return EquilibriumCertificate(profile.game, values, best, ordered)


class ProfileEvaluation:
    """A profile split into pieces between thresholds and edges, with the values of its leaves on each piece.

    Parameters
    ----------
    profile
        Threshold profile.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> game = river(street="half")
    >>> profile = ThresholdProfile.from_words(game, {"root": ("b x b", (0.1, 0.7)), "b": ("f c", (0.4,))})
    >>> round(ProfileEvaluation(profile).expected_value(0), 4)
    0.1
    """

    def __init__(self, profile: ThresholdProfile) -> None:
        self.profile, self.game = profile, profile.game
        signals = self.game.signals
        cuts = np.clip(profile.cuts, signals.low, signals.high)
        self.breaks = np.unique(np.concatenate([signals.edges, cuts]))
        self.middle = (self.breaks[:-1] + self.breaks[1:]) / 2
        self.segment = signals.segment(self.middle)
        self.width = np.diff(self.breaks)
        self.choice = [bands.moves_at(self.middle) for bands in profile.bands]

    @cached_property
    def _segment_density(self) -> Array:
        """Coefficients of each player's density given the segment, linear on a piece. float64 [players, pieces, 2]"""
        signals, k = self.game.signals, self.segment
        length = signals.edges[k + 1] - signals.edges[k]
        start = (self.breaks[:-1] - signals.edges[k]) / length
        tilt = signals.tilt[:, k]
        return np.stack([(1 + tilt * (2 * start - 1)) / length, 2 * tilt / length**2], axis=-1)

    @cached_property
    def _piece_share(self) -> Array:
        """Probability of each piece given its segment. float64 [players, pieces]"""
        start, slope = np.moveaxis(self._segment_density, -1, 0)
        return np.asarray(start * self.width + slope * self.width**2 / 2)

    def density(self, player: int) -> Array:
        """Return a player's density on the pieces. float64 [pieces, 2]

        Parameters
        ----------
        player
            Player, from 0.
        """
        return np.asarray(self.game.signals.mass[player, self.segment][:, None] * self._segment_density[player])

    @cached_property
    def _reach(self) -> Array:
        """Whether each player's actions lead to each leaf, by piece of its signal. float64 [players, leaves, pieces]"""
        game = self.game
        out = np.ones((game.players, len(game.leaf_paths), len(self.middle)))
        for z, path in enumerate(game.leaf_paths):
            for p, choices in enumerate(path.choices):
                for s, move in choices:
                    out[p, z] *= self.choice[s] == move
        return out

    def _opponent_probabilities(self, me: int, other: int) -> tuple[Array, Array]:
        """Return the probability that an opponent reaches each leaf, in total and with a signal lower than the own one.

        Both are given the piece of the own signal. float64 [leaves, pieces], coefficients float64 [leaves, pieces, 3]
        """
        signals, k = self.game.signals, self.segment
        reach, pieces = self._reach[other], np.arange(len(k))
        table = signals.conditional[me] if self.game.players == 2 else signals.mass[other][None]
        own = k if len(table) > 1 else np.zeros_like(k)  # row of the table for each own piece
        weight = reach[:, None, :] * (table[:, k] * self._piece_share[other])  # [leaves, rows, pieces]
        below = np.concatenate([np.zeros((*weight.shape[:2], 1)), np.cumsum(weight, axis=2)], axis=2)
        total = below[:, own, -1]
        terms = np.zeros((len(reach), len(k), 3))
        terms[..., 0] = below[:, own, pieces]
        inside = reach * table[own, k]
        terms[..., 1] = inside * self._segment_density[other, :, 0]
        terms[..., 2] = inside * self._segment_density[other, :, 1] / 2
        if signals.tied.any():
            first, after = np.searchsorted(k, k, side="left"), np.searchsorted(k, k, side="right")
            half = (below[:, own, first] + below[:, own, after]) / 2  # equal signals split the prize
            terms[:, signals.tied[k]] = 0.0
            terms[..., 0] = np.where(signals.tied[k], half, terms[..., 0])
        return total, terms

    def leaf_values(self, me: int) -> Array:
        """Return the expected payoff of a player at each leaf, on each piece of its signal.

        float64 [leaves, pieces, degree + 1]

        Parameters
        ----------
        me
            Player, from 0.
        """
        game = self.game
        against = {p: self._opponent_probabilities(me, p) for p in range(game.players) if p != me}
        signals, k = game.signals, self.segment
        slope = (signals.values[k + 1, 0] - signals.values[k, 1]) / (signals.edges[k + 1] - signals.edges[k])
        start = signals.values[k, 1] + slope * (self.breaks[:-1] - signals.edges[k])
        value = np.stack([start, slope], axis=-1)
        rows = []
        for z, path in enumerate(game.leaf_paths):
            leaf = path.leaf
            reach = np.prod([total[z] for total, _ in against.values()], axis=0)[:, None]
            parts = [leaf.base[me] * reach]
            if me in leaf.contenders:
                prize = leaf.prize * np.ones((1, 1))
                for p, (total, lower) in against.items():
                    prize = multiply_polynomials(prize, lower[z] if p in leaf.contenders else total[z][:, None])
                parts.append(prize)
            if leaf.signal_weights[me]:
                parts.append(leaf.signal_weights[me] * multiply_polynomials(reach, value))
            rows.append(parts)
        out = np.zeros((len(rows), len(self.middle), max(part.shape[-1] for parts in rows for part in parts)))
        for z, parts in enumerate(rows):
            for part in parts:
                out[z, :, : part.shape[-1]] += part
        nonzero = np.flatnonzero(np.abs(out).max(axis=(0, 1)) > 0)
        return out[..., : (int(nonzero[-1]) if len(nonzero) else 0) + 1]

    def _values_of_leaves(self, me: int) -> tuple[dict[int, Array], Array]:
        """Sum the values of the leaves whose last own action is the same, and of leaves without an own action.

        {situation: float64 [moves, pieces, degree + 1]}, float64 [pieces, degree + 1]
        """
        leaves, own = self.leaf_values(me), self.game.own_situations(me)
        total = np.zeros(leaves.shape[1:])
        values = {s: np.zeros((len(self.game.situations[s].moves), *total.shape)) for s in reversed(own)}
        for path, leaf_value in zip(self.game.leaf_paths, leaves, strict=True):
            if path.choices[me]:
                s, move = path.choices[me][-1]
                values[s][move] += leaf_value
            else:
                total += leaf_value
        return values, total

    def action_values(self, me: int) -> tuple[dict[int, Array], Array]:
        """Return the value of each action of each situation when the player continues by the profile, and the total.

        {situation: float64 [moves, pieces, degree + 1]}, float64 [pieces, degree + 1]

        Parameters
        ----------
        me
            Player, from 0.
        """
        values, total = self._values_of_leaves(me)
        pieces = np.arange(len(total))
        for s in reversed(self.game.own_situations(me)):
            value = values[s][self.choice[s], pieces]
            parent = self.game.situations[s].parent
            if parent is None:
                total += value
            else:
                values[parent[0]][parent[1]] += value
        return values, total

    def expected_value(self, me: int) -> float:
        """Return the expected value of the profile to a player.

        Parameters
        ----------
        me
            Player, from 0.
        """
        return piecewise.integrate(multiply_polynomials(self.action_values(me)[1], self.density(me)), self.width)

    def best_response(self, me: int) -> tuple[float, dict[int, ActionBands]]:
        """Return a player's best-response value, and the response: bands for each of its situations.

        Parameters
        ----------
        me
            Player, from 0.
        """
        leaf_sums, rest = self._values_of_leaves(me)
        total = PiecewisePolynomial(self.breaks, rest)
        values = {s: [PiecewisePolynomial(self.breaks, row) for row in rows] for s, rows in leaf_sums.items()}
        bands: dict[int, ActionBands] = {}
        for s in reversed(self.game.own_situations(me)):
            best, which = piecewise.upper_envelope(values[s])
            bands[s] = ActionBands(tuple(map(int, which)), tuple(map(float, best.breaks[1:-1]))).merge_narrow()
            parent = self.game.situations[s].parent
            if parent is None:
                total = total + best
            else:
                values[parent[0]][parent[1]] = values[parent[0]][parent[1]] + best
        density = PiecewisePolynomial(self.breaks, self.density(me)).refine(total.breaks)
        return piecewise.integrate(multiply_polynomials(total.coef, density.coef), np.diff(total.breaks)), bands

    def indifference_gaps(self) -> Array:
        """Return, at each threshold, the value of the action above it less that of the action below it.

        float64 [thresholds]
        """
        values: dict[int, Array] = {}
        for player in range(self.game.players):
            values |= self.action_values(player)[0]
        out = []
        for s, k, cut in self.profile.thresholds():
            below, above = self.profile.bands[s].moves[k : k + 2]
            piece = int(np.clip(np.searchsorted(self.breaks, cut, side="right") - 1, 0, len(self.middle) - 1))
            gap = values[s][above, piece] - values[s][below, piece]
            out.append(float(piecewise.evaluate_polynomial(gap, np.asarray(cut - self.breaks[piece]))))
        return np.array(out)
