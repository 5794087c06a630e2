"""Equilibria of many small zero-sum matrix games at once, by support enumeration.

A matrix game with a positive value has an equilibrium whose supports I and J are of equal size with a square submatrix
B that has an inverse (Shapley & Snow 1950):

    v = 1 / (1'B⁻¹1),   y = v B⁻¹1,   x = v B⁻ᵀ1

All candidates of one size are tried for all games that are still unsolved, smallest supports first. A random matrix
has one equilibrium, which is then found whatever the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array

LARGEST = 6  # rows or columns: the candidates number (m + n choose m)
_SLACK = 1e-9  # by how much rounding may violate an inequality
_SMALL = 1e-12  # a determinant below this has no inverse


@dataclass(frozen=True, eq=False)
class Equilibria:
    """One equilibrium of each game; pay-offs are the row player's."""

    value: Array  # float64 [games]
    rows: Array  # float64 [games, m]
    columns: Array  # float64 [games, n]


def equilibria(games: Array) -> Equilibria:
    """Solve a stack of matrix games. `games` is float [games, m, n], what the row player gets."""
    games = np.asarray(games, float)
    if games.ndim != 3 or not all(1 <= size <= LARGEST for size in games.shape[1:]):
        raise InputError(f"matrix games of shape {games.shape}: give [games, m, n] with m and n from 1 to {LARGEST}")
    if not np.all(np.isfinite(games)):
        raise InputError("matrix games: a pay-off is not finite")
    count, m, n = games.shape
    shift = 1.0 - games.min(axis=(1, 2), initial=0.0)  # pay-offs of at least 1, so that the value is positive
    shifted = games + shift[:, None, None]
    value, x, y = np.zeros(count), np.zeros((count, m)), np.zeros((count, n))
    left = np.arange(count)
    for size in range(1, min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size):
                done, v, part_x, part_y = _candidate(shifted[left], rows, columns)
                solved = left[done]
                value[solved] = v
                x[solved[:, None], rows] = part_x
                y[solved[:, None], columns] = part_y
                left = left[~done]
                if not len(left):
                    return Equilibria(value - shift, x, y)
    raise InputError(f"matrix game {int(left[0])}: no equilibrium within rounding: {games[left[0]].tolist()}")


def _candidate(games: Array, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
    """Which games have their equilibrium on these supports; value and the two parts for those.

    bool [games], float64 [found], float64 [found, size], float64 [found, size]
    """
    part = games[:, rows][:, :, columns]
    if len(rows) == 1:
        v = part[:, 0, 0]
        part_x = part_y = np.ones((len(games), 1))
        fine = np.ones(len(games), bool)
    else:
        fine = np.abs(np.linalg.det(part)) > _SMALL
        inverse = np.linalg.inv(np.where(fine[:, None, None], part, np.eye(len(rows))))
        total = inverse.sum(axis=(1, 2))
        fine &= total > _SMALL
        v = 1.0 / np.where(fine, total, 1.0)
        part_x, part_y = inverse.sum(axis=1) * v[:, None], inverse.sum(axis=2) * v[:, None]
        fine &= (part_x.min(axis=1) >= -_SLACK) & (part_y.min(axis=1) >= -_SLACK)
    # Nobody gains by another row or column. (Inside the supports both are equal to the value.)
    fine &= (np.einsum("gij,gj->gi", games[:, :, columns], part_y) <= v[:, None] + _SLACK).all(axis=1)
    fine &= (np.einsum("gi,gij->gj", part_x, games[:, rows]) >= v[:, None] - _SLACK).all(axis=1)
    return fine, v[fine], np.maximum(part_x[fine], 0.0), np.maximum(part_y[fine], 0.0)
