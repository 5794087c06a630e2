"""Steps of public chance sampling over buckets on a GPU: all hands of both seats on some boards at once.

Hands of a board stand in one order on all streets (see `_public_chance_kernels`): hand k of board b is row b · live + k of a
street. Reach and values of a row stand unit by unit, what it meets slot by slot (`vector_plan`), so that threads side by side
have units or columns side by side. No thread waits for another, and only sums over the hands of a bucket are written by many.

Within a street a hand stays in its bucket. So all that a bucket's hands gain by a sequence of moves, on all boards, is added
up before anything is learnt from it: regrets are worked out once for each bucket, not for each hand.

To start a step costs the processor time for each array that it is given, so there are few of them, and `sizes` says where in
them what a street has begins. Compiled by `riverboat.solvers.mccfr.cuda_vectors`, which sets the name that is None here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.engines.cuda.compilation import cuda

FLOAT: Any = None  # float32, for the memory of a block
real = np.float32
U = np.uint64
ZERO, ONE, THREE = U(0), U(1), U(3)
CARDS = 53  # and the one that a hand of one card has as its second
CARD_BITS, TIE, BUCKET = (
    6,
    12,
    13,
)  # a hand as one number: cards, whether a group of equal hands ends with it, its bucket
CARD, TO_SECOND, TO_TIE, TO_BUCKET = U(63), U(CARD_BITS), U(TIE), U(BUCKET)
NOWHERE = U(1 << 32)
RUN = 16  # hands of a bucket that one thread adds up
# Columns of `sizes`, int64 [streets, FIELDS]. How many:
LIVE, UNITS, SEQUENCES, SLOTS, BUCKETS, WIDTH, RUNS = range(7)
# Where they begin: in the tables; in a list of units and buckets; in `sums`, `rows` and `dealt`; see below.
BASE, TABLE, WEIGHT, GAINED, HELD, REACH, VALUE, MET, SEEN, BY_BUCKET, RUN_AT = range(7, 18)
# And in the plan: the arrays of `vector_plan.Street` one after the other.
PLAN = 18
KIND, LANES, UNIT, SEQUENCE, DECISION, ABOVE, MOVE, MOVES, CELLS, CELL, TURN, END, MOST, LANE_END, AT, CAME, PLAYED = (
    range(PLAN, PLAN + 17)
)
PAY = PLAN + 17  # in the array of pay-offs
FIELDS = PAY + 1
# float32 `sums`: what belongs to buckets. WEIGHT [buckets · sequences], probability of a sequence; GAINED [same], by the
# hands of a bucket; HELD [buckets · units], reach of a bucket's hands where a street begins.
# float32 `rows`: what belongs to hands. REACH, VALUE [boards · live · units]; MET [boards · live · slots].
# uint32 `dealt`: SEEN [boards · live], hands in order; BY_BUCKET [same], their places, those of a bucket side by side; RUN_AT
# [boards · runs, 3], some hands of one bucket: the first in BY_BUCKET, how many, the bucket.
STREET, COLUMN_UNIT, COLUMN, FOLDED, SHOWN = range(5)  # rows of `columns`, see `vector_plan.Columns`
SHARES = 2  # where what one hand adds to an average begins in `paid`; before it, what both seats have won


# --- by bucket ----------------------------------------------------------------------------------


def weigh(plan, sizes, count, cells, sums):
    """Probabilities of all sequences by regret matching; what was gathered before is cleared."""
    t, s = U(cuda.grid(1)), 0
    if t >= U(count):
        return
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, TABLE]):
        s += 1
    t -= U(sizes[s, TABLE])
    units = U(sizes[s, UNITS])
    bucket, unit = t // units, t % units
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lanes, lane = U(plan[U(sizes[s, LANES]) + kind]), unit - U(plan[U(sizes[s, UNIT]) + kind])
    first = bucket * U(sizes[s, SEQUENCES]) + U(plan[U(sizes[s, SEQUENCE]) + kind]) + lane
    at, gained = U(sizes[s, WEIGHT]) + first, U(sizes[s, GAINED]) + first
    row = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH])
    place = U(sizes[s, CELL]) + U(plan[U(sizes[s, CELLS]) + kind]) + lane
    sums[at], sums[gained], sums[U(sizes[s, HELD]) + t] = real(1), real(0), real(0)
    d, end = U(plan[U(sizes[s, DECISION]) + kind]), U(plan[U(sizes[s, DECISION]) + kind + ONE])
    while d < end:
        cell, moves, total = row + U(plan[place]), U(plan[U(sizes[s, MOVES]) + d]), real(0)
        a = ZERO
        while a < moves:
            total += max(cells[cell + a], real(0))
            a += ONE
        x, to = sums[at + U(plan[U(sizes[s, ABOVE]) + d]) * lanes], U(plan[U(sizes[s, MOVE]) + d]) * lanes
        a = ZERO
        while a < moves:
            share = max(cells[cell + a], real(0)) / total if total > real(0) else real(1) / real(moves)
            sums[at + to], sums[gained + to] = x * share, real(0)
            to += lanes
            a += ONE
        place += lanes
        d += ONE


def learn(plan, sizes, count, cells, sums, paid):
    """Regrets and averages of all buckets."""
    t, s = U(cuda.grid(1)), 0
    if t >= U(count):
        return
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, TABLE]):
        s += 1
    t -= U(sizes[s, TABLE])
    units = U(sizes[s, UNITS])
    bucket, unit = t // units, t % units
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lanes, lane = U(plan[U(sizes[s, LANES]) + kind]), unit - U(plan[U(sizes[s, UNIT]) + kind])
    first = bucket * U(sizes[s, SEQUENCES]) + U(plan[U(sizes[s, SEQUENCE]) + kind]) + lane
    weight, gained = U(sizes[s, WEIGHT]) + first, U(sizes[s, GAINED]) + first
    row = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH])
    held = sums[U(sizes[s, HELD]) + t] * real(paid[SHARES + s])
    start, d = U(plan[U(sizes[s, DECISION]) + kind]), U(plan[U(sizes[s, DECISION]) + kind + ONE])
    place = U(sizes[s, CELL]) + U(plan[U(sizes[s, CELLS]) + kind]) + lane + (d - start) * lanes
    while d > start:  # what a decision is worth goes to the move that leads there, which is looked at later
        d -= ONE
        place -= lanes
        cell, moves, total, mean = row + U(plan[place]), U(plan[U(sizes[s, MOVES]) + d]), real(0), real(0)
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
        cuda.atomic.add(paid, kind & ONE, np.float64(sums[gained]))


def discount(plan, sizes, count, cells, positive, negative, decay):
    """Multiply regrets above and below zero, and averages."""
    t, s = U(cuda.grid(1)), 0
    if t >= U(count):
        return
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, TABLE]):
        s += 1
    t -= U(sizes[s, TABLE])
    units = U(sizes[s, UNITS])
    bucket, unit = t // units, t % units
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lanes, lane = U(plan[U(sizes[s, LANES]) + kind]), unit - U(plan[U(sizes[s, UNIT]) + kind])
    row = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH])
    place = U(sizes[s, CELL]) + U(plan[U(sizes[s, CELLS]) + kind]) + lane
    d, end = U(plan[U(sizes[s, DECISION]) + kind]), U(plan[U(sizes[s, DECISION]) + kind + ONE])
    while d < end:
        cell, moves = row + U(plan[place]), U(plan[U(sizes[s, MOVES]) + d])
        a = ZERO
        while a < moves:
            x = cells[cell + a]
            cells[cell + a] = x * real(positive) if x > real(0) else x * real(negative)
            cells[cell + moves + a] *= real(decay)
            a += ONE
        place += lanes
        d += ONE


# --- by hand ------------------------------------------------------------------------------------


def enter(plan, sizes, count, first, dealt, sums, rows):
    """Reach where the streets after the first begin: what was played on those before, by the buckets that it had there."""
    t, s = U(cuda.grid(1)) + U(sizes[1, REACH]), 1
    if t >= U(count):
        return
    while s + 1 < sizes.shape[0] and t >= U(sizes[s + 1, REACH]):
        s += 1
    units, live = U(sizes[s, UNITS]), U(sizes[s, LIVE])
    row, unit = (t - U(sizes[s, REACH])) // units, (t - U(sizes[s, REACH])) % units
    board, hand, reach = row // live + U(first), row % live, real(1)
    while s > 0:
        b = s - 1
        bucket = U(dealt[U(sizes[b, SEEN]) + board * U(sizes[b, LIVE]) + hand]) >> TO_BUCKET
        played = U(plan[U(sizes[s, PLAYED]) + unit])
        reach *= sums[U(sizes[b, WEIGHT]) + bucket * U(sizes[b, SEQUENCES]) + played]
        unit = U(plan[U(sizes[s, CAME]) + unit])
        s -= 1
    rows[t] = reach


def sweep(columns, sizes, two, first, dealt, sums, rows):
    """One column on one board, the hands from weak to strong: what each hand meets, and what it beats less what beats it.

    `passed` has for each card what was passed less what is to come, so that both sides of a hand are one number. Equal hands
    are looked at when half of them has passed: who ties, and who holds both cards, cancels out.
    """
    passed = cuda.shared.array(0, FLOAT)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    board, j = U(cuda.blockIdx.x), U(cuda.blockIdx.y) * many + tid
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
        passed[U(c) * many + tid] = real(0)
    total, bucket, weight = real(0), NOWHERE, real(0)  # hands side by side are often in one bucket: its weight is kept
    k, came, stop = begin, reach, begin + (live if folded >= 0 else left)
    while k < stop:
        seen = U(dealt[k])
        if seen >> TO_BUCKET != bucket:
            bucket = seen >> TO_BUCKET
            weight = sums[weights + bucket * wide]
        here = rows[came] * weight
        total += here
        passed[(seen & CARD) * many + tid] += here
        if two:
            passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
        came += units
        k += ONE
    if folded >= 0:
        k, came, to = begin, reach, met + U(folded)
        while k < stop:
            seen = U(dealt[k])
            x = total - passed[(seen & CARD) * many + tid] - passed[((seen >> TO_SECOND) & CARD) * many + tid]
            if two:
                if seen >> TO_BUCKET != bucket:
                    bucket = seen >> TO_BUCKET
                    weight = sums[weights + bucket * wide]
                x += rows[came] * weight
            rows[to] = x
            came += units
            to += slots
            k += ONE
    if shown < 0:
        return
    k, came, stop = stop, reach + (stop - begin) * units, begin + left
    while k > stop:  # hands that the whole board takes away are not shown
        k -= ONE
        came -= units
        seen = U(dealt[k])
        here = rows[came] * sums[weights + (seen >> TO_BUCKET) * wide]
        total -= here
        passed[(seen & CARD) * many + tid] -= here
        if two:
            passed[((seen >> TO_SECOND) & CARD) * many + tid] -= here
    for c in range(CARDS):
        passed[U(c) * many + tid] = -passed[U(c) * many + tid]
    total = -total
    k, came, to = begin, reach, met + U(shown)
    while k < stop:
        end, back, more = k, came, True
        while more:
            seen = U(dealt[end])
            if seen >> TO_BUCKET != bucket:
                bucket = seen >> TO_BUCKET
                weight = sums[weights + bucket * wide]
            here = rows[came] * weight
            total += here
            passed[(seen & CARD) * many + tid] += here
            if two:
                passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
            more = (seen >> TO_TIE) & ONE == ZERO
            came += units
            end += ONE
        i = k
        while i < end:
            seen = U(dealt[i])
            x = total - passed[(seen & CARD) * many + tid] - passed[((seen >> TO_SECOND) & CARD) * many + tid]
            rows[to] = x
            to += slots
            i += ONE
        while k < end:
            seen = U(dealt[k])
            if seen >> TO_BUCKET != bucket:
                bucket = seen >> TO_BUCKET
                weight = sums[weights + bucket * wide]
            here = rows[back] * weight
            total += here
            passed[(seen & CARD) * many + tid] += here
            if two:
                passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
            back += units
            k += ONE


def gather(plan, pays, sizes, s, first, boards, dealt, sums, rows):
    """What some hands of a bucket gain by each sequence of a unit; what the unit is worth to each of them."""
    worth = cuda.shared.array(0, FLOAT)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
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
    mine, met = board * live * units + unit, U(sizes[s, MET]) + board * live * slots
    reach, total = U(sizes[s, REACH]) + mine, real(0)
    i = ZERO
    while i < count:
        total += rows[reach + U(dealt[start + i]) * units]
        worth[i * many + tid] = real(0)
        i += ONE
    cuda.atomic.add(sums, U(sizes[s, HELD]) + bucket * units + unit, total)
    kind = U(plan[U(sizes[s, KIND]) + unit])
    lanes, lane = U(plan[U(sizes[s, LANES]) + kind]), unit - U(plan[U(sizes[s, UNIT]) + kind])
    j, stop = U(plan[U(sizes[s, SEQUENCE]) + kind]), U(plan[U(sizes[s, SEQUENCE]) + kind + ONE])
    at = bucket * U(sizes[s, SEQUENCES]) + j + lane
    weights, gained = U(sizes[s, WEIGHT]) + at, U(sizes[s, GAINED]) + at
    ends, most = U(sizes[s, END]) + U(plan[U(sizes[s, TURN]) + kind]), U(sizes[s, MOST])
    place = U(plan[U(sizes[s, LANE_END]) + kind]) + lane
    to, pay = U(sizes[s, AT]) + place, U(sizes[s, PAY]) + place
    after = s + 1
    while j < stop:
        e, last = U(plan[ends]), U(plan[ends + ONE])
        if e < last:
            weight, gain = sums[weights], real(0)
            while e < last:
                there, alive = plan[to], U(plan[most + e])
                if there >= 0:
                    here, price = met + U(there), pays[pay]
                    i = ZERO
                    while i < count:
                        k = U(dealt[start + i])
                        if k < alive:
                            x = price * rows[here + k * slots]
                            gain += x
                            worth[i * many + tid] += weight * x
                        i += ONE
                else:
                    wide = U(sizes[after, UNITS])
                    here = U(sizes[after, VALUE]) + board * U(sizes[after, LIVE]) * wide + U(-1 - there)
                    i = ZERO
                    while i < count:
                        k = U(dealt[start + i])
                        if k < alive:
                            x = rows[here + k * wide]
                            gain += x
                            worth[i * many + tid] += weight * x
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
        value = U(sizes[s, VALUE]) + mine
        i = ZERO
        while i < count:
            rows[value + U(dealt[start + i]) * units] = worth[i * many + tid]
            i += ONE
