"""Mathematical programs for the thresholds of a model with a known order, for two players with independent signals.

- `linear`: equal distributions. In u = F(x) both players are uniform and the indifference equations are a square linear
  system, solved by one elimination in time polynomial in the number of thresholds.
- `lp`: equal distributions, with all optimality constraints; the program minimizes the largest violation.
- `path` (`threshold_path`): different piecewise linear distributions, in polynomial time: linear programs along a path
  that starts at the mean of both distributions.
- `milp`: different piecewise linear distributions. A binary for each threshold and segment of the axis locates the
  threshold, and ties it to the values of both distribution functions there (Ganzfried & Sandholm 2010).

Each returns thresholds and `slack`, the largest violation of a constraint. If it is positive, no equilibrium has this
model and order, and `worst` names a violated constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, kron

from riverboat.continuous.game import Choice, ContinuousGame
from riverboat.continuous.strategies import QualitativeModel, ThresholdOrder
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, RiverboatError

# --- Linear forms of a model with an order of thresholds ---


def has_linear_forms(game: ContinuousGame) -> bool:
    """Whether programs apply: two players, independent piecewise linear signals, payoffs by who is higher."""
    weighted = any(any(path.leaf.signal_weights) for path in game.leaf_paths)
    return game.players == 2 and game.signals.piecewise_linear and not weighted


@dataclass(frozen=True)
class ConstraintLabel:
    """Label of an optimality constraint, which compares the model's plan with another plan at one end of a cell."""

    player: int
    situation: int
    cell: int
    plan: str  # actions of the other plan


@dataclass(frozen=True, eq=False)
class LinearForms:
    """Indifference equations and optimality constraints, linear in the opponent's probabilities of the cells.

    The N thresholds of both players, in their order, divide the axis into N + 1 cells.
    """

    order: ThresholdOrder
    players: Array  # int [N]: player of each threshold, in the order
    indifference: Array  # float64 [N, N + 1]: over the opponent's cells
    optimality: tuple[Array, Array]  # float64 [rows, N + 1]: of each player over the cells of the other
    labels: tuple[tuple[ConstraintLabel, ...], tuple[ConstraintLabel, ...]]
    order_index: Array  # int [N]: position in the order of each threshold of the model


def build_linear_forms(
    game: ContinuousGame, model: QualitativeModel, order: ThresholdOrder, *, rows: bool = True
) -> LinearForms:
    """Build the forms of a model with an order; without `rows` only the indifference equations.

    Values of actions are tables by end of the own cell, own cell, and opponent's cell: float64 [2, N + 1, N + 1].
    """
    if not has_linear_forms(game):
        raise InputError(
            f"{game.name}: programs need two players, independent signals with piecewise linear distributions, and "
            "payoffs by who is higher; use the method newton"
        )
    count = len(order)
    position = {threshold: j for j, threshold in enumerate(order)}
    cells = np.arange(count + 1)
    acts = []
    for s, moves in enumerate(model.bands):
        own_positions = [position[s, k] for k in range(len(moves) - 1)]
        acts.append(np.asarray(moves)[np.searchsorted(own_positions, cells)])  # cell j + 1 is above threshold j
    lower = cells[None, :] < cells[:, None] + np.array([0, 1])[:, None, None]  # [end, own cell, cell]
    players = np.array([game.situations[s].player for s, _ in order], int)
    indifference = np.zeros((count, count + 1))
    tables: list[Array] = []
    labels: list[tuple[ConstraintLabel, ...]] = []
    for me in (0, 1):
        own = game.own_situations(me)
        choices = [(s, move) for s in own for move in range(len(game.situations[s].moves))]
        values = {choice: np.zeros((2, count + 1, count + 1)) for choice in choices}  # continuing by the model
        for path in game.leaf_paths:
            if not path.choices[me]:
                continue
            reach = np.ones(count + 1)
            for s, move in path.choices[1 - me]:
                reach = reach * (acts[s] == move)
            pay = path.leaf.base[me] + (path.leaf.prize * lower if me in path.leaf.contenders else 0.0)
            values[path.choices[me][-1]] += pay * reach
        chosen: dict[int, Array] = {}  # by situation: value of the model's action
        immediate = {choice: row.copy() for choice, row in values.items()}  # leaves right after the action
        for s in reversed(own):
            each = np.stack([values[s, move] for move in range(len(game.situations[s].moves))])
            chosen[s] = np.take_along_axis(each, acts[s][None, None, :, None], axis=0)[0]
            parent = game.situations[s].parent
            if parent is not None:
                values[parent] += chosen[s]
        for j, (s, k) in enumerate(order):
            if players[j] == me:
                low, high = model.bands[s][k], model.bands[s][k + 1]
                indifference[j] = values[s, high][0, j + 1] - values[s, low][0, j + 1]
        table, names = _optimality_rows(game, immediate, chosen) if rows and chosen else (np.zeros((0, count + 1)), [])
        tables.append(table)
        labels.append(tuple(names))
    order_index = np.array([position[t] for t in model.thresholds], int)
    return LinearForms(order, players, indifference, (tables[0], tables[1]), (labels[0], labels[1]), order_index)


