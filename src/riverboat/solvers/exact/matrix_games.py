"""Equilibria of many small zero-sum matrix games at once, by support enumeration.

A matrix game with a positive value has an equilibrium whose supports I and J have equal size and an invertible square
submatrix B (Shapley & Snow 1950):

    v = 1 / (1'B⁻¹1),   y = v B⁻¹1,   x = v B⁻ᵀ1

All candidates of one size are tried for all games that are still unsolved, smallest supports first. A random matrix has
one equilibrium, which is then found in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array

MAX_ACTIONS = 6  # rows or columns: there are (m + n choose m) candidates
_TOLERANCE = 1e-9  # by how much rounding may violate an inequality
_MIN_DETERMINANT = 1e-12  # matrices with a smaller determinant count as singular


@dataclass(frozen=True, eq=False)
class MatrixEquilibria:
    """One equilibrium of each game; payoffs are the row player's.

    Attributes
    ----------
    value
        Value to the row player. float64 [games]
    rows
        Strategy of the row player. float64 [games, m]
    columns
        Strategy of the column player. float64 [games, n]

    Examples
    --------
    >>> from riverboat.solvers.exact.matrix_games import solve_matrix_games
    >>> solve_matrix_games([[[1, -1], [-1, 1]]]).columns.tolist()
    [[0.5, 0.5]]
    """

    value: Array  # float64 [games]
    rows: Array  # float64 [games, m]
    columns: Array  # float64 [games, n]


def solve_matrix_games(games: Array) -> MatrixEquilibria:
    """Solve a stack of zero-sum matrix games by support enumeration.

    Parameters
    ----------
    games
        Payoffs to the row player. float [games, m, n], m and n at most 6

    Returns
    -------
    MatrixEquilibria
        One equilibrium of each game.

    Raises
    ------
    InputError
        If the shape is another one, a payoff is not finite, or rounding hides the equilibrium of a game.

    References
    ----------
    .. [1] Shapley & Snow, "Basic solutions of discrete games", 1950.

    Examples
    --------
    >>> from riverboat.solvers.exact.matrix_games import solve_matrix_games
    >>> solve_matrix_games([[[1, -1], [-1, 1]], [[3, 0], [0, 1]]]).value.round(6).tolist()
    [0.0, 0.75]
    """
    games = np.asarray(games, float)
    if games.ndim != 3 or not all(1 <= size <= MAX_ACTIONS for size in games.shape[1:]):
        raise InputError(
            f"matrix games of shape {games.shape}: must be [games, m, n] with m and n from 1 to {MAX_ACTIONS}"
        )
    if not np.all(np.isfinite(games)):
        raise InputError("matrix games: a payoff is not finite")
    count, m, n = games.shape
    shift = 1.0 - games.min(axis=(1, 2), initial=0.0)  # payoffs of at least 1, so that the value is positive
    shifted = games + shift[:, None, None]
    value, x, y = np.zeros(count), np.zeros((count, m)), np.zeros((count, n))
    unsolved = np.arange(count)
    for size in range(1, min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size):
                done, v, part_x, part_y = _try_supports(shifted[unsolved], rows, columns)
                solved = unsolved[done]
                value[solved] = v
                x[solved[:, None], rows] = part_x
                y[solved[:, None], columns] = part_y
                unsolved = unsolved[~done]
                if not len(unsolved):
                    return MatrixEquilibria(value - shift, x, y)
    raise InputError(f"matrix game {int(unsolved[0])}: no equilibrium within rounding: {games[unsolved[0]].tolist()}")


def _try_supports(games: Array, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
    """Return which games have an equilibrium on these supports, with its value and the two strategies.

    bool [games], float64 [solved], float64 [solved, size], float64 [solved, size]
    """
    submatrix = games[:, rows][:, :, columns]
    if len(rows) == 1:
        v = submatrix[:, 0, 0]
        part_x = part_y = np.ones((len(games), 1))
        valid = np.ones(len(games), bool)
    else:
        valid = np.abs(np.linalg.det(submatrix)) > _MIN_DETERMINANT
        inverse = np.linalg.inv(np.where(valid[:, None, None], submatrix, np.eye(len(rows))))
        total = inverse.sum(axis=(1, 2))
        valid &= total > _MIN_DETERMINANT
        v = 1.0 / np.where(valid, total, 1.0)
        part_x, part_y = inverse.sum(axis=1) * v[:, None], inverse.sum(axis=2) * v[:, None]
        valid &= (part_x.min(axis=1) >= -_TOLERANCE) & (part_y.min(axis=1) >= -_TOLERANCE)
    # No other row or column gains. (Inside the supports all are equal to the value.)
    valid &= (np.einsum("gij,gj->gi", games[:, :, columns], part_y) <= v[:, None] + _TOLERANCE).all(axis=1)
    valid &= (np.einsum("gi,gij->gj", part_x, games[:, rows]) >= v[:, None] - _TOLERANCE).all(axis=1)
    return valid, v[valid], np.maximum(part_x[valid], 0.0), np.maximum(part_y[valid], 0.0)
