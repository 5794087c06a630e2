"""Compiled passes over the tables of blueprints, which lie bucket by bucket (`games.holdem.action_tree.ActionTree`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array

ROWS = 128  # hands side by side: their numbers of one move are written as whole lines of the cache
U = np.uint64  # indices that may be negative cost a test each


class BoardRows(NamedTuple):
    """The hands of the boards of a street, board after board, and where their numbers go."""

    start: Array  # int64 [boards]: where the hands of a board begin in `bucket`
    rows: Array  # int32 [boards]: how many there are
    bucket: Array  # int32 [hands of all boards]
    base: Array  # int64 [boards]: where the numbers of a board begin


@kernel
def to_steps(
    sums,  # number [buckets, moves of the street], not negative
    slot,  # int32 [decisions]: where each decision's moves begin
    count,  # int8 [decisions]
    whole,
    rest,  # float64 [most moves] OUT: what rounding down took away
    out,  # uint8 [buckets, moves of the street] OUT: the steps of a decision sum to whole, or to 0 where nothing was added
):
    """Round shares to steps of 1/whole by largest remainders, so that no share moves by a whole step."""
    for bucket in range(sums.shape[0]):
        for decision in range(len(slot)):
            at, moves = slot[decision], count[decision]
            total = 0.0
            for a in range(moves):
                total += sums[bucket, at + a]
            left = whole if total > 0 else 0
            for a in range(moves):
                share = sums[bucket, at + a] / total * whole if total > 0 else 0.0
                steps = int(share)
                rest[a] = share - steps
                out[bucket, at + a] = steps
                left -= steps
            while left > 0:
                best = 0
                for a in range(1, moves):
                    if rest[a] > rest[best]:
                        best = a
                rest[best] = -1.0
                out[bucket, at + best] += 1
                left -= 1


@kernel
def spread(
    sums,  # number [buckets · width], flat
    width,  # moves of the street
    columns,  # int32 [moves of a part of the tree]: where they stand among those of the street
    first,
    end,  # boards first … end - 1, all of the street
    boards,  # BoardRows
    at,  # uint64 [ROWS] scratch
    out,  # float32 OUT: [board][move][hand], flat
):
    """What is known of buckets as the numbers of hands on boards. The last hands of a board may be written twice."""
    start, bucket = boards.start, boards.bucket
    for b in range(first, end):
        count = boards.rows[b]
        for k in range(0, count, ROWS):
            low = max(min(k, count - ROWS), 0)
            some = min(ROWS, count - low)
            for h in range(some):
                at[h] = U(bucket[start[b] + low + h]) * U(width)
            for m in range(len(columns)):
                column, to = U(columns[m]), U(boards.base[b] + m * count + low)
                if some == ROWS:  # a loop of known length is unrolled
                    for h in range(U(ROWS)):
                        out[to + h] = sums[at[h] + column]
                else:
                    for h in range(U(some)):
                        out[to + h] = sums[at[h] + column]
