"""Compiled kernels for rivers with threshold strategies: best responses, CFR+ and Newton's method.

The signal of a hand is its rank. A rank is an atom; ranks are numbered from weak to strong, and equal ranks split the
pot. Strategies are arrays [situations, moves, ranks]. A situation is an information set without the signal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

_PIVOT = 1e-11  # a column whose pivot is smaller, relative to the largest entry, leaves its threshold unchanged


class ContinuousGameArrays(NamedTuple):
    """A two-player continuous game as arrays: its situations, parents before children, and its leaves."""

    player: Array  # int64 [situations]
    parent: Array  # int64 [situations, 2]: the player's previous situation and action, -1 if there is none
    width: Array  # int64 [situations]: number of actions
    length: Array  # int64 [leaves, 2]: number of choices of each player on the path
    choice: Array  # int64 [leaves, 2, longest, 2]: situation and action of each choice
    base: Array  # float64 [leaves, 2]
    prize: Array  # float64 [leaves]


class BandArrays(NamedTuple):
    """A qualitative model as arrays: the actions of all bands, situation by situation, and its thresholds."""

    moves: Array  # int64 [bands]
    first: Array  # int64 [situations + 1]: offset of the bands of each situation
    situation: Array  # int64 [thresholds]
    below: Array  # int64 [thresholds]: action of the band below
    above: Array  # int64 [thresholds]


@inline
def leaf_values(game, z, me, mass, strategy, out):
    """Add the counterfactual value of leaf `z` to player `me` to `out`, for each of its ranks.

    The value is the payoff against the opponent's ranks, weighted by their reach of the leaf. Equal ranks split the
    prize. mass: float64 [2, ranks], probability of each rank
    """
    other = 1 - me
    ranks = mass.shape[1]
    total, prize, base = 0.0, game.prize[z], game.base[z, me]
    for k in range(ranks):
        reach = mass[other, k]
        for n in range(game.length[z, other]):
            reach *= strategy[game.choice[z, other, n, 0], game.choice[z, other, n, 1], k]
        out[k] += prize * (total + reach / 2)
        total += reach
    for k in range(ranks):
        out[k] += base * total


@inline
def action_values(game, me, mass, strategy, values):
    """Compute the values of the leaves right after each action of a player, at the profile `strategy`.

    values: float64 [situations + 1, moves, ranks] OUT. The last row has the leaves before any choice of the player.
    """
    last = len(game.player)
    values[:] = 0.0
    for z in range(len(game.prize)):
        count = game.length[z, me]
        if count == 0:
            leaf_values(game, z, me, mass, strategy, values[last, 0])
        else:
            s, m = game.choice[z, me, count - 1, 0], game.choice[z, me, count - 1, 1]
            leaf_values(game, z, me, mass, strategy, values[s, m])


@kernel
def value_and_best_response(
    game,
    mass,  # float64 [2, ranks]
    strategy,  # float64 [situations, moves, ranks]
    values,  # float64 [situations + 1, moves, ranks] workspace
    out,  # float64 [2, 2] OUT: by player its expected value and its best-response value
):
    """Compute the expected value and the best-response value of both players."""
    last, ranks = len(game.player), mass.shape[1]
    for me in (0, 1):
        for best in (0, 1):
            action_values(game, me, mass, strategy, values)
            for s in range(last - 1, -1, -1):
                if game.player[s] != me:
                    continue
                parent, parent_move = game.parent[s, 0], game.parent[s, 1]
                for k in range(ranks):
                    value = -np.inf if best else 0.0
                    for m in range(game.width[s]):
                        if best:
                            value = max(value, values[s, m, k])
                        else:
                            value += strategy[s, m, k] * values[s, m, k]
                    if parent < 0:
                        values[last, 0, k] += value
                    else:
                        values[parent, parent_move, k] += value
            total = 0.0
            for k in range(ranks):
                total += mass[me, k] * values[last, 0, k]
            out[me, best] = total


@kernel
def cfr_plus(
    game,
    mass,  # float64 [2, ranks]
    iterations,
    regret,  # float64 [situations, moves, ranks] INOUT
    sums,  # float64 [situations, moves, ranks] INOUT: average strategy, weighted by own reach and iteration
    strategy,  # float64 [situations, moves, ranks] workspace
    values,  # float64 [situations + 1, moves, ranks] workspace
):
    """Run CFR+ on the ranks (Tammelin 2014): alternating updates, regrets floored at zero, linear averaging."""
    last, ranks = len(game.player), mass.shape[1]
    for t in range(1, iterations + 1):
        for me in (0, 1):
            for s in range(last):
                width = game.width[s]
                for k in range(ranks):
                    total = 0.0
                    for m in range(width):
                        total += regret[s, m, k]
                    for m in range(width):
                        strategy[s, m, k] = regret[s, m, k] / total if total > 0 else 1.0 / width
            action_values(game, me, mass, strategy, values)
            for s in range(last - 1, -1, -1):
                if game.player[s] != me:
                    continue
                parent, parent_move = game.parent[s, 0], game.parent[s, 1]
                for k in range(ranks):
                    value = 0.0
                    for m in range(game.width[s]):
                        value += strategy[s, m, k] * values[s, m, k]
                    for m in range(game.width[s]):
                        regret[s, m, k] = max(regret[s, m, k] + values[s, m, k] - value, 0.0)
                    if parent >= 0:
                        values[parent, parent_move, k] += value
            for s in range(last):
                if game.player[s] != me:
                    continue
                for k in range(ranks):
                    reach = float(t)
                    a, b = game.parent[s, 0], game.parent[s, 1]
                    while a >= 0:
                        reach *= strategy[a, b, k]
                        a, b = game.parent[a, 0], game.parent[a, 1]
                    for m in range(game.width[s]):
                        sums[s, m, k] += reach * strategy[s, m, k]


@inline
def band_move(bands, s, cuts, x):
    """Return the action of a situation at a position on the axis."""
    b, first = bands.first[s], bands.first[s] - s  # each situation has one threshold less than it has bands
    while b < bands.first[s + 1] - 1 and cuts[first] <= x:
        b += 1
        first += 1
    return bands.moves[b]


@kernel
def fill_frequencies(
    game,
    bands,
    edges,  # float64 [ranks + 1]
    cuts,  # float64 [thresholds]
    strategy,  # float64 [situations, moves, ranks] OUT
):
    """Convert bands to frequencies of actions for each rank.

    Only the part of an atom that reaches a situation by the player's own actions counts; the whole atom if no part
    reaches it.
    """
    ranks = len(edges) - 1
    strategy[:] = 0.0
    for s in range(len(bands.first) - 1):
        for k in range(ranks):
            for whole in (False, True):
                low, total = edges[k], 0.0
                while low < edges[k + 1]:
                    high = edges[k + 1]  # up to the next threshold of this situation or of an earlier own situation
                    a = s
                    while a >= 0:
                        for j in range(bands.first[a] - a, bands.first[a + 1] - a - 1):
                            if low < cuts[j] < high:
                                high = cuts[j]
                        a = game.parent[a, 0]
                    x = (low + high) / 2
                    reached = True
                    a, m = game.parent[s, 0], game.parent[s, 1]
                    while a >= 0 and reached and not whole:
                        reached = band_move(bands, a, cuts, x) == m
                        a, m = game.parent[a, 0], game.parent[a, 1]
                    if reached:
                        strategy[s, band_move(bands, s, cuts, x), k] += high - low
                        total += high - low
                    low = high
                if total > 0:
                    for m in range(game.width[s]):
                        strategy[s, m, k] /= total
                    break


@inline
def cell_move(bands, place_of, s, done, cell):
    """Return the action of a situation in a cell between neighbouring thresholds.

    place_of: int64 [thresholds], position of each threshold in sorted order; done: number of thresholds of the
    situations before `s`
    """
    b = bands.first[s]
    for j in range(bands.first[s + 1] - bands.first[s] - 1):
        if place_of[done + j] < cell:
            b += 1
    return bands.moves[b]


class NewtonWorkspace(NamedTuple):
    """Scratch memory of Newton's method."""

    order: Array  # int64 [2, thresholds]: threshold at each position, position of each one; initially the identity
    act: Array  # int64 [situations, thresholds + 1]
    at: Array  # float64 [4, thresholds + 2]: distribution functions and densities at the sorted thresholds
    row: Array  # float64 [thresholds + 1]
    system: Array  # float64 [thresholds, thresholds + 1]
    best: Array  # float64 [thresholds]


