"""Compiled loops of rivers by thresholds. Arrays and scalars in, arrays out.

Ranks are atoms: K of them, numbered from weak to strong, equal ones share. Strategies are [situations, moves, ranks].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

_PIVOT = 1e-11  # below this, relative to the largest, a column says nothing: its threshold stays


class Shape(NamedTuple):
    """A game of two players as arrays: its situations, parents before children, and its leaves."""

    player: Array  # int64 [situations]
    parent: Array  # int64 [situations, 2]: the own situation and move before, -1 where there is none
    width: Array  # int64 [situations]: moves
    length: Array  # int64 [leaves, 2]: own choices on the way
    choice: Array  # int64 [leaves, 2, longest, 2]: situation and move of each
    base: Array  # float64 [leaves, 2]
    prize: Array  # float64 [leaves]


class Bands(NamedTuple):
    """A model as arrays: the moves of all bands, situation by situation, and its thresholds."""

    moves: Array  # int64 [bands]
    first: Array  # int64 [situations + 1]: where the bands of each begin
    situation: Array  # int64 [thresholds]
    below: Array  # int64 [thresholds]: move of the band below
    above: Array  # int64 [thresholds]


@part
def leaf_values(shape, z, me, mass, strategy, out):
    """Add what a leaf is worth to a player with each rank: the other's ranks that play there, times what it pays."""
    other = 1 - me
    ranks = mass.shape[1]
    total, prize, base = 0.0, shape.prize[z], shape.base[z, me]
    for k in range(ranks):
        reach = mass[other, k]
        for n in range(shape.length[z, other]):
            reach *= strategy[shape.choice[z, other, n, 0], shape.choice[z, other, n, 1], k]
        out[k] += prize * (total + reach / 2)
        total += reach
    for k in range(ranks):
        out[k] += base * total


@part
def action_values(shape, me, mass, strategy, worth):
    """What the leaves right after each own choice are worth. worth: float64 [situations + 1, moves, ranks] OUT

    The last row has the leaves before any own choice.
    """
    last = len(shape.player)
    worth[:] = 0.0
    for z in range(len(shape.prize)):
        count = shape.length[z, me]
        if count == 0:
            leaf_values(shape, z, me, mass, strategy, worth[last, 0])
        else:
            s, m = shape.choice[z, me, count - 1, 0], shape.choice[z, me, count - 1, 1]
            leaf_values(shape, z, me, mass, strategy, worth[s, m])


@kernel
def gains(
    shape,
    mass,  # float64 [2, ranks]
    strategy,  # float64 [situations, moves, ranks]
    worth,  # float64 [situations + 1, moves, ranks] room
    out,  # float64 [2, 2] OUT: by player what it gets, and what its best response gets
):
    """Value and best response of both players."""
    last, ranks = len(shape.player), mass.shape[1]
    for me in (0, 1):
        for best in (0, 1):
            action_values(shape, me, mass, strategy, worth)
            for s in range(last - 1, -1, -1):
                if shape.player[s] != me:
                    continue
                up, move = shape.parent[s, 0], shape.parent[s, 1]
                for k in range(ranks):
                    value = -np.inf if best else 0.0
                    for m in range(shape.width[s]):
                        if best:
                            value = max(value, worth[s, m, k])
                        else:
                            value += strategy[s, m, k] * worth[s, m, k]
                    if up < 0:
                        worth[last, 0, k] += value
                    else:
                        worth[up, move, k] += value
            total = 0.0
            for k in range(ranks):
                total += mass[me, k] * worth[last, 0, k]
            out[me, best] = total


