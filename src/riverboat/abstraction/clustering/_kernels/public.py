"""Compiled loops of public clustering."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel, part

BLOCK = 16  # rows that stay in the cache while all others pass


@part
def overlap(a, b):
    """The sum of the smaller of two counts, bucket by bucket."""
    total = np.int32(0)
    for k in range(len(a)):
        total += np.int32(min(a[k], b[k]))
    return total


@kernel
def overlaps(
    table,  # uint16 or int32 [states, buckets]
    first,  # rows first to last are done
    last,
    out,  # int32 [states, states] OUT: rows first to last, from the diagonal on
):
    """Private states that two public states send to the same buckets."""
    for block in range(first, last, BLOCK):
        for j in range(block, len(table)):
            for i in range(block, min(block + BLOCK, last, j + 1)):
                out[i, j] = overlap(table[i], table[j])


@kernel
def distance_sums(
    distance,  # float64 [states, states]
    weight,  # float64 [states]
    label,  # int32 [states]
    out,  # float64 [states, clusters] OUT
):
    """For each state and cluster, the weighted sum of distances to the cluster's members."""
    for i in range(len(out)):
        for c in range(out.shape[1]):
            out[i, c] = 0
        for j in range(len(label)):
            out[i, label[j]] += weight[j] * distance[i, j]


@kernel
def sweep(
    distance,  # float64 [states, states]
    weight,  # float64 [states]
    sums,  # float64 [states, clusters] INOUT: of `distance_sums`
    size,  # int64 [clusters] INOUT
    label,  # int32 [states] INOUT
):
    """Move one state after the other to the cluster with the smallest sum. Returns how many moved.

    Every move lowers the sum over all pairs that share a cluster, so sweeps come to an end. A state that is alone stays.
    """
    moves = 0
    for i in range(len(label)):
        old = label[i]
        new = old
        if size[old] > 1:
            for c in range(sums.shape[1]):
                if sums[i, c] < sums[i, new] * (1 - 1e-12):  # not for the sake of rounding
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
