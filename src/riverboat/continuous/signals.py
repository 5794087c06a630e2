"""`Signals`: the private numbers of the players, on one axis from weak to strong.

The axis is cut into segments. Inside a segment every player's density is constant, or linear where `tilt` says so. A segment
may be *tied*: it is an atom, one value of the signal that is spread out so that a threshold can lie inside it (the
player mixes there); two signals inside one tied segment are equal. Distribution functions that are piecewise linear, discrete
ones, and mixtures of both are of this kind. Signals of two players may depend on each other: `joint` gives the probability
of each pair of segments, and inside a pair of segments they are independent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

_CLOSE = 1e-9  # how far probabilities may be from a sum of one


@dataclass(frozen=True, eq=False)
class Signals:
    """How signals are dealt. Places on the axis are what thresholds count in; `values` are the users' numbers there."""

    edges: Array  # float64 [segments + 1], rising
    mass: Array  # float64 [players, segments]: probability of each segment
    tied: Array  # bool [segments]
    values: Array  # float64 [segments + 1, 2]: the signal just before and just after each edge
    tilt: Array  # float64 [players, segments] in [-1, 1]: density m (1 + tilt (2t - 1)) for t from 0 to 1
    joint: Array | None = None  # float64 [segments, segments]: of two players who are not independent

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or not np.all(np.isfinite(self.edges)) or not np.all(np.diff(self.edges) > 0):
            raise InputError("signals: the axis needs two or more rising edges")
        if self.mass.min() < 0 or np.any(np.abs(self.mass.sum(axis=1) - 1.0) > _CLOSE):
            raise InputError(f"signals: probabilities of the players sum to {self.mass.sum(axis=1)}: must be 1")
        if np.any(np.abs(self.tilt) > 1.0):
            raise InputError("signals: a density falls below zero: tilts are from -1 to 1")
        if self.players > 2 and (self.tied.any() or self.joint is not None):
            raise InputError(f"signals of {self.players} players: must be continuous and independent")

    @property
    def players(self) -> int:
        """How many."""
        return len(self.mass)

    @property
    def low(self) -> float:
        """Where the axis begins."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """Where it ends."""
        return float(self.edges[-1])

    @cached_property
    def below(self) -> Array:
        """Distribution function of each player at the edges. float64 [players, segments + 1]"""
        zero = np.zeros((self.players, 1))
        return np.concatenate([zero, np.cumsum(self.mass, axis=1)], axis=1)

    @cached_property
    def conditional(self) -> tuple[Array, Array]:
        """Of the other player's segments, given the own one: for player 0, for player 1. float64 [1 or segments, segments]"""
        if self.joint is None:
            return self.mass[1][None], self.mass[0][None]
        tables = []
        for table, own in ((self.joint, self.mass[0]), (self.joint.T, self.mass[1])):
            tables.append(table / np.where(own > 0, own, 1.0)[:, None])
        return tables[0], tables[1]

    @property
    def equal(self) -> bool:
        """Whether all players draw from one distribution, independently and without ties."""
        same = np.allclose(self.mass, self.mass[0]) and np.allclose(self.tilt, self.tilt[0])
        return bool(same and self.joint is None and not self.tied.any())

    @property
    def linear(self) -> bool:
        """Whether distribution functions are piecewise linear and independent."""
        return self.joint is None and not self.tilt.any()

    def segment(self, place: Array) -> Array:
        """The segment in which a place lies. int [...]"""
        numbers: Array = np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, len(self.edges) - 2)
        return numbers

    def cdf(self, player: int, place: Array) -> Array:
        """Probability of a signal below a place. float64 [...]"""
        place = np.clip(np.asarray(place, float), self.low, self.high)
        k = self.segment(place)
        t = (place - self.edges[k]) / (self.edges[k + 1] - self.edges[k])
        below: Array = self.below[player, k] + self.mass[player, k] * (t + self.tilt[player, k] * (t * t - t))
        return below

    def density(self, player: int, place: Array) -> Array:
        """Slope of the distribution function. float64 [...]"""
        k = self.segment(place)
        width = self.edges[k + 1] - self.edges[k]
        t = (np.asarray(place, float) - self.edges[k]) / width
        heights: Array = self.mass[player, k] / width * (1 + self.tilt[player, k] * (2 * t - 1))
        return heights

    def quantile(self, player: int, share: float) -> float:
        """The lowest place with this probability below it, for distribution functions that are piecewise linear."""
        below = self.below[player]
        k = int(np.clip(np.searchsorted(below, share, side="left") - 1, 0, len(self.edges) - 2))
        inside = (share - below[k]) / self.mass[player, k] if self.mass[player, k] > 0 else 0.0
        return float(self.edges[k] + np.clip(inside, 0.0, 1.0) * (self.edges[k + 1] - self.edges[k]))

    def value(self, place: float) -> float:
        """The users' number at a place."""
        k = int(self.segment(np.asarray(place)))
        share = (place - self.edges[k]) / (self.edges[k + 1] - self.edges[k])
        return float(self.values[k, 1] + share * (self.values[k + 1, 0] - self.values[k, 1]))

    def value_line(self, segments: Array) -> tuple[Array, Array]:
        """The users' number at the begin of segments, and how much it grows for one unit of the axis."""
        k = segments
        slope = (self.values[k + 1, 0] - self.values[k, 1]) / (self.edges[k + 1] - self.edges[k])
        return self.values[k, 1], slope

    def untied(self) -> Signals:
        """The same axis with values inside an atom told apart: distribution functions through the points."""
        none = np.zeros_like(self.tied)
        return Signals(self.edges, self.mass, none, self.values, self.tilt, self.joint)


