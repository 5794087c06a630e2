"""Steps of public chance sampling over buckets on a GPU: all hands of both seats on many boards at once.

Hands of a board stand in one order on all streets (see `_public_chance_kernels`): hand k of board b is row b · live + k of a
street. Reach and values of a row stand unit by unit, what it meets slot by slot (`vector_plan`), so that threads side by side
have units or columns side by side. No thread waits for another, and only sums over the hands of a bucket are written by many.

Within a street a hand stays in its bucket. So all that a bucket's hands gain by a sequence of moves, on all boards, is added
up before anything is learnt from it: regrets are worked out once for each bucket, not for each hand.

Compiled by `riverboat.solving.vector_sampling`, which sets the name that is None here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.walks.cuda_code import cuda

FLOAT: Any = None  # float32, for the memory of a block
real = np.float32
U = np.uint64
ZERO, ONE, THREE = U(0), U(1), U(3)
CARDS = 53  # and the one that a hand of one card has as its second
CARD_BITS, TIE, BUCKET = (
    6,
    12,
    13,
)  # a hand as one number: its cards, whether a group of equal hands ends with it, its bucket
CARD, TO_SECOND, TO_TIE, TO_BUCKET = U(63), U(CARD_BITS), U(TIE), U(BUCKET)
NOWHERE = U(1 << 32)
RUN = 16  # hands of a bucket that one thread adds up
# Columns of `sizes`, which has a row for each street.
LIVE, UNITS, SEQUENCES, SLOTS, BUCKETS, WIDTH, BASE, REACH, WEIGHT, HELD, SLOT, DEALT, RUNS, RUN_AT = range(14)
FIELDS = 14


class Dealt(NamedTuple):
    """Boards, and their hands in order."""

    seen: Any  # uint32 [streets one after the other: boards · live], see above
    by_bucket: Any  # int32 [same]: places of the hands, those of a bucket side by side
    run: Any  # int32 [streets: boards · runs, 3]: some hands of one bucket: first in `by_bucket`, how many, bucket


class Sums(NamedTuple):
    """What belongs to buckets, on all streets one after the other."""

    weight: Any  # float32 [buckets · sequences]: probability of a sequence
    gained: Any  # float32 [buckets · sequences]: by the hands of a bucket
    held: Any  # float32 [buckets · units]: reach of a bucket's hands where a street begins


class Rows(NamedTuple):
    """What belongs to hands, on all streets one after the other."""

    reach: Any  # float32 [boards · live · units]
    value: Any  # float32 [boards · live · units]
    met: Any  # float32 [boards · live · slots]


# --- by bucket ----------------------------------------------------------------------------------


def weigh(street, sizes, s, cells, sums):
    """Probabilities of all sequences by regret matching; what was gathered before is cleared."""
    t, units = U(cuda.grid(1)), U(len(street.kind))
    if t >= units * U(sizes[s, BUCKETS]):
        return
    bucket, unit = t // units, t % units
    kind = U(street.kind[unit])
    lanes, lane = U(street.lanes[kind]), unit - U(street.unit[kind])
    at = U(sizes[s, WEIGHT]) + bucket * U(sizes[s, SEQUENCES]) + U(street.sequence[kind]) + lane
    row, place = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH]), U(street.cells[kind]) + lane
    sums.weight[at], sums.gained[at], sums.held[U(sizes[s, HELD]) + t] = real(1), real(0), real(0)
    d, end = U(street.decision[kind]), U(street.decision[kind + ONE])
    while d < end:
        cell, moves, total = row + U(street.cell[place]), U(street.moves[d]), real(0)
        a = ZERO
        while a < moves:
            total += max(cells[cell + a], real(0))
            a += ONE
        x, to = sums.weight[at + U(street.above[d]) * lanes], at + U(street.move[d]) * lanes
        a = ZERO
        while a < moves:
            share = max(cells[cell + a], real(0)) / total if total > real(0) else real(1) / real(moves)
            sums.weight[to], sums.gained[to] = x * share, real(0)
            to += lanes
            a += ONE
        place += lanes
        d += ONE


def learn(street, sizes, s, cells, sums, share, payoff):
    """Regrets and averages of all buckets; `share` is what one hand adds to an average."""
    t, units = U(cuda.grid(1)), U(len(street.kind))
    if t >= units * U(sizes[s, BUCKETS]):
        return
    bucket, unit = t // units, t % units
    kind = U(street.kind[unit])
    lanes, lane = U(street.lanes[kind]), unit - U(street.unit[kind])
    at = U(sizes[s, WEIGHT]) + bucket * U(sizes[s, SEQUENCES]) + U(street.sequence[kind]) + lane
    row = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH])
    held = sums.held[U(sizes[s, HELD]) + t] * real(share)
    first, d = U(street.decision[kind]), U(street.decision[kind + ONE])
    place = U(street.cells[kind]) + lane + (d - first) * lanes
    while d > first:  # what a decision is worth goes to the move that leads there, which is looked at later
        d -= ONE
        place -= lanes
        cell, moves, total, mean = row + U(street.cell[place]), U(street.moves[d]), real(0), real(0)
        to = at + U(street.move[d]) * lanes
        a = ZERO
        while a < moves:
            x = max(cells[cell + a], real(0))
            total += x
            mean += x * sums.gained[to + a * lanes]
            a += ONE
        if total > real(0):
            mean /= total
        else:
            a = ZERO
            while a < moves:
                mean += sums.gained[to + a * lanes]
                a += ONE
            mean /= real(moves)
        a = ZERO
        while a < moves:
            cells[cell + a] += sums.gained[to] - mean
            cells[cell + moves + a] += held * sums.weight[to]
            to += lanes
            a += ONE
        sums.gained[at + U(street.above[d]) * lanes] += mean
    if s == 0:
        cuda.atomic.add(payoff, kind & ONE, np.float64(sums.gained[at]))


def discount(street, sizes, s, cells, positive, negative, decay):
    """Multiply regrets above and below zero, and averages."""
    t, units = U(cuda.grid(1)), U(len(street.kind))
    if t >= units * U(sizes[s, BUCKETS]):
        return
    bucket, unit = t // units, t % units
    kind = U(street.kind[unit])
    lanes, lane = U(street.lanes[kind]), unit - U(street.unit[kind])
    row, place = U(sizes[s, BASE]) + bucket * U(sizes[s, WIDTH]), U(street.cells[kind]) + lane
    d, end = U(street.decision[kind]), U(street.decision[kind + ONE])
    while d < end:
        cell, moves = row + U(street.cell[place]), U(street.moves[d])
        a = ZERO
        while a < moves:
            x = cells[cell + a]
            cells[cell + a] = x * real(positive) if x > real(0) else x * real(negative)
            cells[cell + moves + a] *= real(decay)
            a += ONE
        place += lanes
        d += ONE


# --- by hand ------------------------------------------------------------------------------------


def enter(street, sizes, s, boards, dealt, sums, rows):
    """Reach where a street begins: what it was where the street before began, times what was played there."""
    t, units, live = U(cuda.grid(1)), U(len(street.kind)), U(sizes[s, LIVE])
    if t >= U(boards) * live * units:
        return
    to = U(sizes[s, REACH]) + t
    if s == 0:
        rows.reach[to] = real(1)
        return
    row, unit = t // units, t % units
    b = s - 1
    before = row // live * U(sizes[b, LIVE]) + row % live
    bucket = U(dealt.seen[U(sizes[b, DEALT]) + before]) >> TO_BUCKET
    at = U(sizes[b, WEIGHT]) + bucket * U(sizes[b, SEQUENCES]) + U(street.played[unit])
    came = U(sizes[b, REACH]) + before * U(sizes[b, UNITS]) + U(street.came[unit])
    rows.reach[to] = rows.reach[came] * sums.weight[at]


def sweep(columns, sizes, two, dealt, sums, rows):
    """One column on one board, the hands from weak to strong: what each hand meets, and what it beats less what beats it.

    `passed` has for each card what was passed less what is to come, so that both sides of a hand are one number. Equal hands
    are looked at when half of them has passed: who ties, and who holds both cards, cancels out.
    """
    passed = cuda.shared.array(0, FLOAT)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    board, j = U(cuda.blockIdx.x), U(cuda.blockIdx.y) * many + tid
    if j >= U(len(columns.unit)):
        return
    s, last = columns.street[j], sizes.shape[0] - 1
    live, left, units = U(sizes[s, LIVE]), U(sizes[last, LIVE]), U(sizes[s, UNITS])
    wide, slots = U(sizes[s, SEQUENCES]), U(sizes[s, SLOTS])
    begin, reach = U(sizes[s, DEALT]) + board * live, U(sizes[s, REACH]) + board * live * units + U(columns.unit[j])
    weights, met = U(sizes[s, WEIGHT]) + U(columns.sequence[j]), U(sizes[s, SLOT]) + board * live * slots
    folded, shown = columns.folded[j], columns.shown[j]
    for c in range(CARDS):
        passed[U(c) * many + tid] = real(0)
    total, bucket, weight = real(0), NOWHERE, real(0)  # hands side by side are often in one bucket: its weight is kept
    k, came, stop = begin, reach, begin + (live if folded >= 0 else left)
    while k < stop:
        seen = U(dealt.seen[k])
        if seen >> TO_BUCKET != bucket:
            bucket = seen >> TO_BUCKET
            weight = sums.weight[weights + bucket * wide]
        here = rows.reach[came] * weight
        total += here
        passed[(seen & CARD) * many + tid] += here
        if two:
            passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
        came += units
        k += ONE
    if folded >= 0:
        k, came, to = begin, reach, met + U(folded)
        while k < stop:
            seen = U(dealt.seen[k])
            x = total - passed[(seen & CARD) * many + tid] - passed[((seen >> TO_SECOND) & CARD) * many + tid]
            if two:
                if seen >> TO_BUCKET != bucket:
                    bucket = seen >> TO_BUCKET
                    weight = sums.weight[weights + bucket * wide]
                x += rows.reach[came] * weight
            rows.met[to] = x
            came += units
            to += slots
            k += ONE
    if shown < 0:
        return
    k, came, stop = stop, reach + (stop - begin) * units, begin + left
    while k > stop:  # hands that the whole board takes away are not shown
        k -= ONE
        came -= units
        seen = U(dealt.seen[k])
        here = rows.reach[came] * sums.weight[weights + (seen >> TO_BUCKET) * wide]
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
            seen = U(dealt.seen[end])
            if seen >> TO_BUCKET != bucket:
                bucket = seen >> TO_BUCKET
                weight = sums.weight[weights + bucket * wide]
            here = rows.reach[came] * weight
            total += here
            passed[(seen & CARD) * many + tid] += here
            if two:
                passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
            more = (seen >> TO_TIE) & ONE == ZERO
            came += units
            end += ONE
        i = k
        while i < end:
            seen = U(dealt.seen[i])
            x = total - passed[(seen & CARD) * many + tid] - passed[((seen >> TO_SECOND) & CARD) * many + tid]
            rows.met[to] = x
            to += slots
            i += ONE
        while k < end:
            seen = U(dealt.seen[k])
            if seen >> TO_BUCKET != bucket:
                bucket = seen >> TO_BUCKET
                weight = sums.weight[weights + bucket * wide]
            here = rows.reach[back] * weight
            total += here
            passed[(seen & CARD) * many + tid] += here
            if two:
                passed[((seen >> TO_SECOND) & CARD) * many + tid] += here
            back += units
            k += ONE


def gather(street, sizes, s, boards, dealt, sums, rows):
    """What some hands of a bucket gain by each sequence of a unit; what the unit is worth to each of them."""
    worth = cuda.shared.array(0, FLOAT)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    t, units, runs = U(cuda.grid(1)), U(len(street.kind)), U(sizes[s, RUNS])
    r, unit = t // units, t % units
    if r >= U(boards) * runs:
        return
    run = (U(sizes[s, RUN_AT]) + r) * THREE
    first, count, bucket = U(dealt.run[run]), U(dealt.run[run + ONE]), U(dealt.run[run + ONE + ONE])
    if count == ZERO:
        return
    board, live, slots = r // runs, U(sizes[s, LIVE]), U(sizes[s, SLOTS])
    first += U(sizes[s, DEALT]) + board * live
    mine, met = U(sizes[s, REACH]) + board * live * units + unit, U(sizes[s, SLOT]) + board * live * slots
    total = real(0)
    i = ZERO
    while i < count:
        total += rows.reach[mine + U(dealt.by_bucket[first + i]) * units]
        worth[i * many + tid] = real(0)
        i += ONE
    cuda.atomic.add(sums.held, U(sizes[s, HELD]) + bucket * units + unit, total)
    kind = U(street.kind[unit])
    lanes, lane = U(street.lanes[kind]), unit - U(street.unit[kind])
    at = U(sizes[s, WEIGHT]) + bucket * U(sizes[s, SEQUENCES]) + U(street.sequence[kind]) + lane
    end, place = U(street.turn[kind]), U(street.lane_end[kind]) + lane
    after = s + 1
    j, stop = U(street.sequence[kind]), U(street.sequence[kind + ONE])
    while j < stop:
        e, last = street.end[end], street.end[end + ONE]
        if e < last:
            weight, gain = sums.weight[at], real(0)
            while e < last:
                there, pay, most = street.at[place], street.pay[place], street.live[e]
                if there >= 0:
                    here = met + U(there)
                    i = ZERO
                    while i < count:
                        k = dealt.by_bucket[first + i]
                        if k < most:
                            x = pay * rows.met[here + U(k) * slots]
                            gain += x
                            worth[i * many + tid] += weight * x
                        i += ONE
                else:
                    wide = U(sizes[after, UNITS])
                    here = U(sizes[after, REACH]) + board * U(sizes[after, LIVE]) * wide + U(-1 - there)
                    i = ZERO
                    while i < count:
                        k = dealt.by_bucket[first + i]
                        if k < most:
                            x = rows.value[here + U(k) * wide]
                            gain += x
                            worth[i * many + tid] += weight * x
                        i += ONE
                place += lanes
                e += 1
            cuda.atomic.add(sums.gained, at, gain)
        at += lanes
        j += lanes
        end += ONE
    if s > 0:
        i = ZERO
        while i < count:
            rows.value[mine + U(dealt.by_bucket[first + i]) * units] = worth[i * many + tid]
            i += ONE