@kernel
def newton(
    game,
    bands,
    edges,  # float64 [ranks + 1]
    below,  # float64 [2, ranks + 1]: distribution functions at the edges
    steps,
    cuts,  # float64 [thresholds] INOUT
    workspace,  # NewtonWorkspace
):
    """Run at most `steps` damped Newton steps on the indifference equations; return the smallest maximum residual.

    On return `cuts` has the thresholds with that residual. Positions inside an atom are distinct signals here.
    """
    order, act, at, row, system, best = workspace
    n, situations, ranks = len(cuts), len(bands.first) - 1, len(edges) - 1
    least_residual, damp = np.inf, 1.0
    for _ in range(steps):
        for j in range(n):  # insertion sort: the order hardly changes between steps
            i = j
            while i > 0 and cuts[order[0, i - 1]] > cuts[j]:
                order[0, i] = order[0, i - 1]
                i -= 1
            order[0, i] = j
        for i in range(n):
            order[1, order[0, i]] = i
        done = 0
        for s in range(situations):
            for c in range(n + 1):
                act[s, c] = cell_move(bands, order[1], s, done, c)
            done += bands.first[s + 1] - bands.first[s] - 1
        k = 0
        for i in range(n):
            x = cuts[order[0, i]]
            while k < ranks - 1 and edges[k + 1] <= x:
                k += 1
            for p in (0, 1):
                slope = (below[p, k + 1] - below[p, k]) / (edges[k + 1] - edges[k])
                at[p, i + 1] = below[p, k] + slope * (x - edges[k])
                at[2 + p, i + 1] = slope
        for p in (0, 1):
            at[p, 0], at[p, n + 1] = 0.0, 1.0
        for j in range(n):
            s, position = bands.situation[j], order[1, j]
            me = game.player[s]
            other = 1 - me
            row[:] = 0.0
            for z in range(len(game.prize)):
                sign, passed = 0.0, False
                for c in range(game.length[z, me]):
                    a, m = game.choice[z, me, c, 0], game.choice[z, me, c, 1]
                    if passed and act[a, position + 1] != m:
                        sign = 0.0
                    if a == s:
                        passed = True
                        sign = (1.0 if m == bands.above[j] else 0.0) - (1.0 if m == bands.below[j] else 0.0)
                if sign == 0.0:
                    continue
                for cell in range(n + 1):
                    reached = True
                    for c in range(game.length[z, other]):
                        if act[game.choice[z, other, c, 0], cell] != game.choice[z, other, c, 1]:
                            reached = False
                            break
                    if reached:
                        row[cell] += sign * (game.base[z, me] + (game.prize[z] if cell <= position else 0.0))
            gap = 0.0
            for cell in range(n + 1):
                gap += row[cell] * (at[other, cell + 1] - at[other, cell])
            for i in range(n):
                system[j, order[0, i]] = (row[i] - row[i + 1]) * at[2 + other, i + 1]
            system[j, n] = -gap
        residual = drop_empty_bands(bands, cuts, edges[0], edges[ranks], system)
        if residual < least_residual * 0.999:
            least_residual, damp = residual, min(1.0, 2 * damp)
            for j in range(n):
                best[j] = cuts[j]
        else:
            damp /= 2
        if residual < 1e-13 or damp < 1e-2:
            break
        solve_linear_system(system)
        first = 0
        for s in range(situations):
            count = bands.first[s + 1] - bands.first[s] - 1
            low = edges[0]
            for j in range(first, first + count):
                cuts[j] = max(low, min(edges[ranks], cuts[j] + damp * system[j, n]))
                low = cuts[j]
            first += count
    for j in range(n):
        cuts[j] = best[j]
    return least_residual


