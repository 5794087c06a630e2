"""Compiled loops of k-means: seeding, and one pass that assigns points to centres and sums them up.

Points are mapped to rows, one at a time, in a scratch row: a histogram becomes its cumulative sum at mass one, other points
stay as they are. In the space of rows the earth mover's distance is the L1 distance, and a mean of rows is the row of a mean.
So there is one pass for both metrics.

Bounds are kept in float32. Computed distances are off by a few parts in ten million, so a bound has to win by SLACK before
it replaces a comparison: the pass then finds the same labels, bit for bit, as one that compares all points with all centres.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import random
from riverboat.core.arrays import Array

SLACK = np.float32(1e-5)
NEAR = np.float32(1e-3)  # of a cumulative share: weights that fall with the distance do not grow beyond this
FAR = np.float32(np.inf)
HOP = 24  # neighbours of a first guess, none of which may be nearer
BLOCK = 4096  # points whose chances in seeding are summed before they are compared
# What a pass counts, in its `count` array.
CHANGED, EVALUATED, SEARCHED, EMPTY_ROWS = range(4)


class Sample(NamedTuple):
    """Points, what they weigh, and how they become rows."""

    points: Array  # [n, d]
    weights: Array  # float64 [n]
    emd: bool
    zero: Any  # of the type in which a histogram is summed


class Centres(NamedTuple):
    """Centres, and how they lie to each other."""

    rows: Array  # float32 [k, width]
    sums: Array  # float32 [k] ascending: sums of the rows
    by_sum: Array  # int32 [k]: their numbers
    order: Array  # int32 [k, m]: the other centres by distance, the nearest m
    between: Array  # float32 [k, m]: their distances
    near: Array  # float32 [k]: how far the nearest m have moved at most since the last pass
    beyond: Array  # float32 [k]: distance of the nearest centre that is not in the list


class Gathered(NamedTuple):
    """What the centres got in a pass."""

    total: Array  # float64 [k, width]: weighted sums of the rows
    norm: Array  # float64 [k, width]: and of the weights, which then fall with the distance; empty: they do not
    size: Array  # float64 [k]: weights
    cost: Array  # float64 [3]: sums of weight × distance and weight × distance², and the weight that changed centres
    farthest: Array  # float64 [2]: the largest distance and the point it belongs to
    counts: Array  # int64 [4]: CHANGED, EVALUATED, …


def zero(dtype: Any) -> Any:
    """Where the sum of a histogram of this type begins: whole numbers are summed as such, exactly."""
    return np.int64(0) if dtype.kind == "u" else np.float32(0.0)


@part
def map_row(
    sample,  # Sample
    i,
    row,  # float32 [width] OUT, zeros behind what is used
):
    """A point as a row; False for a histogram without mass."""
    points = sample.points
    d = points.shape[1]
    if not sample.emd:
        for j in range(d):
            row[j] = np.float32(points[i, j])
        return True
    total = sample.zero
    for j in range(d - 1):
        total += points[i, j]
        row[j] = np.float32(total)
    total += points[i, d - 1]
    if not total > 0:
        return False
    scale = np.float32(1.0) / np.float32(total)
    for j in range(d - 1):  # the last sum is one in every row
        row[j] *= scale
    return True


@part
def distance(
    row,  # float32 [width]
    centres,  # float32 [k, width]
    c,
    emd,
):
    """L1 or L2 distance of a row and a centre."""
    total = np.float32(0.0)
    at = np.uintp(c)
    if emd:
        for j in range(np.uintp(centres.shape[1])):
            total += abs(row[j] - centres[at, j])
        return total
    for j in range(np.uintp(centres.shape[1])):
        gap = row[j] - centres[at, j]
        total += gap * gap
    return np.sqrt(total)


@kernel
def centre_distances(
    centres,  # float32 [k, width]
    first,  # rows from here
    emd,
    row,  # float32 [width] scratch
    out,  # float32 [rows, k] OUT
):
    """Distances of some centres to all centres."""
    for r in range(out.shape[0]):
        for j in range(centres.shape[1]):
            row[j] = centres[first + r, j]
        for c in range(centres.shape[0]):
            out[r, c] = distance(row, centres, c, emd)


@kernel
def seed(
    sample,  # Sample
    first,  # centres that are there already
    last,  # and how many there shall be
    state,  # uint64 [1] INOUT: random numbers
    row,  # float32 [width] scratch
    gap,  # float32 [k] scratch
    chance,  # float64 [blocks] scratch: weight × distance², summed
    centres,  # float32 [k, width] INOUT
    nearest,  # float32 [n] INOUT: distance to the nearest centre so far, infinite at first
    labels,  # int32 [n] INOUT: which one that is
):
    """k-means++ (Arthur & Vassilvitskii 2007): centres are points, drawn by weight × squared distance to those before.

    A point whose centre is at least twice as far from the new one as from the point cannot be nearer to the new one.
    Returns how many centres there are: fewer than `last` where no point is away from all of them.
    """
    weights, emd = sample.weights, sample.emd
    n = len(weights)
    blocks = len(chance)
    for k in range(first, last):
        total = 0.0
        for b in range(blocks):
            here = 0.0
            for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
                here += weights[i] if k == 0 else weights[i] * np.float64(nearest[i]) * np.float64(nearest[i])
            chance[b] = here
            total += here
        if not total > 0:
            return k
        left = random(state) * total
        b = 0
        while b < blocks - 1 and left >= chance[b]:
            left -= chance[b]
            b += 1
        chosen = -1
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            here = weights[i] if k == 0 else weights[i] * np.float64(nearest[i]) * np.float64(nearest[i])
            if here > 0:
                chosen = i  # the last with a chance, where rounding leaves something over
                left -= here
                if left < 0:
                    break
        if chosen < 0:  # rounding again: the block had no chance at all
            for i in range(n):
                if nearest[i] > 0:
                    chosen = i
                    break
        map_row(sample, chosen, row)
        for j in range(centres.shape[1]):
            centres[k, j] = row[j]
        for c in range(k):
            gap[c] = distance(row, centres, c, emd) * (np.float32(1.0) - SLACK)
        for i in range(n):
            if k > 0 and gap[labels[i]] >= np.float32(2.0) * nearest[i]:
                continue
            map_row(sample, i, row)
            d = distance(row, centres, k, emd)
            if d < nearest[i]:
                nearest[i] = d
                labels[i] = k
    return last


@part
def first_guess(
    row,  # float32 [width]
    before,  # the centre of the point before, which is often alike
    centres,  # Centres
    emd,
    count,  # int64 [4] INOUT
):
    """A centre near a row: that of the point before or the one with the nearest sum, then downhill by neighbours."""
    rows, sums, order = centres.rows, centres.sums, centres.order
    total = np.float32(0.0)
    for j in range(len(row)):
        total += row[j]
    at = np.searchsorted(sums, total)
    if at == len(sums) or (at > 0 and total - sums[at - 1] < sums[at] - total):
        at -= 1
    c = centres.by_sum[at]
    best = distance(row, rows, c, emd)
    d = distance(row, rows, before, emd)
    if d < best:
        best = d
        c = before
    count[EVALUATED] += 2
    j = 0
    while j < min(HOP, order.shape[1]):
        d = distance(row, rows, order[c, j], emd)
        count[EVALUATED] += 1
        if d < best:
            best = d
            c = order[c, j]
            j = 0
        else:
            j += 1
    return c


@kernel
def assign(
    sample,  # Sample
    prune,  # False: compare every point with every centre
    centres,  # Centres
    row,  # float32 [width] scratch
    labels,  # int32 [n] INOUT: -1 for a point without a centre yet
    lower,  # float32 [n] INOUT: no other centre was nearer than this in the last pass
    out,  # Gathered OUT
):
    """Give every point to its nearest centre, the lowest of equals, and sum up what each centre got.

    Hamerly 2010: a point stays while its own centre is nearer than the lower bound for the others. Else the others are tried
    from the nearest to its own centre outwards, until the triangle inequality rules out the rest (exponion, Newling &
    Fleuret 2016). The bound falls by the movement of near centres alone: the others are at least `beyond` away.
    """
    weights, emd, rows = sample.weights, sample.emd, centres.rows
    order, between, near, beyond = centres.order, centres.between, centres.near, centres.beyond
    total, norm, size, cost, farthest, count = out.total, out.norm, out.size, out.cost, out.farthest, out.counts
    n = len(weights)
    k = rows.shape[0]
    m = order.shape[1]
    less, more = np.float32(1.0) - SLACK, np.float32(1.0) + SLACK
    farthest[0] = -1.0
    label = 0
    for i in range(n):
        if not map_row(sample, i, row):
            count[EMPTY_ROWS] += 1
            continue
        old = labels[i]
        best = FAR
        if not prune:
            for c in range(k):
                d = distance(row, rows, c, emd)
                if d < best:
                    best = d
                    label = c
            count[EVALUATED] += k
        else:
            a = old if old >= 0 else first_guess(row, label, centres, emd, count)
            label = a
            best = distance(row, rows, a, emd)
            count[EVALUATED] += 1
            bound = np.float32(-1.0)
            if old >= 0:
                bound = min(lower[i] * less - near[a] * more, beyond[a] * less - best * more)
            if bound <= best * more and m > 0:
                bound = max(bound, between[a, 0] * less - best * more)
            if bound <= best * more:
                count[SEARCHED] += 1
                done = False
                while not done:
                    a = label
                    mine = best
                    second = FAR
                    for j in range(m):
                        if between[a, j] * less > mine + second:
                            done = True
                            break
                        c = order[a, j]
                        d = distance(row, rows, c, emd)
                        count[EVALUATED] += 1
                        if d < best or (d == best and c < label):
                            second = best
                            best = d
                            label = c
                        elif d < second:
                            second = d
                    if label == a or m == k - 1:  # else the list ended on the way: go on from the better one
                        break
                if not done and m < k - 1 and beyond[a] * less <= mine + second:
                    second = FAR
                    for c in range(k):
                        d = distance(row, rows, c, emd)
                        if c == label:
                            continue
                        if d < best or (d == best and c < label):
                            second = best
                            best = d
                            label = c
                        elif d < second:
                            second = d
                    count[EVALUATED] += k
                bound = second
            lower[i] = bound
        w = weights[i]
        if label != old:
            labels[i] = label
            count[CHANGED] += 1
            cost[2] += w
        size[label] += w
        if norm.size:
            for j in range(np.uintp(len(row))):
                share = w / np.float64(abs(row[j] - rows[np.uintp(label), j]) + NEAR)
                total[np.uintp(label), j] += share * np.float64(row[j])
                norm[np.uintp(label), j] += share
        else:
            for j in range(np.uintp(len(row))):
                total[np.uintp(label), j] += w * np.float64(row[j])
        cost[0] += w * np.float64(best)
        cost[1] += w * np.float64(best) * np.float64(best)
        if best > farthest[0]:
            farthest[0] = best
            farthest[1] = i


@kernel
def measure(
    sample,  # Sample
    centres,  # float32 [k, width]
    labels,  # int32 [n]
    row,  # float32 [width] scratch
    ends,  # float64 [k, 2] INOUT: the smallest and the largest distance to each centre
    who,  # int64 [k, 2] INOUT: the points they belong to, the first of equals
    total,  # float64 [k, 2] INOUT: sums of weight × distance, and weights
):
    """Distances of points to their own centres."""
    weights = sample.weights
    for i in range(len(weights)):
        map_row(sample, i, row)
        c = labels[i]
        d = np.float64(distance(row, centres, c, sample.emd))
        total[c, 0] += weights[i] * d
        total[c, 1] += weights[i]
        if d < ends[c, 0]:
            ends[c, 0] = d
            who[c, 0] = i
        if d > ends[c, 1]:
            ends[c, 1] = d
            who[c, 1] = i