@kernel
def regret_matching(
    shape,
    mass,  # float64 [2, ranks]
    iterations,
    regret,  # float64 [situations, moves, ranks] INOUT
    sums,  # float64 [situations, moves, ranks] INOUT: the average, by own reach and iteration
    strategy,  # float64 [situations, moves, ranks] room
    worth,  # float64 [situations + 1, moves, ranks] room
):
    """CFR+ on the ranks: regrets above zero, alternating, averages weighted by the iteration."""
    last, ranks = len(shape.player), mass.shape[1]
    for t in range(1, iterations + 1):
        for me in (0, 1):
            for s in range(last):
                width = shape.width[s]
                for k in range(ranks):
                    total = 0.0
                    for m in range(width):
                        total += regret[s, m, k]
                    for m in range(width):
                        strategy[s, m, k] = regret[s, m, k] / total if total > 0 else 1.0 / width
            action_values(shape, me, mass, strategy, worth)
            for s in range(last - 1, -1, -1):
                if shape.player[s] != me:
                    continue
                up, move = shape.parent[s, 0], shape.parent[s, 1]
                for k in range(ranks):
                    value = 0.0
                    for m in range(shape.width[s]):
                        value += strategy[s, m, k] * worth[s, m, k]
                    for m in range(shape.width[s]):
                        regret[s, m, k] = max(regret[s, m, k] + worth[s, m, k] - value, 0.0)
                    if up >= 0:
                        worth[up, move, k] += value
            for s in range(last):
                if shape.player[s] != me:
                    continue
                for k in range(ranks):
                    reach = float(t)
                    a, b = shape.parent[s, 0], shape.parent[s, 1]
                    while a >= 0:
                        reach *= strategy[a, b, k]
                        a, b = shape.parent[a, 0], shape.parent[a, 1]
                    for m in range(shape.width[s]):
                        sums[s, m, k] += reach * strategy[s, m, k]


@part
def band_move(bands, s, cuts, x):
    """The move of a situation at a place."""
    b, first = bands.first[s], bands.first[s] - s  # one threshold less than bands, situation by situation
    while b < bands.first[s + 1] - 1 and cuts[first] <= x:
        b += 1
        first += 1
    return bands.moves[b]


@kernel
def fill(
    shape,
    bands,
    edges,  # float64 [ranks + 1]
    cuts,  # float64 [thresholds]
    strategy,  # float64 [situations, moves, ranks] OUT
):
    """Bands as frequencies: of the part of an atom that comes to a situation by its own moves, the part of each move.

    Where none comes there, the part of the whole atom.
    """
    ranks = len(edges) - 1
    strategy[:] = 0.0
    for s in range(len(bands.first) - 1):
        for k in range(ranks):
            for whole in (False, True):
                low, total = edges[k], 0.0
                while low < edges[k + 1]:
                    high = edges[k + 1]  # up to the next threshold of this situation or of one before it
                    a = s
                    while a >= 0:
                        for j in range(bands.first[a] - a, bands.first[a + 1] - a - 1):
                            if low < cuts[j] < high:
                                high = cuts[j]
                        a = shape.parent[a, 0]
                    x = (low + high) / 2
                    comes = True
                    a, m = shape.parent[s, 0], shape.parent[s, 1]
                    while a >= 0 and comes and not whole:
                        comes = band_move(bands, a, cuts, x) == m
                        a, m = shape.parent[a, 0], shape.parent[a, 1]
                    if comes:
                        strategy[s, band_move(bands, s, cuts, x), k] += high - low
                        total += high - low
                    low = high
                if total > 0:
                    for m in range(shape.width[s]):
                        strategy[s, m, k] /= total
                    break


@part
def cell_move(bands, place_of, s, done, cell):
    """The move of a situation in a cell: the band above all its thresholds that lie below the cell."""
    b = bands.first[s]
    for j in range(bands.first[s + 1] - bands.first[s] - 1):
        if place_of[done + j] < cell:
            b += 1
    return bands.moves[b]


class NewtonRoom(NamedTuple):
    """Scratch of Newton's method."""

    order: Array  # int64 [2, thresholds]: by place the threshold, by threshold its place; at first as numbered
    act: Array  # int64 [situations, thresholds + 1]
    at: Array  # float64 [4, thresholds + 2]: distribution functions and densities at the sorted thresholds
    row: Array  # float64 [thresholds + 1]
    system: Array  # float64 [thresholds, thresholds + 1]
    best: Array  # float64 [thresholds]


