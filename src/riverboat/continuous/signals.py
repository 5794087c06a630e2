"""Private signals of the players, on one axis from weak to strong.

The axis has segments. Inside a segment every player's density is constant, or linear where `tilt` is not zero. A *tied*
segment is an atom: one value of the signal, spread out so that a threshold can lie inside it (the player mixes there).
Two signals inside one tied segment are equal. This covers piecewise linear and discrete distribution functions and
mixtures of both. Signals of two players may be correlated: `joint` has the probability of each pair of segments; inside
a pair they are independent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

_PROBABILITY_TOLERANCE = 1e-9  # tolerance of sums of probabilities
_MIN_ATOM_WIDTH = 1e-9  # width of an atom that has no probability


@dataclass(frozen=True, eq=False)
class Signals:
    """A distribution of signals.

    Thresholds are positions on the axis, and `values` maps positions to the user's units. The constructors of this
    module build it from distribution functions, values, densities or joint probabilities.

    Attributes
    ----------
    edges
        Edges of the segments of the axis, increasing, float64 [segments + 1].
    mass
        Probability of each segment, float64 [players, segments].
    tied
        Whether a segment is an atom, bool [segments].
    values
        The signal just before and just after each edge, float64 [segments + 1, 2].
    tilt
        Slope of the density in a segment from -1 to 1, float64 [players, segments].
    joint
        Probability of each pair of segments of two correlated players, float64 [segments, segments]; None if
        independent.

    Examples
    --------
    >>> signals = uniform()
    >>> signals.players, signals.quantile(0, 0.25)
    (2, 0.25)
    """

    edges: Array  # float64 [segments + 1], increasing
    mass: Array  # float64 [players, segments]: probability of each segment
    tied: Array  # bool [segments]
    values: Array  # float64 [segments + 1, 2]: the signal just before and just after each edge
    tilt: Array  # float64 [players, segments] in [-1, 1]: density m (1 + tilt (2t - 1)) for t from 0 to 1
    joint: Array | None = None  # float64 [segments, segments]: for two players with correlated signals

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or not np.all(np.isfinite(self.edges)) or not np.all(np.diff(self.edges) > 0):
            raise InputError("signals: the axis needs two or more increasing edges")
        if self.mass.min() < 0 or np.any(np.abs(self.mass.sum(axis=1) - 1.0) > _PROBABILITY_TOLERANCE):
            raise InputError(f"signals: probabilities of the players sum to {self.mass.sum(axis=1)}: must be 1")
        if np.any(np.abs(self.tilt) > 1.0):
            raise InputError("signals: a density falls below zero: tilts are from -1 to 1")
        if self.players > 2 and (self.tied.any() or self.joint is not None):
            raise InputError(f"signals of {self.players} players: must be continuous and independent")

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.mass)

    @property
    def low(self) -> float:
        """Start of the axis."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """End of the axis."""
        return float(self.edges[-1])

    @cached_property
    def cdf_at_edges(self) -> Array:
        """Distribution function of each player at the edges. float64 [players, segments + 1]"""
        return np.pad(np.cumsum(self.mass, axis=1), ((0, 0), (1, 0)))

    @cached_property
    def conditional(self) -> tuple[Array, Array]:
        """Probabilities of the opponent's segment given the own segment, for player 0 and for player 1.

        float64 [1 or segments, segments] each; one row if signals are independent
        """
        if self.joint is None:
            return self.mass[1][None], self.mass[0][None]
        first, second = np.where(self.mass > 0, self.mass, 1.0)[..., None]
        return self.joint / first, self.joint.T / second

    @property
    def identically_distributed(self) -> bool:
        """Whether all players draw from one distribution, independently and without ties."""
        same = np.allclose(self.mass, self.mass[0]) and np.allclose(self.tilt, self.tilt[0])
        return bool(same and self.joint is None and not self.tied.any())

    @property
    def piecewise_linear(self) -> bool:
        """Whether distribution functions are piecewise linear and independent."""
        return self.joint is None and not self.tilt.any()

    def segment(self, place: Array) -> Array:
        """Return the index of the segment of a position. int [...]

        Parameters
        ----------
        place
            Positions on the axis, float64 [...].
        """
        return np.asarray(np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, len(self.edges) - 2))

    def share_of_segment(self, place: Array) -> tuple[Array, Array]:
        """Return the segment of a position, and the share of the segment below it. int [...], float64 [...]

        Parameters
        ----------
        place
            Positions on the axis, float64 [...].
        """
        k = self.segment(place)
        return k, (place - self.edges[k]) / (self.edges[k + 1] - self.edges[k])

    def cdf(self, player: int, place: Array) -> Array:
        """Return the probability of a signal below a position. float64 [...]

        Parameters
        ----------
        player
            Player, from 0.
        place
            Positions on the axis, float64 [...].
        """
        k, t = self.share_of_segment(np.clip(np.asarray(place, float), self.low, self.high))
        inside = self.mass[player, k] * (t + self.tilt[player, k] * (t * t - t))
        return np.asarray(self.cdf_at_edges[player, k] + inside)

    def density(self, player: int, place: Array) -> Array:
        """Return the density at a position. float64 [...]

        Parameters
        ----------
        player
            Player, from 0.
        place
            Positions on the axis, float64 [...].
        """
        k, t = self.share_of_segment(np.asarray(place, float))
        mean = self.mass[player, k] / (self.edges[k + 1] - self.edges[k])
        return np.asarray(mean * (1 + self.tilt[player, k] * (2 * t - 1)))

    def quantile(self, player: int, share: float) -> float:
        """Return the lowest position with this probability below it, for piecewise linear distribution functions.

        Parameters
        ----------
        player
            Player, from 0.
        share
            Probability, from 0 to 1.
        """
        below = self.cdf_at_edges[player]
        k = int(np.clip(np.searchsorted(below, share, side="left") - 1, 0, len(self.edges) - 2))
        inside = (share - below[k]) / self.mass[player, k] if self.mass[player, k] > 0 else 0.0
        return float(self.edges[k] + np.clip(inside, 0.0, 1.0) * (self.edges[k + 1] - self.edges[k]))

    def value(self, place: float) -> float:
        """Return the signal at a position, in the user's units.

        Parameters
        ----------
        place
            Position on the axis.
        """
        k, share = self.share_of_segment(np.asarray(place))
        return float(self.values[k, 1] + share * (self.values[k + 1, 0] - self.values[k, 1]))

    def without_ties(self) -> Signals:
        """Return the same distribution without ties: signals inside an atom count as distinct values."""
        return replace(self, tied=np.zeros_like(self.tied))


# --- Constructors ---


def uniform(players: int = 2, low: float = 0.0, high: float = 1.0) -> Signals:
    """Build signals that are uniform for every player.

    Parameters
    ----------
    players
        Number of players.
    low
        Lowest signal.
    high
        Highest signal.

    Returns
    -------
    Signals
        Independent signals.

    Examples
    --------
    >>> uniform(3, 0, 10).high
    10.0
    """
    return from_cdfs([[(low, 0.0), (high, 1.0)]] * players)


def from_cdfs(cdfs: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Build independent signals from distribution functions.

    Parameters
    ----------
    cdfs
        For each player points `(signal, probability below)`. Functions are linear between points; two points with the
        same signal are a jump: an atom.

    Returns
    -------
    Signals
        Independent signals.

    Raises
    ------
    InputError
        If a function decreases, or does not go from 0 to 1.

    Examples
    --------
    >>> from_cdfs([[(0, 0), (1, 1)], [(0, 0), (0.5, 0.9), (1, 1)]]).mass
    array([[0.5, 0.5],
           [0.9, 0.1]])
    """
    tables = [_validate_cdf(points, f"signals of player {p}") for p, points in enumerate(cdfs)]
    marks = sorted({x for points in tables for x, _ in points})
    jumps = [{x: _cdf_jump(points, x) for x in marks} for points in tables]
    span = marks[-1] - marks[0] or 1.0
    segments: list[tuple[float, float, list[float], bool]] = []  # width, signal at the end, probabilities, atom
    for left, right in zip(marks, [*marks[1:], None], strict=True):
        atoms = [high - low for low, high in (jump[left] for jump in jumps)]
        if max(atoms) > 0:
            segments.append((span * max(sum(atoms) / len(atoms), 1e-6), left, atoms, True))
        if right is not None:
            segments.append((right - left, right, [j[right][0] - j[left][1] for j in jumps], False))
    widths, ends, masses, tied = zip(*segments, strict=True)
    mass, values = np.array(masses).T, np.array([marks[0], *ends])
    edges = np.cumsum([marks[0], *widths])
    return Signals(edges, mass, np.array(tied), np.stack([values, values], axis=1), np.zeros_like(mass))


