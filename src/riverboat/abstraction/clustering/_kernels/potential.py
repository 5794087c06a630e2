"""Compiled loops over sparse histograms: building them, greedy earth mover's distances, nearest means.

A point is the histogram of one hand over the clusters of the next street; a mean is a dense one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.isomorphism import index_one, unindex_one
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

L1 = 1
L2 = 2
MAX = 3
SPENT = np.float32(1e-6)  # mass that is left over by rounding


class Histograms(NamedTuple):
    """Sparse histograms over clusters: entries start[i] to start[i + 1] belong to hand i, ascending by cluster."""

    start: Array  # int64 [hands + 1]
    cluster: Array  # int32 [entries]
    mass: Array  # float32 [entries], of sum one for each hand


class Ground(NamedTuple):
    """Distances between clusters, and places for them that are never further apart than the distances say."""

    distance: Array  # float32 [clusters, clusters]
    order: Array  # uint16 [clusters, clusters]: all clusters by distance from each, itself first
    ladder: Array  # float32 [clusters, clusters]: their distances in that order
    places: Array  # float32 [clusters, dims]
    norm: int  # L1, L2 or MAX, of differences of places
    slack: Array  # float32 [1]: by how much bounds in single precision may be too large


class Room(NamedTuple):
    """Scratch for greedy distances."""

    left: Array  # float32 [clusters]: what the mean still has
    need: Array  # float32 [clusters]: what entries of the point still need
    rank: Array  # int32 [clusters]: where the entries have got to
    open: Array  # int32 [clusters]: entries that still need something


class DealRoom(NamedTuple):
    """Scratch for going through the next cards of a hand."""

    deal: Array  # uint8 [width + fresh]
    left: Array  # uint8 [cards]
    pick: Array  # int64 [fresh]
    suits: Array  # int64 [4]
    colex: Array  # int64 [4, rounds]
    counts: Array  # int64 [clusters], zeros


class Nearby(NamedTuple):
    """Scratch for the search of the nearest mean."""

    place: Array  # float32 [dims]
    bound: Array  # float32 [means]
    queue: Array  # int32 [means]


@kernel
def count_next(
    here,  # IndexTables of this street
    after,  # IndexTables of the next street: the same rounds, with more cards in the last or with another round
    hands,  # int64 [hands]: canonical indices on this street
    label,  # int32 [canonical hands of the next street]: cluster, or -1
    deck,  # uint8 [cards]
    width,  # cards of a deal on this street
    fresh,  # cards dealt between the streets
    room,  # DealRoom
    out,  # Histograms OUT, with places for as many entries as there may be
):
    """Where the next cards lead each hand: clusters and the share of the cards that lead there.

    Returns the first hand that leads to one without a cluster, or -1.
    """
    deal, left, pick, count = room.deal, room.left, room.pick, room.counts
    start, cluster, mass = out.start, out.cluster, out.mass
    start[0] = 0
    at = 0
    for i in range(len(hands)):
        unindex_one(here, hands[i], room.suits, room.colex, deal, 0)
        cards = 0
        for c in range(len(deck)):
            free = True
            for k in range(width):
                free = free and deal[k] != deck[c]
            if free:
                left[cards] = deck[c]
                cards += 1
        for k in range(fresh):
            pick[k] = k
        ways = 0
        more = True
        while more:
            for k in range(fresh):
                deal[width + k] = left[pick[k]]
            c = label[index_one(after, deal, 0)]
            if c < 0:
                return i
            count[c] += 1
            ways += 1
            k = fresh - 1  # the next choice of cards, in lexicographic order
            while k >= 0 and pick[k] == cards - fresh + k:
                k -= 1
            more = k >= 0
            if more:
                pick[k] += 1
                for j in range(k + 1, fresh):
                    pick[j] = pick[j - 1] + 1
        for c in range(len(count)):
            if count[c]:
                cluster[at] = c
                mass[at] = np.float32(count[c]) / np.float32(ways)
                at += 1
                count[c] = 0
        start[i + 1] = at
    return -1


@part
def greedy(
    h,  # Histograms
    i,  # the hand
    mean,  # float32 [clusters]
    g,  # Ground
    room,  # Room
    limit,  # above it any number above it will do
):
    """Greedy earth mover's distance of a point and a mean (Ganzfried & Sandholm 2014, Algorithm 2).

    In round r every entry takes what it can from the r-th nearest cluster that the mean has mass in. What it takes leaves
    the mean before the entry is marked as served (the printed algorithm has the two lines the other way round).
    """
    clusters = len(mean)
    left, need, rank, open = room.left, room.need, room.rank, room.open
    for c in range(clusters):
        left[c] = mean[c]
    begin = h.start[i]
    live = h.start[i + 1] - begin
    for j in range(live):
        need[j] = h.mass[begin + j]
        rank[j] = 0
        open[j] = j
    total = np.float32(0)
    ahead = np.float32(0)  # what is still open costs at least this: clusters only get further away
    while live and total + ahead <= limit + g.slack[0]:
        still = 0
        ahead = np.float32(0)
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
                if need[j] > SPENT:
                    ahead += need[j] * g.ladder[c, r]
                    open[still] = j
                    still += 1
        live = still
    return total + ahead


@part
def place_of(h, i, places, out):
    """The mean place of a point. places float32 [clusters, dims], out float32 [dims] OUT"""
    for d in range(len(out)):
        out[d] = 0
    for e in range(h.start[i], h.start[i + 1]):
        for d in range(len(out)):
            out[d] += h.mass[e] * places[h.cluster[e], d]


@part
def gaps_l1(x, column, bound):
    """One dimension's part of the norms; a loop of its own, so that it is vectorised."""
    for m in range(len(bound)):
        bound[m] += abs(column[m] - x)


