"""Programs that find the thresholds of a model whose order is known, for two players with independent signals.

- `linear`: equal distributions. In u = F(x) both players are uniform and the equations of indifference are a square linear
  system: one elimination, in time that is polynomial in the number of thresholds.
- `lp`: equal distributions, with all rows of optimality; the least violation is minimised.
- `milp`: different distributions that are piecewise linear. A binary for each threshold and segment of the axis says where
  the threshold lies, and ties it to the values of both distribution functions there (Ganzfried & Sandholm 2010).

Each returns thresholds and `slack`, the largest violation of a row. Where it is above zero there is no equilibrium with this
model and order, and `worst` names a row that stands in the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, lil_array

from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.linear_forms import Forms, Label
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, RiverboatError


@dataclass(frozen=True, eq=False)
class Optimum:
    """Thresholds in the order of the model, as places on the axis."""

    cuts: Array
    slack: float  # in the game's unit
    worst: Label | None


def linear(game: ContinuousGame, forms: Forms) -> Optimum:
    """Solve the equations of indifference, then look at all rows."""
    _need_equal(game)
    matrix, right = _in_u(forms.indifference)
    u = np.linalg.lstsq(matrix, right, rcond=1e-12)[0] if len(right) else np.zeros(0)
    mass = np.diff(np.concatenate([[0.0], u, [1.0]]))
    slack, worst = max(0.0, -float(mass.min()) * game.scale), None
    for rows, labels in zip(forms.optimality, forms.labels, strict=True):
        if len(rows):
            gaps = rows @ mass
            k = int(np.argmin(gaps))
            if -gaps[k] > slack:
                slack, worst = float(-gaps[k]), labels[k]
    residual = np.abs(forms.indifference @ mass).max(initial=0.0)
    return Optimum(_places(game, np.sort(np.clip(u, 0.0, 1.0)), forms), max(slack, float(residual)), worst)


def lp(game: ContinuousGame, forms: Forms) -> Optimum:
    """Thresholds that violate the rows of optimality least."""
    _need_equal(game)
    count = len(forms.order)
    rows, right = zip(*(_in_u(table) for table in forms.optimality), strict=True)
    # -(A u - b) - slack <= 0, where a row of the form is b' = A u - b
    table = np.concatenate([np.concatenate(rows), np.ones((sum(map(len, rows)), 1))], axis=1)
    order = np.zeros((max(count - 1, 0), count + 1))
    order[np.arange(count - 1), np.arange(count - 1)] = -1.0
    order[np.arange(count - 1), np.arange(1, count)] = 1.0
    cost = np.concatenate([np.zeros(count), [1.0]])
    optimum = milp(
        cost,
        constraints=[LinearConstraint(table, np.concatenate(right), np.inf), LinearConstraint(order, 0.0, np.inf)],
        bounds=Bounds(np.zeros(count + 1), np.concatenate([np.ones(count), [np.inf]])),
    )
    _solved(optimum, game)
    u = np.clip(optimum.x[:count], 0.0, 1.0)
    mass = np.diff(np.concatenate([[0.0], u, [1.0]]))
    return Optimum(_places(game, u, forms), float(optimum.x[-1]), _binding(forms, (mass, mass)))


def milp_thresholds(game: ContinuousGame, forms: Forms, seconds: float = 60.0) -> Optimum:
    """The same for different distributions: t, F_0(t), F_1(t) of each threshold, and its segment of the axis."""
    signals, count = game.signals, len(forms.order)
    segments = len(signals.edges) - 1
    if not signals.linear:
        raise InputError(f"{game.name}: the MILP needs independent signals with piecewise linear distributions")
    # variables: for each threshold and segment a binary z and a distance w from the segment's begin; then the slack
    size = 2 * count * segments + 1
    width = np.diff(signals.edges)
    z = np.arange(count * segments).reshape(count, segments)
    w = z + count * segments
    place = lil_array((count, size))
    share = [lil_array((count, size)) for _ in (0, 1)]
    for j in range(count):
        place[j, z[j]] = signals.edges[:-1]
        place[j, w[j]] = 1.0
        for p in (0, 1):
            share[p][j, z[j]] = signals.below[p, :-1]
            share[p][j, w[j]] = signals.mass[p] / width
    inside = lil_array((count * segments, size))  # 0 <= w <= width z
    one = lil_array((count, size))  # one segment each
    for j in range(count):
        one[j, z[j]] = 1.0
        for k in range(segments):
            inside[z[j, k], z[j, k]] = width[k]
            inside[z[j, k], w[j, k]] = -1.0
    rises = csr_array(place)[1:] - csr_array(place)[:-1]
    constraints = [
        LinearConstraint(csr_array(inside), 0.0, np.inf),
        LinearConstraint(csr_array(one), 1.0, 1.0),
        LinearConstraint(rises, 0.0, np.inf),
    ]
    last = lil_array((1, size))
    last[0, size - 1] = 1.0
    for me, table in enumerate(forms.optimality):
        if len(table):
            matrix, right = _in_u(table)
            rows = csr_array(csr_array(matrix) @ csr_array(share[1 - me])) + csr_array(
                np.ones((len(table), 1)) @ last.toarray()
            )
            constraints.append(LinearConstraint(rows, right, np.inf))
    upper = np.concatenate([np.ones(count * segments), np.tile(width, count), [np.inf]])
    cost = np.zeros(size)
    cost[-1] = 1.0
    kind = np.concatenate([np.ones(count * segments), np.zeros(count * segments + 1)])
    optimum = milp(
        cost,
        integrality=kind,
        constraints=constraints,
        bounds=Bounds(np.zeros(size), upper),
        options={"time_limit": seconds},
    )
    _solved(optimum, game)
    cuts = np.sort(csr_array(place) @ optimum.x)
    ends = np.concatenate([[signals.low], cuts, [signals.high]])
    mass = tuple(np.diff(signals.cdf(p, ends)) for p in (0, 1))
    return Optimum(cuts, float(optimum.x[-1]), _binding(forms, (mass[0], mass[1])))


def _need_equal(game: ContinuousGame) -> None:
    if not game.signals.equal:
        raise InputError(f"{game.name}: players have different distributions, or ties; use the method milp")


def _in_u(rows: Array) -> tuple[Array, Array]:
    """Rows over probabilities of cells as rows over distribution functions at thresholds: A u and what to compare it with."""
    return rows[:, :-1] - rows[:, 1:], -rows[:, -1]


def _places(game: ContinuousGame, u: Array, forms: Forms) -> Array:
    return np.array([game.signals.quantile(0, float(share)) for share in u])


def _binding(forms: Forms, mass: tuple[Array, Array]) -> Label | None:
    """The row that is violated most."""
    worst, label = 0.0, None
    for me, (rows, labels) in enumerate(zip(forms.optimality, forms.labels, strict=True)):
        if len(rows):
            gaps = rows @ mass[1 - me]
            k = int(np.argmin(gaps))
            if gaps[k] < worst:
                worst, label = float(gaps[k]), labels[k]
    return label


def _solved(optimum: object, game: ContinuousGame) -> None:
    if getattr(optimum, "x", None) is None:
        raise RiverboatError(f"{game.name}: HiGHS stopped: {getattr(optimum, 'message', 'no answer')}")
