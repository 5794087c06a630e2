"""Thresholds of a model for different distributions, by linear programs along a path of pieces.

In a piece every threshold stays in one segment of the axis. There both distribution functions are linear, so the
thresholds with the least violation of all optimality constraints are a linear program, without the binaries of the mixed
integer program. The path starts at the program's optimum for the mean of both distributions, as if it were that of both
players. A threshold at the border of its segment moves to the next one, where the violation is the same and the program
may lower it further; the path ends without a violation, or where no move lowers it. Every program has polynomial size, and
every round lowers the violation and has at most one program for each threshold; the number of rounds is limited to a
multiple of thresholds × segments. So the time is polynomial. The path is not complete: it may end with a violation where
the mixed integer program finds an equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import LinearConstraint

from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.programs import LinearForms, ThresholdOptimum, cdf_rows, checked_optimum, minimize_slack
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

ROUNDS_PER_CELL = 2  # limit on the rounds of a path, as a multiple of thresholds × segments
_SOLVED = 1e-10  # violation that counts as none, as a share of the pot
_LEAST_GAIN = 1e-3  # share by which a move must lower the violation
_AT_EDGE = 1e-9  # distance to the border of a segment, as a share of its width


@dataclass(frozen=True, eq=False)
class _Piece:
    """The optimum of a piece."""

    segment: Array  # int [N]: segment of each threshold
    share: Array  # float64 [N]: place of each threshold in its segment, from 0 to 1
    slack: float


def solve_threshold_path(game: ContinuousGame, forms: LinearForms) -> ThresholdOptimum:
    """Find the thresholds of a model with an order in polynomial time, for piecewise linear distributions.

    Parameters
    ----------
    game
        Game of two players with independent signals.
    forms
        Linear forms of the model and order.

    Returns
    -------
    ThresholdOptimum
        Thresholds, and the largest violation of a constraint: positive if the path found no equilibrium.

    Raises
    ------
    InputError
        If a distribution is not piecewise linear.

    Examples
    --------
    >>> from riverboat.continuous import signals
    >>> from riverboat.continuous.examples import river
    >>> from riverboat.continuous.programs import build_linear_forms
    >>> from riverboat.continuous.strategies import QualitativeModel
    >>> game = river(signals.from_cdfs([[(0, 0), (0.5, 0.3), (1, 1)], [(0, 0), (1, 1)]]), street="half")
    >>> model = QualitativeModel.from_words(game, {"root": "b x b", "b": "f c"}, "root:1 b:1 root:2")
    >>> optimum = solve_threshold_path(game, build_linear_forms(game, model, model.order))
    >>> optimum.slack < 1e-9
    True
    """
    signals = game.signals
    if not signals.piecewise_linear:
        raise InputError(f"{game.name}: the method path needs independent signals with piecewise linear distributions")
    count, segments = len(forms.order), len(signals.edges) - 1
    best = _solve_piece(game, forms, _initial_segments(game, forms))
    for _ in range(ROUNDS_PER_CELL * count * segments):
        if best.slack <= _SOLVED * game.scale:
            break
        for segment in _neighbors(best, segments):
            piece = _solve_piece(game, forms, segment)
            if piece.slack < best.slack * (1 - _LEAST_GAIN):
                best = piece
                break
        else:
            break  # no move lowers the violation
    cuts = signals.edges[best.segment] + best.share * np.diff(signals.edges)[best.segment]
    return checked_optimum(game, forms, cuts)


def _initial_segments(game: ContinuousGame, forms: LinearForms) -> Array:
    """Return the segments of the thresholds that are optimal if both players have the mean of both distributions."""
    count, mean = len(forms.order), game.signals.cdf_at_edges.mean(axis=0)
    rows, right = cdf_rows(np.concatenate(forms.optimality))
    order = np.diff(np.eye(count, count + 1), axis=0)
    constraints = [
        LinearConstraint(np.concatenate([rows, np.ones((len(rows), 1))], axis=1), right, np.inf),
        LinearConstraint(order, 0.0, np.inf),
    ]
    quantiles = minimize_slack(game, constraints, np.ones(count))[:count]
    inner = np.searchsorted(mean, quantiles, side="right") - 1
    return np.asarray(np.clip(inner, 0, len(mean) - 2))


def _solve_piece(game: ContinuousGame, forms: LinearForms, segment: Array) -> _Piece:
    """Minimize the largest violation over thresholds that stay in these segments."""
    signals, count = game.signals, len(segment)
    width = np.diff(signals.edges)[segment]
    steps = np.diff(signals.cdf_at_edges, axis=1)[:, segment]  # of each distribution function over the segment
    at_start = signals.cdf_at_edges[:, :-1][:, segment]
    position = np.concatenate([np.diag(width), np.zeros((count, 1))], axis=1)
    order = LinearConstraint(np.diff(position, axis=0), -np.diff(signals.edges[segment]), np.inf)
    constraints = [order] if count > 1 else []
    for me, table in enumerate(forms.optimality):
        if len(table):
            matrix, right = cdf_rows(table)
            rows = np.concatenate([matrix * steps[1 - me], np.ones((len(table), 1))], axis=1)
            constraints.append(LinearConstraint(rows, right - matrix @ at_start[1 - me], np.inf))
    variables = minimize_slack(game, constraints, np.ones(count))
    return _Piece(segment, np.clip(variables[:count], 0.0, 1.0), float(variables[-1]))


def _neighbors(piece: _Piece, segments: int) -> Iterator[Array]:
    """Yield the pieces across the borders at which thresholds are: all of them together, then one after the other."""
    move = np.where(piece.share > 1 - _AT_EDGE, 1, np.where(piece.share < _AT_EDGE, -1, 0))
    move[(piece.segment + move < 0) | (piece.segment + move >= segments)] = 0
    moving = np.flatnonzero(move)
    if len(moving) > 1:
        yield piece.segment + move
    for j in moving:
        alone = piece.segment.copy()
        alone[j] += move[j]
        yield alone
