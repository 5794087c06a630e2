"""Steps of public chance sampling over buckets on a GPU: all hands of both seats on some boards (Johanson et al. 2012).

The hands of a board have one order on all streets (`riverboat.engines.sampling._kernels.public_chance`): hand k of
board b is row b · live + k of a street. Reach and values of a row are stored by unit, and column values by slot
(`riverboat.engines.cuda.vector_plan`), so that adjacent threads have adjacent units or columns. No thread waits for
another, and only sums over the hands of a bucket have concurrent writes.

Within a street a hand stays in its bucket. So the gains of a bucket's hands for a sequence of actions are summed over
all boards before the update: regrets are computed once for each bucket, not for each hand.

A launch costs time for each array argument, so there are few of them, and `sizes` has the offsets of each street in
them. `riverboat.solvers.mccfr.cuda_public_chance` compiles the kernels and sets the name that is None here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.engines.cuda._kernels.external import regret_matching_scale
from riverboat.engines.cuda.compilation import cuda

FLOAT: Any = None  # float32, the type of shared memory
real = np.float32
U = np.uint64
ZERO, ONE, THREE = U(0), U(1), U(3)
CARDS = 53  # including the dummy second card of one-card hands
# Bits of a packed hand: cards, whether it is the last of equal strength, its bucket.
CARD_BITS, TIE, BUCKET = 6, 12, 13
CARD, TO_SECOND, TO_TIE, TO_BUCKET = U(63), U(CARD_BITS), U(TIE), U(BUCKET)
NOWHERE = U(1 << 32)
MAX_RUN = 16  # hands of a bucket that one thread sums
# Columns of `sizes`, int64 [streets, FIELDS]. Counts:
LIVE, UNITS, SEQUENCES, SLOTS, BUCKETS, WIDTH, RUNS = range(7)
# Offsets: in the tables; in a list of units and buckets; in `sums`, `rows` and `dealt`; see below.
BASE, TABLE, WEIGHT, GAINED, HELD, REACH, VALUE, MET, SEEN, BY_BUCKET, RUN_AT = range(7, 18)
# Offsets in the plan: the arrays of `vector_plan.StreetPlan`, concatenated.
PLAN = 18
KIND, LANES, UNIT, SEQUENCE, DECISION, ABOVE, MOVE, MOVES, CELLS, CELL, TURN, END, MOST, LANE_END, AT, CAME, PLAYED = (
    range(PLAN, PLAN + 17)
)
PAY = PLAN + 17  # offset in the array of payoffs
FIELDS = PAY + 1
# float32 `sums`, by bucket: WEIGHT [buckets · sequences], probability of a sequence; GAINED [same], gain of the hands
# of a bucket; HELD [buckets · units], reach of a bucket's hands at the start of a street.
# float32 `rows`, by hand: REACH, VALUE [boards · live · units]; MET [boards · live · slots].
# uint32 `dealt`: SEEN [boards · live], hands in order; BY_BUCKET [same], their positions, grouped by bucket; RUN_AT
# [boards · runs, 3], some hands of one bucket: the first in BY_BUCKET, the number, the bucket.
STREET, COLUMN_UNIT, COLUMN, FOLDED, SHOWN = range(5)  # rows of `columns`, see `vector_plan.PlanColumns`
SHARES = 2  # offset in `paid` of the increments of averages by one hand; before it, the values of both seats


# --- by bucket ----------------------------------------------------------------------------------


class TableUnit(NamedTuple):
    """Unit (`vector_plan`) and bucket of a thread: their street, and offsets in the tables, the sums and the plan."""

    street: Any
    kind: Any
    lanes: Any
    first: Any  # its empty sequence, in WEIGHT and GAINED
    held: Any  # offset of HELD in `sums`
    row: Any  # first cell of the bucket
    cells: Any  # its first decision in CELL; `lanes` apart
    begin: Any  # its decisions
    end: Any


def find_table_unit(plan, sizes):
    """Return the unit and bucket of this thread."""
    t, s = U(cuda.grid(1)), 0
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, TABLE]):
        s += 1
    t -= U(sizes[s, TABLE])
    bucket, unit = t // U(sizes[s, UNITS]), t % U(sizes[s, UNITS])
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lane, decision = unit - U(plan[U(sizes[s, UNIT]) + kind]), U(sizes[s, DECISION]) + kind
    return TableUnit(
        s,
        kind,
        U(plan[U(sizes[s, LANES]) + kind]),
        bucket * U(sizes[s, SEQUENCES]) + U(plan[U(sizes[s, SEQUENCE]) + kind]) + lane,
        U(sizes[s, HELD]) + t,
        U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH]),
        U(sizes[s, CELL]) + U(plan[U(sizes[s, CELLS]) + kind]) + lane,
        U(plan[decision]),
        U(plan[decision + ONE]),
    )


def sequence_probabilities(plan, sizes, count, cells, sums):
    """Compute the probabilities of all sequences by regret matching, and clear the sums of the last step.

    There are `count` threads, one for each unit and bucket.
    """
    if U(cuda.grid(1)) >= U(count):
        return
    unit = find_table_unit(plan, sizes)
    s, lanes, cell_offset = unit.street, unit.lanes, unit.cells
    at, gained, d = U(sizes[s, WEIGHT]) + unit.first, U(sizes[s, GAINED]) + unit.first, unit.begin
    sums[at], sums[gained], sums[unit.held] = real(1), real(0), real(0)
    while d < unit.end:
        cell, moves = unit.row + U(plan[cell_offset]), U(plan[U(sizes[s, MOVES]) + d])
        scale, rest = regret_matching_scale(cells, cell, moves)
        x, to = sums[at + U(plan[U(sizes[s, ABOVE]) + d]) * lanes], U(plan[U(sizes[s, MOVE]) + d]) * lanes
        a = ZERO
        while a < moves:
            sums[at + to], sums[gained + to] = x * (max(cells[cell + a], real(0)) * scale + rest), real(0)
            to += lanes
            a += ONE
        cell_offset += lanes
        d += ONE


def update_tables(plan, sizes, count, cells, sums, paid):
    """Update the regrets and averages of all buckets, by `count` threads: one for each unit and bucket."""
    if U(cuda.grid(1)) >= U(count):
        return
    unit = find_table_unit(plan, sizes)
    s, lanes, cell_offset = unit.street, unit.lanes, unit.cells
    weight, gained, d = U(sizes[s, WEIGHT]) + unit.first, U(sizes[s, GAINED]) + unit.first, unit.end
    held = sums[unit.held] * real(paid[SHARES + s])
    cell_offset += (d - unit.begin) * lanes
    while d > unit.begin:  # the value of a decision is added to its parent sequence, which is processed later
        d -= ONE
        cell_offset -= lanes
        cell, moves, total, mean = unit.row + U(plan[cell_offset]), U(plan[U(sizes[s, MOVES]) + d]), real(0), real(0)
        to = U(plan[U(sizes[s, MOVE]) + d]) * lanes
        a = ZERO
        while a < moves:
            x = max(cells[cell + a], real(0))
            total += x
            mean += x * sums[gained + to + a * lanes]
            a += ONE
        if total > real(0):
            mean /= total
        else:
            a = ZERO
            while a < moves:
                mean += sums[gained + to + a * lanes]
                a += ONE
            mean /= real(moves)
        a = ZERO
        while a < moves:
            cells[cell + a] += sums[gained + to] - mean
            cells[cell + moves + a] += held * sums[weight + to]
            to += lanes
            a += ONE
        sums[gained + U(plan[U(sizes[s, ABOVE]) + d]) * lanes] += mean
    if s == 0:
        cuda.atomic.add(paid, unit.kind & ONE, np.float64(sums[gained]))


# --- by hand ------------------------------------------------------------------------------------


def street_reach(plan, sizes, count, first, dealt, sums, rows):
    """Compute each hand's reach at the units of later streets, from its buckets and sequences on earlier streets."""
    t, s = U(cuda.grid(1)) + U(sizes[1, REACH]), 1
    if t >= U(count):
        return
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, REACH]):
        s += 1
    units, live = U(sizes[s, UNITS]), U(sizes[s, LIVE])
    row, unit = (t - U(sizes[s, REACH])) // units, (t - U(sizes[s, REACH])) % units
    board, hand, reach = row // live + U(first), row % live, real(1)
    while s > 0:
        previous = s - 1
        bucket = U(dealt[U(sizes[previous, SEEN]) + board * U(sizes[previous, LIVE]) + hand]) >> TO_BUCKET
        played = U(plan[U(sizes[s, PLAYED]) + unit])
        reach *= sums[U(sizes[previous, WEIGHT]) + bucket * U(sizes[previous, SEQUENCES]) + played]
        unit = U(plan[U(sizes[s, CAME]) + unit])
        s -= 1
    rows[t] = reach


