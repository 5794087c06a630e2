"""Exact earth mover's distances by successive shortest paths (Ahuja, Magnanti & Orlin 1993, section 9.7).

The transport problem of a point with m entries and a mean with n nonzero clusters: every entry supplies its mass, every
cluster of the mean demands its own. One entry after the other sends its mass along shortest paths of the residual graph,
found by Dijkstra's algorithm on reduced costs. Entries are few and clusters are many, so the algorithm settles entries
only: a cluster passes its distance to the entries that send mass there, and most clusters have one or two. A path costs
O(entries settled × n). Dual prices stay feasible, so the transport is optimal when all mass has been sent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array

MIN_MASS = 1e-12  # mass that counts as rounding error


class TransportScratch(NamedTuple):
    """Scratch memory for exact distances of points with at most `rows` entries; empty arrays for greedy ones."""

    flow: Array  # float64 [rows, clusters]: mass sent from each entry to each nonzero cluster of the mean
    supply: Array  # float64 [rows]: remaining mass of each entry
    row_price: Array  # float64 [rows]: dual prices
    row_distance: Array  # float64 [rows]: length of the shortest path to each entry
    row_parent: Array  # int32 [rows]: cluster before it on that path
    settled: Array  # bool [rows]: whether its shortest path is final
    column: Array  # int32 [clusters]: nonzero clusters of the mean
    demand: Array  # float64 [clusters]: remaining mass of each of them
    column_price: Array  # float64 [clusters]
    column_distance: Array  # float64 [clusters]
    column_parent: Array  # int32 [clusters]: entry before it on the shortest path
    senders: Array  # int32 [clusters, rows]: entries that send mass there
    num_senders: Array  # int32 [clusters]


@kernel
def transport_cost(
    h,  # SparseHistograms
    i,  # the hand
    mean,  # float32 [clusters]
    distance,  # float32 [clusters, clusters]
    scratch,  # TransportScratch
):
    """Compute the exact earth mover's distance of a point and a mean: the cost of the cheapest transport."""
    begin = h.start[i]
    rows = h.start[i + 1] - begin
    columns = _prepare(h, i, mean, scratch)
    for source in range(rows):
        while scratch.supply[source] > MIN_MASS:
            target = _shortest_path(h, begin, rows, columns, distance, source, scratch)
            if target < 0:
                break  # the demands are met up to rounding
            _send(source, target, scratch)
    total = 0.0
    for row in range(rows):
        for k in range(columns):
            total += scratch.flow[row, k] * distance[h.cluster[begin + row], scratch.column[k]]
    return total


@kernel
def _prepare(h, i, mean, scratch):
    """List the nonzero clusters of the mean, scale its mass to that of the point, and clear flows and prices."""
    begin, rows, columns = h.start[i], h.start[i + 1] - h.start[i], 0
    point_mass, mean_mass = 0.0, 0.0
    for row in range(rows):
        scratch.supply[row] = h.mass[begin + row]
        point_mass += h.mass[begin + row]
        scratch.row_price[row] = 0.0
    for c in range(len(mean)):
        if mean[c] > 0:
            scratch.column[columns] = c
            scratch.demand[columns] = mean[c]
            scratch.column_price[columns] = 0.0
            scratch.num_senders[columns] = 0
            mean_mass += mean[c]
            columns += 1
    for k in range(columns):
        scratch.demand[k] *= point_mass / mean_mass
    for row in range(rows):
        for k in range(columns):
            scratch.flow[row, k] = 0.0
    return columns


@kernel
def _shortest_path(h, begin, rows, columns, distance, source, scratch):
    """Find the shortest path from an entry to a cluster with demand, update prices, and return it; -1 if there is none."""
    to_row, settled, to_column = scratch.row_distance, scratch.settled, scratch.column_distance
    for row in range(rows):
        to_row[row] = np.inf
        settled[row] = False
    for k in range(columns):
        to_column[k] = np.inf
    to_row[source] = 0.0
    target, length = -1, np.inf
    while True:
        row = -1
        for r in range(rows):
            if not settled[r] and to_row[r] < length and (row < 0 or to_row[r] < to_row[row]):
                row = r
        if row < 0:
            break
        settled[row] = True
        cluster = h.cluster[begin + row]
        base = to_row[row] - scratch.row_price[row]
        for k in range(columns):
            through = base + distance[cluster, scratch.column[k]] - scratch.column_price[k]
            if through < to_column[k]:
                to_column[k] = through
                scratch.column_parent[k] = row
                if through < length:
                    if scratch.demand[k] > MIN_MASS:
                        target, length = k, through
                    for a in range(scratch.num_senders[k]):
                        r = scratch.senders[k, a]
                        if not settled[r] and through < to_row[r]:
                            to_row[r] = through
                            scratch.row_parent[r] = k
    if target >= 0:
        for row in range(rows):
            if to_row[row] < length:
                scratch.row_price[row] += length - to_row[row]
        for k in range(columns):
            if to_column[k] < length:
                scratch.column_price[k] -= length - to_column[k]
    return target


@kernel
def _send(source, target, scratch):
    """Send as much mass as possible along the path that was found from an entry to a cluster."""
    flow, amount, k = scratch.flow, min(scratch.supply[source], scratch.demand[target]), target
    row = scratch.column_parent[k]
    while row != source:
        k = scratch.row_parent[row]
        amount = min(amount, flow[row, k])
        row = scratch.column_parent[k]
    scratch.supply[source] -= amount
    scratch.demand[target] -= amount
    k = target
    row = scratch.column_parent[k]
    _add_flow(row, k, amount, scratch)
    while row != source:
        k = scratch.row_parent[row]
        _add_flow(row, k, -amount, scratch)
        row = scratch.column_parent[k]
        _add_flow(row, k, amount, scratch)


@kernel
def _add_flow(row, k, amount, scratch):
    """Change the mass from an entry to a cluster, and the cluster's list of senders."""
    before = scratch.flow[row, k]
    after = before + amount
    count = scratch.num_senders[k]
    if before == 0.0 and after > 0.0:
        scratch.senders[k, count] = row
        scratch.num_senders[k] = count + 1
    elif after <= MIN_MASS and amount < 0.0:
        after = 0.0
        for a in range(count):
            if scratch.senders[k, a] == row:
                scratch.senders[k, a] = scratch.senders[k, count - 1]
                scratch.num_senders[k] = count - 1
                break
    scratch.flow[row, k] = after


@kernel
def exact_distances(
    h,  # SparseHistograms
    rows,  # int64 [pairs]: hands
    mean_index,  # int64 [pairs]: means
    means,  # float32 [means, clusters]
    distance,  # float32 [clusters, clusters]
    scratch,  # TransportScratch
    out,  # float64 [pairs] OUT
):
    """Compute the exact distances of chosen pairs of hands and means."""
    for k in range(len(rows)):
        out[k] = transport_cost(h, rows[k], means[mean_index[k]], distance, scratch)