@part
def gaps_l2(x, column, bound):
    """The same for squares."""
    for m in range(len(bound)):
        bound[m] += (column[m] - x) * (column[m] - x)


@part
def gaps_max(x, column, bound):
    """The same for the maximum norm."""
    for m in range(len(bound)):
        bound[m] = max(bound[m], abs(column[m] - x))


@part
def bounds(g, place, columns, bound):
    """Norms of place - columns[:, m] for all means. columns float32 [dims, means], bound float32 [means] OUT"""
    for m in range(len(bound)):
        bound[m] = 0
    for d in range(len(place)):
        if g.norm == L1:
            gaps_l1(place[d], columns[d], bound)
        elif g.norm == L2:
            gaps_l2(place[d], columns[d], bound)
        else:
            gaps_max(place[d], columns[d], bound)
    for m in range(len(bound)):
        bound[m] = (np.sqrt(bound[m]) if g.norm == L2 else bound[m]) - g.slack[0]


@kernel
def pairs(
    h,  # Histograms
    rows,  # int64 [pairs]: hands
    which,  # int64 [pairs]: means
    means,  # float32 [means, clusters]
    g,  # Ground
    room,  # Room
    out,  # float32 [pairs] OUT
):
    """Greedy distances of chosen hands and means."""
    for k in range(len(rows)):
        out[k] = greedy(h, rows[k], means[which[k]], g, room, np.float32(np.inf))


@kernel
def nearest(
    h,  # Histograms
    first,  # hands first to last are done
    last,
    means,  # float32 [means, clusters]
    columns,  # float32 [dims, means]: the mean places of the means
    g,  # Ground
    nearby,  # Nearby
    room,  # Room
    label,  # int32 [hands] INOUT: a guess, such as the last label, or -1; then the nearest mean, the lowest of equals
    distance,  # float32 [hands] OUT: how far it is
):
    """The nearest mean of each hand; those whose lower bound is too large are not looked at. Returns distances taken."""
    place, bound, queue = nearby.place, nearby.bound, nearby.queue
    taken = 0
    for i in range(first, last):
        place_of(h, i, g.places, place)
        bounds(g, place, columns, bound)
        closest = label[i]
        if closest < 0:
            closest = 0
            for m in range(1, len(bound)):
                if bound[m] < bound[closest]:
                    closest = m
        best = greedy(h, i, means[closest], g, room, np.float32(np.inf))
        taken += 1
        guess = closest
        count = 0
        for m in range(len(bound)):  # ascending by bound: the distance falls early
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
            d = greedy(h, i, means[m], g, room, best)
            taken += 1
            if d < best or (d == best and m < closest):
                best = d
                closest = m
        label[i] = closest
        distance[i] = best
    return taken


@kernel
def nearer(
    h,  # Histograms
    mean,  # float32 [clusters]: the new one
    column,  # float32 [dims, 1]: its mean place
    spot,  # float32 [hands, dims]: the mean places of the hands
    g,  # Ground
    bound,  # float32 [1] scratch
    room,  # Room
    distance,  # float32 [hands] INOUT: to the nearest so far
):
    """Distances to the nearest mean when another one comes: one step of k-means++."""
    for i in range(len(distance)):
        bounds(g, spot[i], column, bound)
        if bound[0] < distance[i]:
            distance[i] = min(distance[i], greedy(h, i, mean, g, room, distance[i]))


@kernel
def spots(
    h,  # Histograms
    places,  # float32 [clusters, dims]
    out,  # float32 [hands, dims] OUT
):
    """The mean places of hands."""
    for i in range(len(out)):
        place_of(h, i, places, out[i])


@kernel
def sums(
    h,  # Histograms
    weight,  # float64 [hands]
    label,  # int32 [hands]
    total,  # float64 [means, clusters] INOUT
    size,  # float64 [means] INOUT
):
    """Weighted sums of the hands of each mean."""
    for i in range(len(label)):
        m = label[i]
        size[m] += weight[i]
        for e in range(h.start[i], h.start[i + 1]):
            total[m, h.cluster[e]] += weight[i] * h.mass[e]
