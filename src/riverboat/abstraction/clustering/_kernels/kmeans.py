"""Compiled loops of k-means and of public clustering.

Points are mapped to rows, one at a time, in a scratch row: a histogram becomes its normalized cumulative sum, other
points stay unchanged. In the space of rows the earth mover's distance is the L1 distance, and the mean of rows is the
row of the mean. So one pass serves both metrics.

Bounds are stored in float32. Computed distances have errors of a few parts in ten million. So a bound must hold with a
relative margin of DISTANCE_TOLERANCE before it replaces a comparison: the pass then finds the same labels, bit for bit,
as a comparison of all points with all centroids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random
from riverboat.core.arrays import Array

DISTANCE_TOLERANCE = np.float32(1e-5)
MIN_MEDIAN_DISTANCE = np.float32(1e-3)  # lower limit of d in the weights 1 / d, which turn means into medians
FAR = np.float32(np.inf)
MAX_GUESS_NEIGHBOURS = 24  # neighbours that are compared with a first guess
SEEDING_BLOCK = 4096  # points whose seeding probabilities are summed in one block
# Indices of the counters of a pass in `KMeansSums.counts`: points that changed their centroid, computed distances,
# points whose centroid the bounds left open, and histograms without mass.
CHANGED, DISTANCES, SEARCHED, EMPTY_ROWS = range(4)


class KMeansPoints(NamedTuple):
    """Points to cluster, their weights, and how `map_row` converts a point to a row."""

    points: Array  # [n, d]
    weights: Array  # float64 [n]
    emd: bool  # earth mover's distance: points are histograms; else L2
    zero: Any  # zero of the type in which a histogram is summed


class KMeansCentroids(NamedTuple):
    """Centroids and the distances between them."""

    rows: Array  # float32 [k, width]
    sums: Array  # float32 [k] ascending: sums of the rows
    by_sum: Array  # int32 [k]: index of the centroid with each sum
    order: Array  # int32 [k, m]: the m nearest other centroids, by distance
    between: Array  # float32 [k, m]: their distances
    near: Array  # float32 [k]: largest shift of these neighbours since the last pass
    beyond: Array  # float32 [k]: distance of the nearest centroid that is not listed


class KMeansSums(NamedTuple):
    """Sums over the points of each centroid in a pass."""

    total: Array  # float64 [k, width]: weighted sums of the rows
    norm: Array  # float64 [k, width]: sums of the median weights, which decrease with the distance; empty for means
    size: Array  # float64 [k]: weights
    cost: Array  # float64 [3]: sums of weight × distance and weight × distance², and the weight that changed centroids
    farthest: Array  # float64 [2]: the largest distance and its point
    counts: Array  # int64 [4]: CHANGED, DISTANCES, …


def histogram_zero(dtype: Any) -> Any:
    """Return the initial sum for histograms of this type: int64 for unsigned integers (exact), else float32."""
    return np.int64(0) if dtype.kind == "u" else np.float32(0.0)


@inline
def map_row(
    sample,  # KMeansPoints
    i,
    row,  # float32 [width] OUT, padded with zeros
):
    """Write the row of point i: normalized cumulative sums for EMD, else its values; return False if it has no mass."""
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


@inline
def distance(
    row,  # float32 [width]
    centres,  # float32 [k, width]
    c,
    emd,
):
    """Return the distance of a row and centroid c: L1 of rows for EMD, else L2."""
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
def centroid_distances(
    centres,  # float32 [k, width]
    first,  # first centroid
    emd,
    row,  # float32 [width] scratch
    out,  # float32 [rows, k] OUT
):
    """Compute the distances of centroids first, first + 1, … (one for each row of `out`) to all centroids."""
    for r in range(out.shape[0]):
        for j in range(centres.shape[1]):
            row[j] = centres[first + r, j]
        for c in range(centres.shape[0]):
            out[r, c] = distance(row, centres, c, emd)


@kernel
def seed_centroids(
    sample,  # KMeansPoints
    first,  # number of centroids drawn so far
    last,  # number of centroids after this call
    state,  # uint64 [1] INOUT: state of the random number generator
    row,  # float32 [width] scratch
    gap,  # float32 [k] scratch
    chance,  # float64 [blocks] scratch: weight × distance², summed
    centres,  # float32 [k, width] INOUT
    nearest,  # float32 [n] INOUT: distance to the nearest centroid so far, initially infinite
    labels,  # int32 [n] INOUT: nearest centroid so far
):
    """Draw centroids by k-means++ (Arthur & Vassilvitskii 2007), by weight × squared distance to those drawn before.

    A point whose centroid is at least twice as far from the new one as from the point cannot be nearer to the new one.
    Returns the number of centroids: fewer than `last` if all points equal a centroid.
    """
    weights, emd = sample.weights, sample.emd
    n = len(weights)
    blocks = len(chance)
    for k in range(first, last):
        total = 0.0
        for b in range(blocks):
            here = 0.0
            for i in range(b * SEEDING_BLOCK, min(n, (b + 1) * SEEDING_BLOCK)):
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
        for i in range(b * SEEDING_BLOCK, min(n, (b + 1) * SEEDING_BLOCK)):
            here = weights[i] if k == 0 else weights[i] * np.float64(nearest[i]) * np.float64(nearest[i])
            if here > 0:
                chosen = i  # the last with positive probability, in case rounding leaves a remainder
                left -= here
                if left < 0:
                    break
        if chosen < 0:  # rounding: the block had no positive probability
            for i in range(n):
                if nearest[i] > 0:
                    chosen = i
                    break
        map_row(sample, chosen, row)
        for j in range(centres.shape[1]):
            centres[k, j] = row[j]
        for c in range(k):
            gap[c] = distance(row, centres, c, emd) * (np.float32(1.0) - DISTANCE_TOLERANCE)
        for i in range(n):
            if k > 0 and gap[labels[i]] >= np.float32(2.0) * nearest[i]:
                continue
            map_row(sample, i, row)
            d = distance(row, centres, k, emd)
            if d < nearest[i]:
                nearest[i] = d
                labels[i] = k
    return last


@inline
def first_guess(
    row,  # float32 [width]
    previous_centroid,  # centroid of the previous point, which is often similar
    centres,  # KMeansCentroids
    emd,
    count,  # int64 [4] INOUT
):
    """Find a centroid near a row.

    It starts with the centroid of the previous point or the one with the nearest sum, then moves to nearer neighbours.
    """
    rows, sums, order = centres.rows, centres.sums, centres.order
    total = np.float32(0.0)
    for j in range(len(row)):
        total += row[j]
    at = np.searchsorted(sums, total)
    if at == len(sums) or (at > 0 and total - sums[at - 1] < sums[at] - total):
        at -= 1
    c = centres.by_sum[at]
    best = distance(row, rows, c, emd)
    d = distance(row, rows, previous_centroid, emd)
    if d < best:
        best = d
        c = previous_centroid
    count[DISTANCES] += 2
    j = 0
    while j < min(MAX_GUESS_NEIGHBOURS, order.shape[1]):
        d = distance(row, rows, order[c, j], emd)
        count[DISTANCES] += 1
        if d < best:
            best = d
            c = order[c, j]
            j = 0
        else:
            j += 1
    return c


@inline
def compare_centroid(d, c, best, second, label):
    """Update the smallest distance, the second smallest and the nearest centroid for c at distance d; return them."""
    if d < best or (d == best and c < label):
        return d, best, c
    return best, min(d, second), label


@kernel
def assign_points(
    sample,  # KMeansPoints
    prune,  # False: compare every point with every centroid
    centres,  # KMeansCentroids
    row,  # float32 [width] scratch
    labels,  # int32 [n] INOUT: -1 for a point without a centroid
    lower,  # float32 [n] INOUT: lower bound on the distance to all other centroids in the last pass
    out,  # KMeansSums OUT
):
    """Assign every point to its nearest centroid, the lowest index in a tie, and update the sums of each centroid.

    Hamerly 2010: a point stays while its own centroid is nearer than the lower bound for the others. Otherwise the
    others are tried by their distance from its own centroid, until the triangle inequality rules out the rest
    (exponion, Newling & Fleuret 2016). The bound decreases only by the shift of near centroids: the others are at least
    `beyond` away.
    """
    weights, emd, rows = sample.weights, sample.emd, centres.rows
    order, between, near, beyond = centres.order, centres.between, centres.near, centres.beyond
    total, norm, size, cost, farthest, count = out.total, out.norm, out.size, out.cost, out.farthest, out.counts
    n = len(weights)
    k = rows.shape[0]
    m = order.shape[1]
    less, more = np.float32(1.0) - DISTANCE_TOLERANCE, np.float32(1.0) + DISTANCE_TOLERANCE
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
            count[DISTANCES] += k
        else:
            a = old if old >= 0 else first_guess(row, label, centres, emd, count)
            label = a
            best = distance(row, rows, a, emd)
            count[DISTANCES] += 1
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
                    own = best
                    second = FAR
                    for j in range(m):
                        if between[a, j] * less > own + second:
                            done = True
                            break
                        c = order[a, j]
                        count[DISTANCES] += 1
                        best, second, label = compare_centroid(distance(row, rows, c, emd), c, best, second, label)
                    if label == a or m == k - 1:  # otherwise the list ended early: continue from the better centroid
                        break
                if not done and m < k - 1 and beyond[a] * less <= own + second:
                    second = FAR
                    for c in range(k):
                        if c != label:
                            best, second, label = compare_centroid(distance(row, rows, c, emd), c, best, second, label)
                    count[DISTANCES] += k
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
                share = w / np.float64(abs(row[j] - rows[np.uintp(label), j]) + MIN_MEDIAN_DISTANCE)
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
def measure_clusters(
    sample,  # KMeansPoints
    centres,  # float32 [k, width]
    labels,  # int32 [n]
    row,  # float32 [width] scratch
    distance_range,  # float64 [k, 2] INOUT: smallest and largest distance to each centroid
    extreme_points,  # int64 [k, 2] INOUT: the points with these distances, the first in a tie
    total,  # float64 [k, 2] INOUT: sums of weight × distance, and weights
):
    """Update the smallest, the largest and the sum of the distances of points to their centroids, by cluster."""
    weights = sample.weights
    for i in range(len(weights)):
        map_row(sample, i, row)
        c = labels[i]
        d = np.float64(distance(row, centres, c, sample.emd))
        total[c, 0] += weights[i] * d
        total[c, 1] += weights[i]
        if d < distance_range[c, 0]:
            distance_range[c, 0] = d
            extreme_points[c, 0] = i
        if d > distance_range[c, 1]:
            distance_range[c, 1] = d
            extreme_points[c, 1] = i


# --- public clustering --------------------------------------------------------------------------------

OVERLAP_BLOCK = 16  # rows that stay in the cache while all other rows are read


@inline
def overlap(a, b):
    """Return the overlap of two histograms of counts: the sum over buckets of the smaller count."""
    total = np.int32(0)
    for k in range(len(a)):
        total += np.int32(min(a[k], b[k]))
    return total


@kernel
def overlaps(
    table,  # uint16 or int32 [states, buckets]
    first,  # rows first to last - 1
    last,
    out,  # int32 [states, states] OUT: rows first to last, from the diagonal on
):
    """Compute overlaps of pairs of public states, from which their distances follow (Brown et al. 2015, Alg. 2)."""
    for block in range(first, last, OVERLAP_BLOCK):
        for j in range(block, len(table)):
            for i in range(block, min(block + OVERLAP_BLOCK, last, j + 1)):
                out[i, j] = overlap(table[i], table[j])


@kernel
def distance_sums(
    distance,  # float64 [states, states]
    weight,  # float64 [states]
    label,  # int32 [states]
    out,  # float64 [states, clusters] OUT
):
    """Compute the weighted sum of distances to a cluster's members for each state and cluster."""
    for i in range(len(out)):
        for c in range(out.shape[1]):
            out[i, c] = 0
        for j in range(len(label)):
            out[i, label[j]] += weight[j] * distance[i, j]


@kernel
def move_states(
    distance,  # float64 [states, states]
    weight,  # float64 [states]
    sums,  # float64 [states, clusters] INOUT: from `distance_sums`
    size,  # int64 [clusters] INOUT
    label,  # int32 [states] INOUT
):
    """Move one state after the other to the cluster with the smallest sum, and return the number of moves.

    Every move decreases the sum over all pairs that share a cluster, so the algorithm terminates. A single state stays.
    """
    moves = 0
    for i in range(len(label)):
        old = label[i]
        new = old
        if size[old] > 1:
            for c in range(sums.shape[1]):
                if sums[i, c] < sums[i, new] * (1 - 1e-12):  # ignore differences by rounding
                    new = c
        if new != old:
            label[i] = new
            size[old] -= 1
            size[new] += 1
            moves += 1
            for j in range(len(label)):
                sums[j, old] -= weight[i] * distance[i, j]
                sums[j, new] += weight[i] * distance[i, j]
    return moves