def add_to_cards(passed, seen, two, amount):
    """Add a hand's reach, `amount`, to the sums of its cards in shared memory. `seen`: packed hand"""
    threads, tid = U(cuda.blockDim.x), U(cuda.threadIdx.x)
    passed[(seen & CARD) * threads + tid] += amount
    if two:
        passed[((seen >> TO_SECOND) & CARD) * threads + tid] += amount


def subtract_cards(passed, seen, total):
    """Return `total` minus the sums of the cards of a packed hand."""
    threads, tid = U(cuda.blockDim.x), U(cuda.threadIdx.x)
    return total - passed[(seen & CARD) * threads + tid] - passed[((seen >> TO_SECOND) & CARD) * threads + tid]


def bucket_weight(seen, bucket, weight, sums, weights, wide):
    """Return the bucket of a packed hand, and the probability of a column's sequence in that bucket.

    The probability is loaded only if the bucket differs from `bucket`, whose probability is `weight`.
    """
    own = seen >> TO_BUCKET
    return own, weight if own == bucket else sums[weights + own * wide]


def column_values(columns, sizes, two, first, dealt, sums, rows):
    """Compute, for each hand, a column's compatible reach (folds), and that of weaker minus stronger hands (showdowns).

    A thread processes one column on one board, hands from weak to strong. `passed` has, for each card, the reach of
    processed hands minus that of the rest, so that one number serves both sides of a hand. Hands of equal strength are
    evaluated when half of their reach is processed: ties and hands with both cards cancel.
    """
    passed = cuda.shared.array(0, FLOAT)
    tid, threads = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    board, j = U(cuda.blockIdx.x), U(cuda.blockIdx.y) * threads + tid
    if j >= U(columns.shape[1]):
        return
    s, last = columns[STREET, j], sizes.shape[0] - 1
    live, left, units = U(sizes[s, LIVE]), U(sizes[last, LIVE]), U(sizes[s, UNITS])
    wide, slots = U(sizes[s, SEQUENCES]), U(sizes[s, SLOTS])
    begin = U(sizes[s, SEEN]) + (U(first) + board) * live
    reach = U(sizes[s, REACH]) + board * live * units + U(columns[COLUMN_UNIT, j])
    weights, met = U(sizes[s, WEIGHT]) + U(columns[COLUMN, j]), U(sizes[s, MET]) + board * live * slots
    folded, shown = columns[FOLDED, j], columns[SHOWN, j]
    for c in range(CARDS):
        passed[U(c) * threads + tid] = real(0)
    total, bucket, weight = real(0), NOWHERE, real(0)  # adjacent hands are often in one bucket: its weight is reused
    k, reach_at, stop = begin, reach, begin + (live if folded >= 0 else left)
    while k < stop:
        seen = U(dealt[k])
        bucket, weight = bucket_weight(seen, bucket, weight, sums, weights, wide)
        here = rows[reach_at] * weight
        total += here
        add_to_cards(passed, seen, two, here)
        reach_at += units
        k += ONE
    if folded >= 0:
        k, reach_at, to = begin, reach, met + U(folded)
        while k < stop:
            seen = U(dealt[k])
            x = subtract_cards(passed, seen, total)
            if two:
                bucket, weight = bucket_weight(seen, bucket, weight, sums, weights, wide)
                x += rows[reach_at] * weight
            rows[to] = x
            reach_at += units
            to += slots
            k += ONE
    if shown < 0:
        return
    k, reach_at, stop = stop, reach + (stop - begin) * units, begin + left
    while k > stop:  # hands that the full board blocks are not at the showdown
        k -= ONE
        reach_at -= units
        seen = U(dealt[k])
        here = rows[reach_at] * sums[weights + (seen >> TO_BUCKET) * wide]
        total -= here
        add_to_cards(passed, seen, two, -here)
    for c in range(CARDS):
        passed[U(c) * threads + tid] = -passed[U(c) * threads + tid]
    total = -total
    k, reach_at, to = begin, reach, met + U(shown)
    while k < stop:
        end, reach_back, more = k, reach_at, True
        while more:
            seen = U(dealt[end])
            bucket, weight = bucket_weight(seen, bucket, weight, sums, weights, wide)
            here = rows[reach_at] * weight
            total += here
            add_to_cards(passed, seen, two, here)
            more = (seen >> TO_TIE) & ONE == ZERO
            reach_at += units
            end += ONE
        i = k
        while i < end:
            seen = U(dealt[i])
            x = subtract_cards(passed, seen, total)
            rows[to] = x
            to += slots
            i += ONE
        while k < end:
            seen = U(dealt[k])
            bucket, weight = bucket_weight(seen, bucket, weight, sums, weights, wide)
            here = rows[reach_back] * weight
            total += here
            add_to_cards(passed, seen, two, here)
            reach_back += units
            k += ONE