@inline
def drop_empty_bands(bands, cuts, low, high, system):
    """Replace the indifference equations of bands that may be empty in equilibrium; return the largest residual.

    A band at an end of the axis may be empty if the action of its neighbour is better there. A band between two
    coinciding thresholds may be empty if the action below is better than its own. Then its two neighbours share one
    threshold, or have none if they are the same action. The residual is that of the equations after replacement.
    """
    n = len(cuts)
    near = 1e-12 * (high - low)
    for j in range(n):
        gap = -system[j, n]  # gain of the action above over the action below
        if (cuts[j] <= low + near and gap >= 0) or (cuts[j] >= high - near and gap <= 0):
            fix_threshold(system, j, j)
        elif j + 1 < n and bands.situation[j] == bands.situation[j + 1] and cuts[j + 1] - cuts[j] <= near and gap <= 0:
            if bands.below[j] == bands.above[j + 1]:
                fix_threshold(system, j, j)
                fix_threshold(system, j + 1, j + 1)
            else:
                for c in range(n + 1):
                    system[j, c] += system[j + 1, c]
                fix_threshold(system, j + 1, j)
    residual = 0.0
    for j in range(n):
        residual = max(residual, abs(system[j, n]))
    return residual


@inline
def fix_threshold(system, j, other):
    """Replace an equation: fix threshold j, or tie its step to the step of another threshold."""
    n = len(system)
    for c in range(n + 1):
        system[j, c] = 0.0
    system[j, j] = 1.0
    if other != j:
        system[j, other] = -1.0


@inline
def solve_linear_system(system):
    """Solve a linear system in place by Gauss-Jordan elimination with row pivots; the solution is in the last column.

    A column without a pivot belongs to a threshold that no equation depends on: it stays unchanged.
    """
    n = len(system)
    size = 0.0
    for i in range(n):
        for j in range(n):
            size = max(size, abs(system[i, j]))
    for j in range(n):
        top = j
        for i in range(j + 1, n):
            if abs(system[i, j]) > abs(system[top, j]):
                top = i
        if abs(system[top, j]) <= _PIVOT * size:
            for i in range(n):
                system[i, j] = 0.0
            system[j, n] = 0.0  # drop its equation too
            for c in range(n):
                system[j, c] = 0.0
            system[j, j] = 1.0
            continue
        if top != j:
            for c in range(n + 1):
                system[j, c], system[top, c] = system[top, c], system[j, c]
        pivot = system[j, j]
        for c in range(n + 1):
            system[j, c] /= pivot
        for i in range(n):
            if i != j and system[i, j] != 0.0:
                factor = system[i, j]
                for c in range(n + 1):
                    system[i, c] -= factor * system[j, c]
