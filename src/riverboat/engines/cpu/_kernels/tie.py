"""Compiled loops over rows that share a bucket: their numbers become the mean of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel
from riverboat.compiled.simd import LANES, fetch, keep, load, store
from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.node import DUST

U = np.uint64
L = U(LANES)


class StreetRows(NamedTuple):
    """The rows of one player on the boards of one street."""

    base: Array  # int64 [boards]: where the player's numbers of each board begin
    rows: Array  # int64 [boards]
    first: Array  # int64 [boards]: where the rows of each board begin in bucket and weight
    bucket: Array  # int32 [rows of all boards]
    weight: Array  # float64 [rows of all boards]: hands and boards that the row stands for, of all in its bucket
    slots: int  # vectors of a board
    buckets: int


@kernel
def tie(
    table,  # INOUT: regrets, predictions or averages, in any format
    street,  # StreetRows
    floor,
    turn,  # of rounding, in tables of sixteen bits
    counter,  # int64 [1] INOUT: the next slot; threads take turns
    mean,  # float [buckets] room
    room,  # float [stride] room
):
    """Give all rows of a bucket their weighted mean, not below the floor, slot by slot."""
    base, rows, first, bucket, weight = street.base, street.rows, street.first, street.bucket, street.weight
    kind = mean.dtype.type
    low, dust = kind(floor), kind(DUST)
    while True:
        slot = take(counter)
        if slot >= street.slots:
            break
        for k in range(len(mean)):
            mean[k] = 0
        for b in range(len(rows)):
            count, at = U(rows[b]), U(base[b] + slot * rows[b])
            for h in range(U(0), count, L):
                store(room, h, fetch(table, at + h, min(count - h, L)))
            for r in range(rows[b]):
                mean[bucket[first[b] + r]] += weight[first[b] + r] * room[r]
        for k in range(len(mean)):
            mean[k] = max((mean[k] + dust) - dust, low)  # what cancelling leaves of nothing is nothing
        for b in range(len(rows)):
            count, at = U(rows[b]), U(base[b] + slot * rows[b])
            for r in range(rows[b]):
                room[r] = mean[bucket[first[b] + r]]
            for h in range(U(0), count, L):
                keep(table, at + h, load(room, h), min(count - h, L), U(turn))