def _optimality_rows(
    game: ContinuousGame, immediate: dict[Choice, Array], chosen: dict[int, Array]
) -> tuple[Array, list[ConstraintLabel]]:
    """Build the constraints of one player: the model's plan less every other plan, by first situation, cell and end.

    The values are those of the leaves right after each action, and of the model's action in each own situation.
    """

    def plans(s: int) -> list[tuple[str, Array]]:
        out = []
        for move, label in enumerate(game.situations[s].moves):
            below = [plans(child) for child in sorted(chosen) if game.situations[child].parent == (s, move)]
            for rest in product(*below):
                plan = " then ".join([label, *(plan for plan, _ in rest)])
                out.append((plan, immediate[s, move] + sum(row for _, row in rest)))
        return out

    rows, labels = [], []
    for s in sorted(s for s in chosen if game.situations[s].parent is None):
        for plan, row in plans(s):
            gap = chosen[s] - row
            for end, cell in zip(*np.nonzero(np.abs(gap).max(axis=2) > 0), strict=True):
                rows.append(gap[end, cell])
                labels.append(ConstraintLabel(game.situations[s].player, s, int(cell), plan))
    return np.array(rows).reshape(-1, next(iter(chosen.values())).shape[-1]), labels


@dataclass(frozen=True, eq=False)
class ThresholdOptimum:
    """Thresholds of a program in the order of the model, as positions on the axis."""

    cuts: Array  # float64 [N]
    slack: float  # largest violation of a constraint, in the game's unit
    worst: ConstraintLabel | None  # constraint with the largest violation; None if none is violated


def solve_threshold_system(game: ContinuousGame, forms: LinearForms) -> ThresholdOptimum:
    """Solve the indifference equations of equal distributions, then check all optimality constraints."""
    _require_equal_distributions(game)
    matrix, right = cdf_rows(forms.indifference)
    u = np.linalg.lstsq(matrix, right, rcond=1e-12)[0] if len(right) else np.zeros(0)
    mass = np.diff(np.concatenate([[0.0], u, [1.0]]))
    slack, worst = _largest_violation(forms, (mass, mass), max(0.0, -float(mass.min()) * game.scale))
    residual = np.abs(forms.indifference @ mass).max(initial=0.0)
    return ThresholdOptimum(_quantile_cuts(game, np.sort(np.clip(u, 0.0, 1.0))), max(slack, float(residual)), worst)


def solve_threshold_lp(game: ContinuousGame, forms: LinearForms) -> ThresholdOptimum:
    """Find thresholds, for equal distributions, that minimize the largest violation of the optimality constraints."""
    _require_equal_distributions(game)
    count = len(forms.order)
    rows, right = cdf_rows(np.concatenate(forms.optimality))
    # -(A u - b) - slack <= 0, where a row of the form is b' = A u - b
    table = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    order = np.diff(np.eye(count, count + 1), axis=0)
    constraints = [LinearConstraint(table, right, np.inf), LinearConstraint(order, 0.0, np.inf)]
    variables = minimize_slack(game, constraints, np.ones(count))
    u = np.clip(variables[:count], 0.0, 1.0)
    mass = np.diff(np.concatenate([[0.0], u, [1.0]]))
    return ThresholdOptimum(_quantile_cuts(game, u), float(variables[-1]), _largest_violation(forms, (mass, mass))[1])