@kernel
def newton(
    shape,
    bands,
    edges,  # float64 [ranks + 1]
    below,  # float64 [2, ranks + 1]: distribution functions at the edges
    steps,
    cuts,  # float64 [thresholds] INOUT
    room,  # NewtonRoom
):
    """Newton's method on the equations of indifference; the least largest one. Atoms are told apart inside."""
    order, act, at, row, system, best = room.order, room.act, room.at, room.row, room.system, room.best
    n, situations, ranks = len(cuts), len(bands.first) - 1, len(edges) - 1
    least, damp = np.inf, 1.0
    for _ in range(steps):
        for j in range(n):  # sort: insertion, as the order hardly changes
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
            s, here = bands.situation[j], order[1, j]
            me = shape.player[s]
            other = 1 - me
            row[:] = 0.0
            for z in range(len(shape.prize)):
                sign, seen = 0.0, False
                for c in range(shape.length[z, me]):
                    a, m = shape.choice[z, me, c, 0], shape.choice[z, me, c, 1]
                    if seen and act[a, here + 1] != m:
                        sign = 0.0
                    if a == s:
                        seen = True
                        sign = (1.0 if m == bands.above[j] else 0.0) - (1.0 if m == bands.below[j] else 0.0)
                if sign == 0.0:
                    continue
                for cell in range(n + 1):
                    plays = True
                    for c in range(shape.length[z, other]):
                        if act[shape.choice[z, other, c, 0], cell] != shape.choice[z, other, c, 1]:
                            plays = False
                            break
                    if plays:
                        row[cell] += sign * (shape.base[z, me] + (shape.prize[z] if cell <= here else 0.0))
            gap = 0.0
            for cell in range(n + 1):
                gap += row[cell] * (at[other, cell + 1] - at[other, cell])
            for i in range(n):
                system[j, order[0, i]] = (row[i] - row[i + 1]) * at[2 + other, i + 1]
            system[j, n] = -gap
        worst = settle(bands, cuts, edges[0], edges[ranks], system)
        if worst < least * 0.999:
            least, damp = worst, min(1.0, 2 * damp)
            for j in range(n):
                best[j] = cuts[j]
        else:
            damp /= 2
        if worst < 1e-13 or damp < 1e-2:
            break
        eliminate(system)
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
    return least


@part
def settle(bands, cuts, low, high, system):
    """Give up equations of bands that are empty and should be; the largest gap of those that are left.

    A band at an end of the axis is rightly empty if its neighbour is better there; one between two thresholds that meet, if
    its lower neighbour is better than it. Then the two neighbours have one threshold, or none where they are the same move.
    """
    n = len(cuts)
    near = 1e-12 * (high - low)
    for j in range(n):
        gap = -system[j, n]  # what the band above gains on the one below
        if (cuts[j] <= low + near and gap >= 0) or (cuts[j] >= high - near and gap <= 0):
            still(system, j, j)
        elif j + 1 < n and bands.situation[j] == bands.situation[j + 1] and cuts[j + 1] - cuts[j] <= near and gap <= 0:
            if bands.below[j] == bands.above[j + 1]:
                still(system, j, j)
                still(system, j + 1, j + 1)
            else:
                for c in range(n + 1):
                    system[j, c] += system[j + 1, c]
                still(system, j + 1, j)
    worst = 0.0
    for j in range(n):
        worst = max(worst, abs(system[j, n]))
    return worst


@part
def still(system, j, with_):
    """Replace an equation: threshold j stays, or moves with another one."""
    n = len(system)
    for c in range(n + 1):
        system[j, c] = 0.0
    system[j, j] = 1.0
    if with_ != j:
        system[j, with_] = -1.0


@part
def eliminate(system):
    """Solve a linear system in place by Gauss and Jordan with row pivots; the answer is in the last column.

    A column without a pivot belongs to a threshold that nothing depends on: it is left where it is.
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
            system[j, n] = 0.0  # its equation is given up with it
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
