"""Compiled loops over sparse histograms: building them, greedy earth mover's distances, nearest means.

A point is the histogram of one hand over the clusters of the next street; a mean is a dense histogram. The greedy
distance is Algorithm 2 of Ganzfried & Sandholm 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.clustering._kernels.transport import TransportScratch, transport_cost
from riverboat.cards._kernels.isomorphism import index_deal, unindex_deal
from riverboat.cards._kernels.ranking import next_combination
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

L1 = 1
L2 = 2
MAX = 3
MIN_MASS = np.float32(1e-6)  # remaining mass that counts as rounding error


class SparseHistograms(NamedTuple):
    """Sparse histograms over clusters: entries start[i] to start[i + 1] - 1 belong to hand i, ascending by cluster."""

    start: Array  # int64 [hands + 1]
    cluster: Array  # int32 [entries]
    mass: Array  # float32 [entries], sums to one for each hand


class GroundDistances(NamedTuple):
    """Distances between clusters, and an embedding that gives lower bounds for them."""

    distance: Array  # float32 [clusters, clusters]
    order: Array  # uint16 [clusters, clusters]: all clusters sorted by distance from each, itself first
    ladder: Array  # float32 [clusters, clusters]: their distances in that order
    places: Array  # float32 [clusters, dims]: embedding of each cluster
    norm: int  # L1, L2 or MAX: norm of the embedding
    slack: Array  # float32 [1]: tolerance of lower bounds, for rounding in single precision


class GreedyEmdScratch(NamedTuple):
    """Scratch memory for greedy distances, and for the search of the nearest mean."""

    left: Array  # float32 [clusters]: remaining mass of the mean
    need: Array  # float32 [clusters]: remaining mass of the point's entries
    rank: Array  # int32 [clusters]: next position of each entry in the `order` of its cluster
    open: Array  # int32 [clusters]: entries with remaining mass
    place: Array  # float32 [dims]: embedding of the point
    bound: Array  # float32 [means]: lower bound on the distance to each mean
    queue: Array  # int32 [means]: means to compare, ascending by bound
    transport: TransportScratch  # for exact distances; empty arrays for greedy ones


@kernel
def successor_histograms(
    street_tables,  # IndexTables of this street
    next_street_tables,  # IndexTables of the next street: more cards in the last round, or one more round
    hands,  # int64 [hands]: canonical indices on this street
    label,  # int32 [canonical hands of the next street]: cluster, or -1 without one
    deck,  # uint8 [cards]
    width,  # cards of a deal on this street
    num_new_cards,  # cards dealt between the streets
    scratch,  # NextCardWorkspace
    out,  # SparseHistograms OUT, large enough for all entries
):
    """Compute the histogram of each hand over the clusters that the next cards lead to.

    Returns the first index of `hands` from which a hand without a cluster can follow, or -1.
    """
    deal, left, pick, count = scratch.deal, scratch.left, scratch.pick, scratch.counts
    start, cluster, mass = out.start, out.cluster, out.mass
    start[0] = 0
    at = 0
    for i in range(len(hands)):
        unindex_deal(street_tables, hands[i], scratch.suits, scratch.colex, deal, 0)
        cards = 0
        for c in range(len(deck)):
            free = True
            for k in range(width):
                free = free and deal[k] != deck[c]
            if free:
                left[cards] = deck[c]
                cards += 1
        for k in range(num_new_cards):
            pick[k] = k
        total = 0
        more = True
        while more:
            for k in range(num_new_cards):
                deal[width + k] = left[pick[k]]
            c = label[index_deal(next_street_tables, deal, 0)]
            if c < 0:
                return i
            count[c] += 1
            total += 1
            more = next_combination(pick, num_new_cards, cards)
        for c in range(len(count)):
            if count[c]:
                cluster[at] = c
                mass[at] = np.float32(count[c]) / np.float32(total)
                at += 1
                count[c] = 0
        start[i + 1] = at
    return -1


@inline
def greedy_emd(
    h,  # SparseHistograms
    i,  # the hand
    mean,  # float32 [clusters]
    g,  # GroundDistances
    scratch,  # GreedyEmdScratch
    limit,  # if the distance is above it, any number above it may be returned
):
    """Compute the greedy earth mover's distance of a point and a mean (Ganzfried & Sandholm 2014, Algorithm 2).

    In round r every entry takes as much mass as it can from the r-th nearest cluster with mass in the mean. The mass
    leaves the mean before the entry is marked as served; the printed algorithm has these two lines in the other order.
    """
    clusters = len(mean)
    left, need, rank, open = scratch.left, scratch.need, scratch.rank, scratch.open
    for c in range(clusters):
        left[c] = mean[c]
    begin = h.start[i]
    live = h.start[i + 1] - begin
    for j in range(live):
        need[j] = h.mass[begin + j]
        rank[j] = 0
        open[j] = j
    total = np.float32(0)
    lower_bound = np.float32(0)  # cost of the remaining mass at least: later clusters are further away
    while live and total + lower_bound <= limit + g.slack[0]:
        remaining = 0
        lower_bound = np.float32(0)
        for a in range(live):
            j = open[a]
            c = h.cluster[begin + j]
            r = rank[j]
            while r < clusters and mean[g.order[c, r]] == 0:
                r += 1
            if r < clusters:
                q = g.order[c, r]
                moved = min(left[q], need[j])
                total += moved * g.ladder[c, r]
                left[q] -= moved
                need[j] -= moved
                rank[j] = r + 1
                if need[j] > MIN_MASS:
                    lower_bound += need[j] * g.ladder[c, r]
                    open[remaining] = j
                    remaining += 1
        live = remaining
    return total + lower_bound


@inline
def point_distance(h, i, mean, g, scratch, limit):
    """Compute the distance of a point and a mean: exact if there is scratch memory for it, else greedy as `greedy_emd`."""
    if len(scratch.transport.supply):
        return np.float32(transport_cost(h, i, mean, g.distance, scratch.transport))
    return greedy_emd(h, i, mean, g, scratch, limit)


@inline
def mean_embedding(h, i, embedding, out):
    """Compute the embedding of point i: the mean of its clusters' embeddings, weighted by mass.

    embedding float32 [clusters, dims], out float32 [dims] OUT
    """
    for d in range(len(out)):
        out[d] = 0
    for e in range(h.start[i], h.start[i + 1]):
        for d in range(len(out)):
            out[d] += h.mass[e] * embedding[h.cluster[e], d]


@inline
def add_gaps(norm, x, column, bound):
    """Add one dimension of the differences column[m] - x to the norms bound[m] (squares for L2).

    The norms have separate loops, so that these are vectorized.
    """
    if norm == L1:
        for m in range(len(bound)):
            bound[m] += abs(column[m] - x)
    elif norm == L2:
        for m in range(len(bound)):
            bound[m] += (column[m] - x) * (column[m] - x)
    else:
        for m in range(len(bound)):
            bound[m] = max(bound[m], abs(column[m] - x))


@inline
def lower_bounds(g, point, columns, bound):
    """Compute lower bounds on the distances of a point to all means: norms of embeddings, point - columns[:, m].

    columns float32 [dims, means], bound float32 [means] OUT
    """
    for m in range(len(bound)):
        bound[m] = 0
    for d in range(len(point)):
        add_gaps(g.norm, point[d], columns[d], bound)
    for m in range(len(bound)):
        bound[m] = (np.sqrt(bound[m]) if g.norm == L2 else bound[m]) - g.slack[0]


@kernel
def greedy_distances(
    h,  # SparseHistograms
    rows,  # int64 [pairs]: hands
    mean_index,  # int64 [pairs]: means
    means,  # float32 [means, clusters]
    g,  # GroundDistances
    scratch,  # GreedyEmdScratch
    out,  # float32 [pairs] OUT
):
    """Compute the greedy distances of chosen pairs of hands and means."""
    for k in range(len(rows)):
        out[k] = greedy_emd(h, rows[k], means[mean_index[k]], g, scratch, np.float32(np.inf))


@kernel
def nearest_means(
    h,  # SparseHistograms
    first,  # hands first to last - 1
    last,
    means,  # float32 [means, clusters]
    mean_columns,  # float32 [dims, means]: embeddings of the means
    g,  # GroundDistances
    scratch,  # GreedyEmdScratch
    label,  # int32 [hands] INOUT: initial guess or -1; then the nearest mean, the lowest index in a tie
    distance,  # float32 [hands] OUT: distance to it
):
    """Find the nearest mean of each hand and return the number of computed distances.

    Means whose lower bound is too large are skipped.
    """
    place, bound, queue = scratch.place, scratch.bound, scratch.queue
    evaluated = 0
    for i in range(first, last):
        mean_embedding(h, i, g.places, place)
        lower_bounds(g, place, mean_columns, bound)
        closest = label[i]
        if closest < 0:
            closest = 0
            for m in range(1, len(bound)):
                if bound[m] < bound[closest]:
                    closest = m
        best = point_distance(h, i, means[closest], g, scratch, np.float32(np.inf))
        evaluated += 1
        guess = closest
        count = 0
        for m in range(len(bound)):  # ascending by bound, so that the best distance decreases early
            if bound[m] <= best and m != guess:
                k = count
                while k > 0 and bound[queue[k - 1]] > bound[m]:
                    queue[k] = queue[k - 1]
                    k -= 1
                queue[k] = m
                count += 1
        for k in range(count):
            m = queue[k]
            if bound[m] > best:
                break
            d = point_distance(h, i, means[m], g, scratch, best)
            evaluated += 1
            if d < best or (d == best and m < closest):
                best = d
                closest = m
        label[i] = closest
        distance[i] = best
    return evaluated


@kernel
def update_nearest_distance(
    h,  # SparseHistograms
    mean,  # float32 [clusters]: the new mean
    column,  # float32 [dims, 1]: its embedding
    embedding,  # float32 [hands, dims]: embeddings of the hands
    g,  # GroundDistances
    scratch,  # GreedyEmdScratch for one mean
    distance,  # float32 [hands] INOUT: distance to the nearest mean so far
):
    """Update the distances to the nearest mean after a new mean: one step of k-means++."""
    for i in range(len(distance)):
        lower_bounds(g, embedding[i], column, scratch.bound)
        if scratch.bound[0] < distance[i]:
            distance[i] = min(distance[i], point_distance(h, i, mean, g, scratch, distance[i]))


@kernel
def mean_embeddings(
    h,  # SparseHistograms
    embedding,  # float32 [clusters, dims]
    out,  # float32 [hands, dims] OUT
):
    """Compute the embeddings of all hands, as in `mean_embedding`."""
    for i in range(len(out)):
        mean_embedding(h, i, embedding, out[i])


@kernel
def sum_by_cluster(
    h,  # SparseHistograms
    weight,  # float64 [hands]
    label,  # int32 [hands]
    total,  # float64 [means, clusters] INOUT
    size,  # float64 [means] INOUT
):
    """Add the weighted histograms of hands to the totals of their clusters, and their weights to the sizes."""
    for i in range(len(label)):
        m = label[i]
        size[m] += weight[i]
        for e in range(h.start[i], h.start[i + 1]):
            total[m, h.cluster[e]] += weight[i] * h.mass[e]