def gather_values(plan, pays, sizes, s, first, boards, dealt, sums, rows):
    """Add the gains of some hands of a bucket for each sequence of a unit, and compute the unit's values by hand."""
    hand_value = cuda.shared.array(0, FLOAT)
    tid, threads = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    t, units, runs = U(cuda.grid(1)), U(sizes[s, UNITS]), U(sizes[s, RUNS])
    r, unit = t // units, t % units
    if r >= U(boards) * runs:
        return
    run = U(sizes[s, RUN_AT]) + (U(first) * runs + r) * THREE
    start, count, bucket = U(dealt[run]), U(dealt[run + ONE]), U(dealt[run + ONE + ONE])
    if count == ZERO:
        return
    board, live, slots = r // runs, U(sizes[s, LIVE]), U(sizes[s, SLOTS])
    start += U(sizes[s, BY_BUCKET]) + (U(first) + board) * live
    own_row, met = board * live * units + unit, U(sizes[s, MET]) + board * live * slots
    reach, total = U(sizes[s, REACH]) + own_row, real(0)
    i = ZERO
    while i < count:
        total += rows[reach + U(dealt[start + i]) * units]
        hand_value[i * threads + tid] = real(0)
        i += ONE
    cuda.atomic.add(sums, U(sizes[s, HELD]) + bucket * units + unit, total)
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lanes, lane = U(plan[U(sizes[s, LANES]) + kind]), unit - U(plan[U(sizes[s, UNIT]) + kind])
    j, stop = U(plan[U(sizes[s, SEQUENCE]) + kind]), U(plan[U(sizes[s, SEQUENCE]) + kind + ONE])
    at = bucket * U(sizes[s, SEQUENCES]) + j + lane
    weights, gained = U(sizes[s, WEIGHT]) + at, U(sizes[s, GAINED]) + at
    ends, most = U(sizes[s, END]) + U(plan[U(sizes[s, TURN]) + kind]), U(sizes[s, MOST])
    lane_offset = U(plan[U(sizes[s, LANE_END]) + kind]) + lane
    to, pay = U(sizes[s, AT]) + lane_offset, U(sizes[s, PAY]) + lane_offset
    next_street = s + 1
    while j < stop:
        e, last = U(plan[ends]), U(plan[ends + ONE])
        if e < last:
            weight, gain = sums[weights], real(0)
            while e < last:
                end, alive = plan[to], U(plan[most + e])
                if end >= 0:
                    here, step, payoff = met + U(end), slots, pays[pay]
                else:
                    step, payoff = U(sizes[next_street, UNITS]), real(1)
                    here = U(sizes[next_street, VALUE]) + board * U(sizes[next_street, LIVE]) * step + U(-1 - end)
                i = ZERO
                while i < count:
                    k = U(dealt[start + i])
                    if k < alive:
                        x = payoff * rows[here + k * step]
                        gain += x
                        hand_value[i * threads + tid] += weight * x
                    i += ONE
                to += lanes
                pay += lanes
                e += ONE
            cuda.atomic.add(sums, gained, gain)
        weights += lanes
        gained += lanes
        j += lanes
        ends += ONE
    if s > 0:
        value = U(sizes[s, VALUE]) + own_row
        i = ZERO
        while i < count:
            rows[value + U(dealt[start + i]) * units] = hand_value[i * threads + tid]
            i += ONE
