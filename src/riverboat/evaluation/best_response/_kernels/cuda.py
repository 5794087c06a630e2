"""Steps of a best response on a GPU: the streets after the first, for all boards below one of the second street.

Vectors over the hands of all boards of a street stand behind each other: hand k of board b is number b · live + k of `span`.
Before the last street a thread owns one such number and follows the betting; threads meet only where folds are paid. On the
last street a thread first owns one sequence of the opponent's moves on one board (a *column*) and sweeps over the hands,
then one hand at one entry and works out the values. Compiled by `riverboat.evaluation.best_response.cuda`, which sets the names
that are None here. Nothing is written by two threads, so results do not depend on the order in which they run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.engines.cuda.compilation import cuda
from riverboat.evaluation.best_response._kernels.deal import CARD_BITS, PLACE, PLACE_BITS, TIE
from riverboat.evaluation.best_response._kernels.last_street import BEST, MOVE, SET, SHOWN
from riverboat.evaluation.best_response._kernels.traversal import FOLLOW, OTHER, OWN

real: Any = None  # in which the last street is walked
KIND: Any = None  # the same, for the memory of a block
DOUBLE: Any = None  # float64 there
U, V = np.uint64, np.uint32
ZERO, ONE = U(0), U(1)
CARDS = 53  # and the one that a hand of one card has as its second
CARD, SPOT = V((1 << CARD_BITS) - 1), V((1 << PLACE_BITS) - 1)
TO_SECOND, TO_PLACE, TO_TIE = V(CARD_BITS), V(PLACE), V(TIE)
WIDE = 6  # numbers of an operation


class Sizes(NamedTuple):
    """Of a street and the one before, and from where to where."""

    hands: int  # of the deck
    two: int  # whether a hand has two cards
    live: int  # hands that a board leaves
    span: int  # the same for all boards
    before_live: int
    before_span: int
    low: int  # items of the street, or the first board
    high: int
    vector: int  # the first vector of reach
    before_vector: int
    stride: int  # of a row of the table; or of weights


class Columns(NamedTuple):
    """Sequences of the last street, as many beside each other as there are lanes."""

    at: Any  # int32 [columns]: where each stands in a row of weights
    batch: Any  # int32 [columns]
    shown: Any  # int32 [columns]: its number among those that meet a showdown; -1
    folded: Any  # int8 [columns]: whether it meets a fold


class Program(NamedTuple):
    """How values of the last street are worked out, see `_last_street_kernels.LastStreet`."""

    begin: Any  # int32 [batches + 1]: operations
    op: Any  # int32 [operations · WIDE]
    pay: Any  # float [rows · lanes]
    column: Any  # int32 [batches]: the first one
    shown: Any  # int32 [batches]: the first one that meets a showdown, among those
    entry: Any  # int32 [batches · lanes]: items of the street before; -1


# --- before the last street -------------------------------------------------------------------


def walk_down(items, table, dealt, before, reach, sizes):
    """The opponent's reach at all items of a street."""
    t = cuda.grid(1)
    if t >= sizes.span:
        return
    count = sizes.span
    source = np.int64((dealt.seen[t] >> TO_PLACE) & SPOT)
    came = dealt.parent[t // sizes.live] * sizes.before_live + source
    row = np.int64(dealt.bucket[t]) * sizes.stride
    for item in range(sizes.low, sizes.high):
        at = (items.reach[item] - sizes.vector) * count + t
        entry = items.entry[item]
        if entry >= 0:
            reach[at] = before[(items.reach[entry] - sizes.before_vector) * sizes.before_span + came]
        if items.kind[item] == OTHER:
            first, moves, slot = items.first[item], items.count[item], row + items.slot[item]
            x, total = reach[at], 0.0
            for a in range(moves):
                total += table[slot + a]
            for a in range(moves):
                share = x * table[slot + a] / total if total > 0 else x / moves
                reach[(items.reach[first + a] - sizes.vector) * count + t] = share


def pay_folds(items, folds, pairs, dealt, reach, value, sizes):
    """Pay one fold on one board: a block for each."""
    memory = cuda.shared.array(0, DOUBLE)  # reach of the hands, sums of cards, their total
    tid, many = cuda.threadIdx.x, cuda.blockDim.x
    item, b, live = folds[cuda.blockIdx.x], cuda.blockIdx.y, sizes.live
    at = (items.reach[item] - sizes.vector) * sizes.span + b * live
    for k in range(tid, live, many):
        memory[k] = reach[at + k]
    cuda.syncthreads()
    for c in range(tid, CARDS, many):
        total = 0.0
        for d in range(CARDS):
            hand = pairs[c * CARDS + d]
            if hand >= 0 and c < CARDS - 1:
                place = dealt.place[b * sizes.hands + hand]
                if place >= 0:
                    total += memory[place]
        memory[live + c] = total
    cuda.syncthreads()
    if tid == 0:
        total = 0.0
        for c in range(CARDS):
            total += memory[live + c]
        memory[live + CARDS] = total / 2 if sizes.two else total
    cuda.syncthreads()
    to = (item - sizes.low) * sizes.span + b * live
    for k in range(tid, live, many):
        seen = dealt.seen[b * live + k]
        first, second = seen & CARD, (seen >> TO_SECOND) & CARD
        met = memory[live + CARDS] - memory[live + np.int64(first)] - memory[live + np.int64(second)]
        value[to + k] = items.pay[item] * (met + memory[k] if sizes.two else met)


def gather(entered, hand, first, dealt, value, gained, sizes):
    """What the boards that follow are worth at the exits of a street, times how many they stand for."""
    t, x = cuda.grid(1), cuda.blockIdx.y
    if t >= sizes.before_span:
        return
    h, b, total = np.int64(hand[t]), t // sizes.before_live, 0.0
    at = (entered[x] - sizes.low) * sizes.span
    for child in range(first[b], first[b + 1]):
        place = dealt.place[child * sizes.hands + h]
        if place >= 0:
            total += dealt.times[child] * value[at + child * sizes.live + place]
    gained[x * sizes.before_span + t] = total


def average_exits(exits, lanes, dealt, maps, chance, gained, value, sizes):
    """Values at exits: the mean over hands that suits exchange, times the chance of a deal."""
    t, x = cuda.grid(1), cuda.blockIdx.y
    if t >= sizes.span or exits[x] < 0:
        return
    b = t // sizes.live
    group, total, ones = dealt.group[b], 0.0, 0
    at, lane = (x // lanes) * sizes.span + b * sizes.live, x % lanes
    h = np.int64(dealt.hand[t])
    g = 0
    while group:
        if group & 1:
            place = dealt.place[b * sizes.hands + maps[g * sizes.hands + h]]
            total += gained[(at + place) * lanes + lane]
            ones += 1
        group >>= 1
        g += 1
    value[(exits[x] - sizes.low) * sizes.span + t] = total * chance / ones


def walk_up(items, table, dealt, value, sizes):
    """Values of all decisions of a street."""
    t = cuda.grid(1)
    if t >= sizes.span:
        return
    count, low = sizes.span, sizes.low
    row = np.int64(dealt.bucket[t]) * sizes.stride
    for back in range(sizes.high - low):
        item = sizes.high - 1 - back
        kind = items.kind[item]
        if kind <= OTHER:
            first, moves, slot = items.first[item] - low, items.count[item], row + items.slot[item]
            x, total, plain = value[first * count + t], 0.0, 0.0
            if kind == FOLLOW:
                x = 0.0
            for a in range(0 if kind == FOLLOW else 1, moves):
                y = value[(first + a) * count + t]
                if kind == OWN:
                    x = max(x, y)
                elif kind == OTHER:
                    x += y
                else:
                    total += table[slot + a]
                    x += table[slot + a] * y
                    plain += y
            if kind == FOLLOW:
                x = x / total if total > 0 else plain / moves
            value[(item - low) * count + t] = x


# --- the last street --------------------------------------------------------------------------


def lay_out_entries(program, items, lanes, reach, came, sizes):
    """The opponent's reach at the entries, entries side by side."""
    x, batch = cuda.grid(1), cuda.blockIdx.y
    if x >= sizes.before_span * lanes:
        return
    t, lane = x // lanes, x % lanes
    item = program.entry[batch * lanes + lane]
    here = real(0)
    if item >= 0:
        here = real(reach[(items.reach[item] - sizes.before_vector) * sizes.before_span + t])
    came[batch * sizes.before_span * lanes + x] = here


def sweep(dealt, columns, lanes, weight, came, net, met, sizes):
    """One sequence on one board, the hands from weak to strong: what each hand meets, and what it beats less what beats it.

    `sums` has for each card what was passed less what is to come, so that both sides of a hand are one number, and who holds
    both its cards cancels out: once counted before itself, once behind.
    """
    sums = cuda.shared.array(0, KIND)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    j, river = U(cuda.blockIdx.x) * many + tid, U(cuda.blockIdx.y)
    width, shows = U(len(columns.at)), U(sizes.high)
    if j >= width:
        return
    board, live, stride = U(sizes.low) + river, U(sizes.live), U(sizes.stride)
    low, high, wide = board * live, board * live + live, U(lanes)
    at, batch = U(columns.at[j]), U(columns.batch[j])
    begin = (batch * U(sizes.before_span) + U(dealt.parent[board]) * U(sizes.before_live)) * wide + j % wide
    for c in range(CARDS):
        sums[U(c) * many + tid] = real(0)
    total = real(0)
    k = low
    while k < high:
        seen = dealt.seen[k]
        here = came[begin + U((seen >> TO_PLACE) & SPOT) * wide] * weight[U(dealt.bucket[k]) * stride + at]
        first, second = U(seen & CARD) * many + tid, U((seen >> TO_SECOND) & CARD) * many + tid
        total += here
        sums[first] += here
        if sizes.two:
            sums[second] += here
        k += ONE
    if columns.folded[j]:
        to = river * live * width + j
        k = low
        while k < high:
            seen = dealt.seen[k]
            x = total - sums[U(seen & CARD) * many + tid] - sums[U((seen >> TO_SECOND) & CARD) * many + tid]
            if sizes.two:
                x += came[begin + U((seen >> TO_PLACE) & SPOT) * wide] * weight[U(dealt.bucket[k]) * stride + at]
            met[to] = x
            to += width
            k += ONE
    if columns.shown[j] < 0:
        return
    for c in range(CARDS):
        sums[U(c) * many + tid] = -sums[U(c) * many + tid]
    total = -total
    to = river * live * shows + U(columns.shown[j])
    k = low
    while k < high:
        end, more, back = k, True, to
        while more:
            seen = dealt.seen[end]
            net[to] = total - sums[U(seen & CARD) * many + tid] - sums[U((seen >> TO_SECOND) & CARD) * many + tid]
            more = (seen >> TO_TIE) == V(0)
            to += shows
            end += ONE
        i = k
        while i < end:
            seen = dealt.seen[i]
            here = came[begin + U((seen >> TO_PLACE) & SPOT) * wide] * weight[U(dealt.bucket[i]) * stride + at]
            here += here
            total += here
            sums[U(seen & CARD) * many + tid] += here
            if sizes.two:
                sums[U((seen >> TO_SECOND) & CARD) * many + tid] += here
            i += ONE
        i = k
        while i < end:
            seen = dealt.seen[i]
            x = total - sums[U(seen & CARD) * many + tid] - sums[U((seen >> TO_SECOND) & CARD) * many + tid]
            net[back] = real(0.5) * (net[back] + x)
            back += shows
            i += ONE
        k = end


def value_ends(program, dealt, before, lanes, weight, net, met, gained, sizes):
    """What one hand of the street before wins at one entry, over all boards that follow."""
    values = cuda.shared.array(0, KIND)
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    x, batch = U(cuda.blockIdx.x) * many + tid, U(cuda.blockIdx.y)
    board, wide = U(sizes.low) + U(cuda.blockIdx.z), U(lanes)
    k, lane = x // wide, x % wide
    if k >= U(sizes.before_live):
        return
    hand = U(before.hand[board * U(sizes.before_live) + k])
    width, shows = U(sizes.vector), U(sizes.high)
    column, shown = U(program.column[batch]) + lane, U(program.shown[batch]) + lane
    start, live = U(before.first[U(sizes.low)]), U(sizes.live)
    total = np.float64(0)
    child, last = U(before.first[board]), U(before.first[board + ONE])
    while child < last:
        place = dealt.place[child * U(sizes.hands) + hand]
        if place >= 0:
            row = (child - start) * live + U(place)
            i = U(program.begin[batch]) * U(WIDE)
            while i < U(program.begin[batch + ONE]) * U(WIDE):
                kind, number = program.op[i], U(program.op[i + ONE])
                to, how = U(program.op[i + U(2)]) * many + tid, program.op[i + U(3)]
                if kind == MOVE:
                    y = values[number * many + tid]
                else:
                    y = program.pay[U(program.op[i + U(4)]) * wide + lane]
                    if kind == SHOWN:
                        y *= net[row * shows + shown + number * wide]
                    else:
                        y *= met[row * width + column + number * wide]
                    own = program.op[i + U(5)]
                    if own >= 0:
                        y *= weight[U(dealt.bucket[child * live + U(place)]) * U(sizes.stride) + U(own) + lane]
                if how == BEST:
                    y = max(y, values[to])
                elif how != SET:
                    y += values[to]
                values[to] = y
                i += U(WIDE)
            total += dealt.times[child] * np.float64(values[tid])
        child += ONE
    gained[(batch * U(sizes.before_span) + board * U(sizes.before_live) + k) * wide + lane] = total
