"""Deviation-based best response (Ganzfried & Sandholm 2011): the equilibrium, moved to what the opponent is seen to do.

At every public history the model keeps close to the equilibrium and yet shows the observed frequencies:

    closest s to σ*   subject to   Σ_b β_b s_b = α,   every s_b a distribution

α are the posterior frequencies, β the weights of the buckets. Then respond best to the model. Close means:

- `l1`: Σ_b β_b Σ_a |s - σ*| is least. Many s share the least. Here every bucket gives up the same part of an action that
  is to be used less, and gets it in the actions to be used more; a linear program would return a corner, any of them.
- `l2`: Σ_b β_b Σ_a (s - σ*)² is least; then s_b is σ*_b plus one vector for all buckets, projected to the simplex.
- `em`: the paper's earth mover's heuristic. An overused action is raised to the full in the bucket that uses it most, then
  in the next; an underused one is lowered where it is used least first. The last bucket takes the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, RiverboatError, unknown
from riverboat.games.base import Array
from riverboat.opponents.models.small_games import Counts, PublicHistory, follow, frequencies, observe, posterior
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree


def fit_l1(weights: Array, rows: Array, target: Array) -> Array:
    """Rows [b, actions] with Σ_b weights_b rows_b = target, at the least weighted L1 distance."""
    now = weights @ rows
    excess, lack = np.maximum(now - target, 0.0), np.maximum(target - now, 0.0)
    if lack.sum() <= 0:
        return rows
    part = np.divide(excess, now, out=np.zeros_like(now), where=now > 0)
    freed = rows * part
    moved: Array = rows - freed + freed.sum(axis=1, keepdims=True) * (lack / lack.sum())
    return moved


def fit_l2(weights: Array, rows: Array, target: Array) -> Array:
    """The same at the least weighted squared distance: Newton's method on the dual."""

    def dual(shift: Array) -> tuple[float, Array]:
        made = _project(rows + shift)
        return float(weights @ (((made - rows) ** 2).sum(axis=1) / 2 - made @ shift) + target @ shift), made

    shift = np.zeros(rows.shape[1])
    height, made = dual(shift)
    for _ in range(200):
        slope = target - weights @ made
        if np.abs(slope).max() < 1e-12:
            break
        active = (made > 0).astype(float)  # where the projection moves with the shift
        size = active.sum(axis=1)
        hessian = np.diag(weights @ active) - (active * (weights / size)[:, None]).T @ active
        step = np.linalg.lstsq(hessian + 1e-12 * np.eye(len(slope)), slope, rcond=None)[0]
        if step @ slope <= 0 or not np.all(np.isfinite(step)):
            step = slope
        scale = 1.0
        while scale > 1e-12:
            higher, tried = dual(shift + scale * step)
            if higher >= height + 1e-4 * scale * float(step @ slope):
                break
            scale /= 2
        else:
            higher, tried, scale, step = *dual(shift + slope), 1.0, slope  # gradients of the dual are 1-Lipschitz
        shift, height, made = shift + scale * step, higher, tried
    if np.abs(target - weights @ made).max() > 1e-6:
        raise RiverboatError(f"L2 fit: frequencies {weights @ made} instead of {target}")
    return made


def _project(points: Array) -> Array:
    """The nearest distribution to each row (Held, Wolfe & Crowder 1974). float64 [rows, actions]"""
    falling = -np.sort(-points, axis=1)
    above = (falling.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    last = (falling > above).sum(axis=1) - 1
    nearest: Array = np.maximum(points - above[np.arange(len(points)), last][:, None], 0.0)
    return nearest


def fit_em(weights: Array, rows: Array, target: Array) -> Array:
    """The same by moving whole buckets, the last action of the menu first."""
    made = rows.copy()
    for a in range(rows.shape[1] - 1, 0, -1):
        room = 1 - made[:, a + 1 :].sum(axis=1)  # what later actions have left
        gap = float(target[a] - weights @ made[:, a])
        order = np.argsort(rows[:, a], kind="stable")
        if gap > 0:
            order = order[::-1]
        limit = weights * (room - made[:, a] if gap > 0 else made[:, a])  # what each bucket can give, in all
        taken = np.clip(abs(gap) - (np.cumsum(limit[order]) - limit[order]), 0.0, limit[order])
        step = np.zeros(len(weights))
        used = weights[order] > 0
        step[order[used]] = np.sign(gap) * taken[used] / weights[order][used]
        others = made[:, :a].sum(axis=1, keepdims=True)
        share = np.where(others > 0, made[:, :a] / np.where(others > 0, others, 1.0), np.eye(a)[a - 1])
        made[:, a] += step
        made[:, :a] -= step[:, None] * share
    return np.maximum(made, 0.0)


FITS: dict[str, Callable[[Array, Array, Array], Array]] = {"l1": fit_l1, "l2": fit_l2, "em": fit_em}


def model(base: Strategy, player: int, wanted: Counts, fit: str = "em") -> Strategy:
    """The strategy of `player` nearest to `base` that shows the wanted frequencies; the other's rows are kept.

    `wanted` is what `posterior` gives: action probabilities at every public history of the player.
    """
    if fit not in FITS:
        raise unknown("fit", fit, FITS)
    move = FITS[fit]

    def place(history: PublicHistory, weights: Array, rows: Array) -> Array:
        return move(weights, rows, wanted[history.line])

    return follow(base, player, place)


@dataclass(frozen=True, eq=False)
class Match:
    """Exact expectation of every hand of a match to the player who models."""

    earned: Array  # float64 [hands]

    @property
    def mean(self) -> float:
        """Per hand."""
        return float(self.earned.mean())


def play(
    base: Strategy,
    opponent: Strategy,
    player: int,
    fit: str | None = "em",
    hands: int = 3000,
    learn: int = 1000,
    every: int = 50,
    prior: float = 5.0,
    seed: int = 0,
) -> Match:
    """A match: `base` for `learn` hands, then the best response to the model, made anew `every` so many hands.

    Only public actions are seen. With `fit=None` the player keeps to `base`. Of the opponent's strategy only the rows of
    the other player count.
    """
    tree = base.tree
    if not isinstance(tree, PublicTree) or opponent.tree.fingerprint != tree.fingerprint:
        raise InputError(f"{tree.name}: a match needs two strategies for one public tree")
    if min(hands, every) < 1 or learn < 0:
        raise InputError(f"hands={hands}, learn={learn}, every={every}: cannot be")
    rng = np.random.default_rng(seed)
    expected = frequencies(base, 1 - player)
    counts = {line: np.zeros(len(frequency)) for line, frequency in expected.items()}
    earned = np.empty(hands)
    done = 0
    while done < hands:
        mine = base
        block = min(every, hands - done)
        if fit is None:
            block = hands
        elif done < learn:
            block = min(learn, hands)
        else:
            _, mine = best_response(model(base, 1 - player, posterior(expected, counts, prior), fit), player)
        profile = join(mine, opponent, player)
        earned[done : done + block] = quality(profile).values[player]
        if fit is not None:
            for line, seen in observe(tree, profile, 1 - player, block, rng).items():
                counts[line] += seen
        done += block
    return Match(earned)


def join(mine: Strategy, other: Strategy, player: int) -> Strategy:
    """A player's rows of one strategy with the rest of another."""
    tree = mine.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: joining strategies needs a public game")
    table = np.array(other.probabilities, float)
    tree.views(table)[player][:] = tree.views(np.asarray(mine.probabilities))[player]
    return Strategy(tree, table)