# --- makers -----------------------------------------------------------------------------------


def uniform(players: int = 2, low: float = 0.0, high: float = 1.0) -> Signals:
    """Every player's signal is uniform."""
    return piecewise([[(low, 0.0), (high, 1.0)]] * players)


def piecewise(cdfs: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Independent signals from their distribution functions, given by points `(signal, probability below)`.

    Between points they are linear. Two points with one signal are a jump: an atom.
    """
    tables = [_check(points, f"signals of player {p}") for p, points in enumerate(cdfs)]
    marks = sorted({x for points in tables for x, _ in points})
    jumps = [{x: _jump(points, x) for x in marks} for points in tables]
    edges, values, tied, mass = [marks[0]], [(marks[0], marks[0])], [], []
    span = marks[-1] - marks[0] or 1.0
    at = marks[0]

    def add(width: float, before: float, after: float, masses: list[float], tie: bool) -> None:
        nonlocal at
        values[-1] = (values[-1][0], before)
        at += width
        edges.append(at)
        values.append((after, after))
        tied.append(tie)
        mass.append(masses)

    for left, right in zip(marks, [*marks[1:], None], strict=True):
        atoms = [high - low for low, high in (jump[left] for jump in jumps)]
        if max(atoms) > 0:
            add(span * max(sum(atoms) / len(atoms), 1e-6), left, left, atoms, tie=True)
        if right is not None:
            add(right - left, left, right, [j[right][0] - j[left][1] for j in jumps], tie=False)
    masses = np.array(mass).T
    return Signals(np.array(edges), masses, np.array(tied), np.array(values), np.zeros_like(masses))


def discrete(points: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Independent signals with finitely many values, given by `(signal, probability)`. The axis has atoms alone."""
    marks = sorted({float(x) for table in points for x, _ in table})
    if not marks or any(not table for table in points):
        raise InputError("signals: a player has no values")
    mass = np.zeros((len(points), len(marks)))
    for p, table in enumerate(points):
        for x, chance in table:
            if not chance >= 0:
                raise InputError(f"signals of player {p}: probability {chance:g} of {x:g}: must not be negative")
            mass[p, marks.index(x)] += chance
        if not abs(mass[p].sum() - 1.0) <= _CLOSE:
            raise InputError(f"signals of player {p}: probabilities sum to {mass[p].sum():g}: must be 1")
    edges = np.concatenate([[0.0], np.cumsum(np.maximum(mass.mean(axis=0), 1e-9))])
    low, high = [marks[0], *marks], [*marks, marks[-1]]
    return Signals(edges, mass, np.ones(len(marks), bool), np.stack([low, high], axis=1), np.zeros_like(mass))


def dependent(edges: Sequence[float], joint: Sequence[Sequence[float]], *, tied: bool = False) -> Signals:
    """Signals of two players by the probability of each pair of segments; independent inside a pair.

    Row k is player 0 in segment k: divided by its sum it is the distribution of player 1 given that.
    """
    table = np.asarray(joint, float)
    points = np.asarray(edges, float)
    if table.ndim != 2 or table.shape != (len(points) - 1,) * 2:
        raise InputError(
            f"signals: joint is {table.shape} for {len(points)} edges: one row and column for each segment"
        )
    if table.min() < 0 or not abs(table.sum() - 1.0) <= _CLOSE:
        raise InputError(f"signals: joint probabilities sum to {table.sum():g}: must be 1, and none negative")
    mass = np.stack([table.sum(axis=1), table.sum(axis=0)])
    values = np.stack([points, points], axis=1)
    return Signals(points, mass, np.full(len(table), tied), values, np.zeros_like(mass), table)


def densities(points: Sequence[Sequence[tuple[float, float]]]) -> Signals:
    """Independent signals from densities that are linear between points `(signal, density)`; they are normalised."""
    marks = np.array(sorted({float(x) for table in points for x, _ in table}))
    if len(marks) < 2:
        raise InputError("signals: a density needs two points or more")
    mass = np.zeros((len(points), len(marks) - 1))
    tilt = np.zeros_like(mass)
    for p, table in enumerate(points):
        x, y = np.array(sorted(table), float).T
        if y.min() < 0 or y.max() <= 0:
            raise InputError(f"signals of player {p}: densities {y}: must not be negative, and one above zero")
        heights = np.interp(marks, x, y, left=0.0, right=0.0)
        left, right = heights[:-1].copy(), heights[1:].copy()
        outside = (marks[1:] <= x[0]) | (marks[:-1] >= x[-1])
        left[outside] = right[outside] = 0.0
        mass[p] = (left + right) / 2 * np.diff(marks)
        both = np.where(left + right > 0, left + right, 1.0)
        tilt[p] = (right - left) / both
        mass[p] /= mass[p].sum()
    return Signals(marks, mass, np.zeros(len(marks) - 1, bool), np.stack([marks, marks], axis=1), tilt)


def _check(points: Sequence[tuple[float, float]], where: str) -> list[tuple[float, float]]:
    table = [(float(x), float(p)) for x, p in points]
    if len(table) < 2 or not np.all(np.isfinite(table)):
        raise InputError(f"{where}: a distribution function needs two points or more, all finite")
    for before, after in itertools.pairwise(table):
        if after[0] < before[0] or after[1] < before[1]:
            raise InputError(f"{where}: {after} after {before}: signals and probabilities must not fall")
    if abs(table[0][1]) > _CLOSE or abs(table[-1][1] - 1.0) > _CLOSE:
        raise InputError(f"{where}: goes from {table[0][1]:g} to {table[-1][1]:g}: must go from 0 to 1")
    return table


def _jump(points: list[tuple[float, float]], x: float) -> tuple[float, float]:
    """The distribution function just below and at a signal."""
    here = [p for at, p in points if at == x]
    if here:
        return here[0], here[-1]
    xs, ps = zip(*points, strict=True)
    value = float(np.interp(x, xs, ps))
    return value, value