def from_values(points: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Build independent signals with finitely many values. All segments are atoms.

    Parameters
    ----------
    points
        For each player pairs `(signal, probability)`.

    Returns
    -------
    Signals
        Independent discrete signals.

    Raises
    ------
    InputError
        If a probability is negative, or they do not sum to 1.

    Examples
    --------
    >>> from_values([[(1, 0.5), (2, 0.5)]] * 2).tied
    array([ True,  True])
    """
    marks = sorted({float(x) for table in points for x, _ in table})
    if not marks or any(not table for table in points):
        raise InputError("signals: a player has no values")
    mass = np.zeros((len(points), len(marks)))
    for p, table in enumerate(points):
        for x, chance in table:
            if not chance >= 0:
                raise InputError(f"signals of player {p}: probability {chance:g} of {x:g}: must not be negative")
            mass[p, marks.index(x)] += chance
        if not abs(mass[p].sum() - 1.0) <= _PROBABILITY_TOLERANCE:
            raise InputError(f"signals of player {p}: probabilities sum to {mass[p].sum():g}: must be 1")
    return from_atoms(np.array(marks), mass)


def from_atoms(values: Array, mass: Array) -> Signals:
    """Build independent signals from the probabilities of their values. The width of an atom is its mean probability.

    Parameters
    ----------
    values
        Values of the signal, increasing, float64 [values].
    mass
        Probability of each value, float64 [players, values].

    Returns
    -------
    Signals
        Independent discrete signals.

    Examples
    --------
    >>> from_atoms(np.array([1.0, 2.0]), np.array([[0.5, 0.5], [0.1, 0.9]])).edges
    array([0. , 0.3, 1. ])
    """
    edges = np.concatenate([[0.0], np.cumsum(np.maximum(mass.mean(axis=0), _MIN_ATOM_WIDTH))])
    before_and_after = np.stack([[values[0], *values], [*values, values[-1]]], axis=1)
    return Signals(edges, mass, np.ones(len(values), bool), before_and_after, np.zeros_like(mass))


def correlated(edges: Sequence[float], joint: Sequence[Sequence[float]], *, tied: bool = False) -> Signals:
    """Build correlated signals of two players from the probability of each pair of segments; independent inside a pair.

    Parameters
    ----------
    edges
        Edges of the segments, increasing.
    joint
        Probabilities, one row for each segment of player 0. Divided by its sum, a row is the distribution of player 1.
    tied
        Whether every segment is an atom.

    Returns
    -------
    Signals
        Correlated signals.

    Raises
    ------
    InputError
        If the shape does not match the edges, or probabilities are negative or do not sum to 1.

    Examples
    --------
    >>> correlated([0, 1, 2], [[0.3, 0.2], [0.1, 0.4]]).mass
    array([[0.5, 0.5],
           [0.4, 0.6]])
    """
    table = np.asarray(joint, float)
    points = np.asarray(edges, float)
    if table.ndim != 2 or table.shape != (len(points) - 1,) * 2:
        raise InputError(
            f"signals: joint is {table.shape} for {len(points)} edges: must have one row and column for each segment"
        )
    if table.min() < 0 or not abs(table.sum() - 1.0) <= _PROBABILITY_TOLERANCE:
        raise InputError(f"signals: joint probabilities sum to {table.sum():g}: must be 1, and none negative")
    mass = np.stack([table.sum(axis=1), table.sum(axis=0)])
    values = np.stack([points, points], axis=1)
    return Signals(points, mass, np.full(len(table), tied), values, np.zeros_like(mass), table)


def from_densities(points: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Build independent signals from densities that are linear between points. They are normalized.

    Parameters
    ----------
    points
        For each player points `(signal, density)`.

    Returns
    -------
    Signals
        Independent signals.

    Raises
    ------
    InputError
        If there are fewer than two points, or a density is negative or zero everywhere.

    Examples
    --------
    >>> from_densities([[(0, 1), (1, 3)]] * 2).tilt
    array([[0.5],
           [0.5]])
    """
    marks = np.array(sorted({float(x) for table in points for x, _ in table}))
    if len(marks) < 2:
        raise InputError("signals: a density needs two points or more")
    mass = np.zeros((len(points), len(marks) - 1))
    tilt = np.zeros_like(mass)
    for p, table in enumerate(points):
        x, y = np.array(sorted(table), float).T
        if y.min() < 0 or y.max() <= 0:
            raise InputError(
                f"signals of player {p}: densities {y}: must not be negative, and at least one must be above zero"
            )
        heights = np.interp(marks, x, y, left=0.0, right=0.0)
        inside = (marks[1:] > x[0]) & (marks[:-1] < x[-1])
        left, right = np.where(inside, heights[:-1], 0.0), np.where(inside, heights[1:], 0.0)
        mass[p] = (left + right) / 2 * np.diff(marks)
        mass[p] /= mass[p].sum()
        tilt[p] = (right - left) / np.where(left + right > 0, left + right, 1.0)
    return Signals(marks, mass, np.zeros(len(marks) - 1, bool), np.stack([marks, marks], axis=1), tilt)


def _validate_cdf(points: Sequence[tuple[float, float]], where: str) -> list[tuple[float, float]]:
    table = [(float(x), float(p)) for x, p in points]
    if len(table) < 2 or not np.all(np.isfinite(table)):
        raise InputError(f"{where}: a distribution function needs two points or more, all finite")
    for before, after in itertools.pairwise(table):
        if after[0] < before[0] or after[1] < before[1]:
            raise InputError(f"{where}: {after} after {before}: signals and probabilities must not decrease")
    if abs(table[0][1]) > _PROBABILITY_TOLERANCE or abs(table[-1][1] - 1.0) > _PROBABILITY_TOLERANCE:
        raise InputError(f"{where}: goes from {table[0][1]:g} to {table[-1][1]:g}: must go from 0 to 1")
    return table


def _cdf_jump(points: list[tuple[float, float]], x: float) -> tuple[float, float]:
    """Return the distribution function just below a signal and at it; they differ at an atom."""
    probabilities = [p for at, p in points if at == x] or [float(np.interp(x, *np.transpose(points)))]
    return probabilities[0], probabilities[-1]