def solve_threshold_milp(game: ContinuousGame, forms: LinearForms, seconds: float = 60.0) -> ThresholdOptimum:
    """Solve the program for different distributions: t, F_0(t), F_1(t) and the segment of each threshold."""
    signals, count = game.signals, len(forms.order)
    segments = len(signals.edges) - 1
    if not signals.piecewise_linear:
        raise InputError(f"{game.name}: the MILP needs independent signals with piecewise linear distributions")
    width, ones = np.diff(signals.edges), np.ones(segments)

    def rows_by_threshold(binary: Array, distance: Array) -> csr_array:
        """Repeat constraint rows, given by their coefficients, for each threshold. Arguments: float64 [..., segments]

        The variables are a binary for each threshold and segment, its distance from the start of the segment, and the
        slack, which has coefficient 0.
        """
        each = [kron(eye_array(count), np.atleast_2d(block)) for block in (binary, distance)]
        rows = csr_array(hstack([*each, np.zeros((each[0].shape[0], 1))]))
        rows.eliminate_zeros()
        return rows

    position = rows_by_threshold(signals.edges[:-1], ones)
    constraints = [
        # Each threshold lies in one segment, and its distance is at most the width of that segment.
        LinearConstraint(rows_by_threshold(np.diag(width), -np.eye(segments)), 0.0, np.inf),
        LinearConstraint(rows_by_threshold(ones, 0 * ones), 1.0, 1.0),
        LinearConstraint(position[1:] - position[:-1], 0.0, np.inf),
    ]
    for me, table in enumerate(forms.optimality):
        if len(table):
            matrix, right = cdf_rows(table)
            cdf = rows_by_threshold(signals.cdf_at_edges[1 - me, :-1], signals.mass[1 - me] / width)
            rows = hstack([(csr_array(matrix) @ cdf)[:, :-1], np.ones((len(table), 1))])
            constraints.append(LinearConstraint(csr_array(rows), right, np.inf))
    upper = np.concatenate([np.ones(count * segments), np.tile(width, count)])
    integrality = np.concatenate([np.ones(count * segments), np.zeros(count * segments + 1)])
    variables = minimize_slack(game, constraints, upper, integrality=integrality, options={"time_limit": seconds})
    cuts = np.sort(position @ variables)
    ends = np.concatenate([[signals.low], cuts, [signals.high]])
    mass = np.diff(signals.cdf(0, ends)), np.diff(signals.cdf(1, ends))
    return ThresholdOptimum(cuts, float(variables[-1]), _largest_violation(forms, mass)[1])


def checked_optimum(game: ContinuousGame, forms: LinearForms, cuts: Array) -> ThresholdOptimum:
    """Return thresholds with their largest violation of the order, of indifference and of optimality.

    cuts: float64 [N] in the order of the forms
    """
    signals, ordered = game.signals, np.sort(np.clip(cuts, game.signals.low, game.signals.high))
    ends = np.concatenate([[signals.low], ordered, [signals.high]])
    mass = np.stack([np.diff(signals.cdf(player, ends)) for player in (0, 1)])
    disorder = float(np.abs(ordered - cuts).max(initial=0.0)) / (signals.high - signals.low) * game.scale
    gaps = np.einsum("jc,jc->j", forms.indifference, mass[1 - forms.players])
    slack, worst = _largest_violation(forms, (mass[0], mass[1]), disorder)
    return ThresholdOptimum(ordered, max(slack, float(np.abs(gaps).max(initial=0.0))), worst)


def minimize_slack(
    game: ContinuousGame, constraints: Sequence[LinearConstraint], upper: Array, **options: Any
) -> Array:
    """Minimize the last variable, the slack, with the others from 0 to `upper`; return all variables."""
    bounds = Bounds(np.zeros(len(upper) + 1), np.append(upper, np.inf))
    optimum = milp(np.append(np.zeros(len(upper)), 1.0), constraints=constraints, bounds=bounds, **options)
    if optimum.x is None:
        raise RiverboatError(f"{game.name}: HiGHS stopped: {optimum.message}")
    return np.asarray(optimum.x)


def _require_equal_distributions(game: ContinuousGame) -> None:
    if not game.signals.identically_distributed:
        raise InputError(f"{game.name}: the method needs equal distributions without ties; use the method milp")


def cdf_rows(rows: Array) -> tuple[Array, Array]:
    """Convert forms over cell probabilities to A u ≥ b, where u is the distribution function at the thresholds.

    Return A and b.
    """
    return rows[:, :-1] - rows[:, 1:], -rows[:, -1]


def _quantile_cuts(game: ContinuousGame, u: Array) -> Array:
    return np.array([game.signals.quantile(0, float(share)) for share in u])


def _largest_violation(
    forms: LinearForms, mass: tuple[Array, Array], least: float = 0.0
) -> tuple[float, ConstraintLabel | None]:
    """Return the largest violation of a constraint above `least` and its label; `least` and None without one.

    mass: probability of each cell for player 0 and for player 1, float64 [N + 1] each
    """
    violation, label = least, None
    for rows, labels, other in zip(forms.optimality, forms.labels, mass[::-1], strict=True):
        if len(rows):
            gaps = rows @ other
            k = int(np.argmin(gaps))
            if -gaps[k] > violation:
                violation, label = float(-gaps[k]), labels[k]
    return violation, label
