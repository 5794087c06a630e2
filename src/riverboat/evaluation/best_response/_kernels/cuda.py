"""CUDA kernels of best responses: the streets after the first, for all boards below one of the second street.

Vectors over the hands of all boards of a street are concatenated: hand k of board b is element b · live + k of
`span`. Before the last street a thread owns one element and follows the betting; threads communicate only to evaluate
folds. On the last street a thread first owns one sequence of the opponent's actions on one board (a *column*) and
passes over the hands, then one hand at one entry and computes its values. `riverboat.evaluation.best_response.cuda`
compiles the kernels and sets the names that are None here. No element is written by two threads, so results do not
depend on scheduling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.engines.cuda.compilation import cuda
from riverboat.evaluation.best_response._kernels.last_street import OP_CHILD, OP_SHOWDOWN, REDUCE_MAX, REDUCE_SET
from riverboat.evaluation.best_response._kernels.traversal import (
    CARD_BITS,
    FOLLOW_STRATEGY,
    MAXIMIZE,
    OPPONENT,
    PLACE_BITS,
    PLACE_OFFSET,
    TIE_OFFSET,
)

real: Any = None  # precision of the last street
KIND: Any = None  # the same, as the type of shared memory
DOUBLE: Any = None  # float64, as the type of shared memory
U, V = np.uint64, np.uint32
ZERO, ONE = U(0), U(1)
NUM_CARDS = 53  # 52 cards, and the dummy second card of one-card hands
CARD_MASK, PLACE_MASK = V((1 << CARD_BITS) - 1), V((1 << PLACE_BITS) - 1)
SECOND_SHIFT, PLACE_SHIFT, TIE_SHIFT = V(CARD_BITS), V(PLACE_OFFSET), V(TIE_OFFSET)
OP_WIDTH = 6  # numbers per operation


class ResponseDeviceSizes(NamedTuple):
    """Sizes of a street and of the previous one, and the range of items or boards.

    On the last street `high` is the number of columns with a showdown, and `vector` the number of all columns.
    """

    hands: int  # hands of the deck
    two: int  # whether a hand has two cards
    live: int  # unblocked hands of a board
    span: int  # unblocked hands of all boards
    before_live: int  # the same on the previous street
    before_span: int
    low: int  # first item of the street, or first board
    high: int  # one past the last item
    vector: int  # first vector of reach
    before_vector: int  # the same on the previous street
    stride: int  # length of a row of the table, or of a row of sequence weights


class SequenceColumns(NamedTuple):
    """Sequences of the last street; a sequence has `lanes` adjacent columns."""

    at: Any  # int32 [columns]: offset in a row of weights
    batch: Any  # int32 [columns]
    shown: Any  # int32 [columns]: index among the columns with a showdown; -1: none
    folded: Any  # int8 [columns]: whether it has a fold


class LastStreetProgram(NamedTuple):
    """Operations that compute the values of the last street, see `last_street.LastStreet`."""

    begin: Any  # int32 [batches + 1]: first operation
    op: Any  # int32 [operations · OP_WIDTH]
    pay: Any  # float [rows · lanes]
    column: Any  # int32 [batches]: first column
    shown: Any  # int32 [batches]: first column among those with a showdown
    entry: Any  # int32 [batches · lanes]: items of the previous street; -1: none


# --- Before the last street ---


def propagate_reach(items, table, dealt, before, reach, sizes):
    """Compute the opponent's reach at all items of a street, for one hand on one board per thread."""
    t = cuda.grid(1)
    if t >= sizes.span:
        return
    count = sizes.span
    source = np.int64((dealt.packed[t] >> PLACE_SHIFT) & PLACE_MASK)
    parent_index = dealt.parent[t // sizes.live] * sizes.before_live + source
    row = np.int64(dealt.bucket[t]) * sizes.stride
    for item in range(sizes.low, sizes.high):
        at = (items.reach[item] - sizes.vector) * count + t
        entry = items.entry[item]
        if entry >= 0:
            reach[at] = before[(items.reach[entry] - sizes.before_vector) * sizes.before_span + parent_index]
        if items.kind[item] == OPPONENT:
            first, num_actions, slot = items.first[item], items.count[item], row + items.slot[item]
            x, total = reach[at], 0.0
            for a in range(num_actions):
                total += table[slot + a]
            for a in range(num_actions):
                child_reach = x * table[slot + a] / total if total > 0 else x / num_actions
                reach[(items.reach[first + a] - sizes.vector) * count + t] = child_reach


def pay_folds(items, folds, pairs, dealt, reach, value, sizes):
    """Compute the values of one fold node on one board for all hands; one thread block each."""
    memory = cuda.shared.array(0, DOUBLE)  # reach of the hands, sums of cards, their total
    tid, num_threads = cuda.threadIdx.x, cuda.blockDim.x
    item, b, live = folds[cuda.blockIdx.x], cuda.blockIdx.y, sizes.live
    at = (items.reach[item] - sizes.vector) * sizes.span + b * live
    for k in range(tid, live, num_threads):
        memory[k] = reach[at + k]
    cuda.syncthreads()
    for c in range(tid, NUM_CARDS, num_threads):
        total = 0.0
        for d in range(NUM_CARDS):
            hand = pairs[c * NUM_CARDS + d]
            if hand >= 0 and c < NUM_CARDS - 1:
                place = dealt.place[b * sizes.hands + hand]
                if place >= 0:
                    total += memory[place]
        memory[live + c] = total
    cuda.syncthreads()
    if tid == 0:
        total = 0.0
        for c in range(NUM_CARDS):
            total += memory[live + c]
        memory[live + NUM_CARDS] = total / 2 if sizes.two else total
    cuda.syncthreads()
    to = (item - sizes.low) * sizes.span + b * live
    for k in range(tid, live, num_threads):
        packed = dealt.packed[b * live + k]
        first, second = packed & CARD_MASK, (packed >> SECOND_SHIFT) & CARD_MASK
        compatible = memory[live + NUM_CARDS] - memory[live + np.int64(first)] - memory[live + np.int64(second)]
        value[to + k] = items.pay[item] * (compatible + memory[k] if sizes.two else compatible)


def gather_street_ends(entered, hand, first, dealt, value, gained, sizes):
    """Sum the values of the boards that follow each board at its street ends, with their multiplicities."""
    t, x = cuda.grid(1), cuda.blockIdx.y
    if t >= sizes.before_span:
        return
    h, b, total = np.int64(hand[t]), t // sizes.before_live, 0.0
    at = (entered[x] - sizes.low) * sizes.span
    for child in range(first[b], first[b + 1]):
        place = dealt.place[child * sizes.hands + h]
        if place >= 0:
            total += dealt.multiplicity[child] * value[at + child * sizes.live + place]
    gained[x * sizes.before_span + t] = total


def average_street_ends(street_ends, lanes, dealt, maps, chance, gained, value, sizes):
    """Average the values of street ends over suit permutations, and scale them by the probability of a deal."""
    t, x = cuda.grid(1), cuda.blockIdx.y
    if t >= sizes.span or street_ends[x] < 0:
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
    value[(street_ends[x] - sizes.low) * sizes.span + t] = total * chance / ones


def backup_values(items, table, dealt, value, sizes):
    """Compute the values of all decisions of a street, for one hand on one board per thread."""
    t = cuda.grid(1)
    if t >= sizes.span:
        return
    count, low = sizes.span, sizes.low
    row = np.int64(dealt.bucket[t]) * sizes.stride
    for back in range(sizes.high - low):
        item = sizes.high - 1 - back
        kind = items.kind[item]
        if kind <= OPPONENT:
            first, num_actions, slot = items.first[item] - low, items.count[item], row + items.slot[item]
            x, total, total_value = value[first * count + t], 0.0, 0.0
            if kind == FOLLOW_STRATEGY:
                x = 0.0
            for a in range(0 if kind == FOLLOW_STRATEGY else 1, num_actions):
                y = value[(first + a) * count + t]
                if kind == MAXIMIZE:
                    x = max(x, y)
                elif kind == OPPONENT:
                    x += y
                else:
                    total += table[slot + a]
                    x += table[slot + a] * y
                    total_value += y
            if kind == FOLLOW_STRATEGY:
                x = x / total if total > 0 else total_value / num_actions
            value[(item - low) * count + t] = x


# --- Last street ---


def load_entry_reach(program, items, lanes, reach, came, sizes):
    """Copy the opponent's reach at the entries, interleaved by lane."""
    x, batch = cuda.grid(1), cuda.blockIdx.y
    if x >= sizes.before_span * lanes:
        return
    t, lane = x // lanes, x % lanes
    item = program.entry[batch * lanes + lane]
    here = real(0)
    if item >= 0:
        here = real(reach[(items.reach[item] - sizes.before_vector) * sizes.before_span + t])
    came[batch * sizes.before_span * lanes + x] = here


def accumulate_showdowns(dealt, columns, lanes, weight, came, net, compatible, sizes):
    """Compute compatible reach and wins minus losses of each hand for one sequence on one board, in order of strength.

    `sums` has for each card the reach of weaker hands minus the reach of stronger ones, so that both sides of a hand
    are one number. The hand with both cards cancels out: it is counted once before itself, once after.
    """
    sums = cuda.shared.array(0, KIND)
    tid, num_threads = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    j, river = U(cuda.blockIdx.x) * num_threads + tid, U(cuda.blockIdx.y)
    width, shows = U(len(columns.at)), U(sizes.high)
    if j >= width:
        return
    board, live, stride = U(sizes.low) + river, U(sizes.live), U(sizes.stride)
    low, high, num_lanes = board * live, board * live + live, U(lanes)
    at, batch = U(columns.at[j]), U(columns.batch[j])
    begin = (batch * U(sizes.before_span) + U(dealt.parent[board]) * U(sizes.before_live)) * num_lanes + j % num_lanes
    for c in range(NUM_CARDS):
        sums[U(c) * num_threads + tid] = real(0)
    total = real(0)
    k = low
    while k < high:
        packed = dealt.packed[k]
        hand_reach = (
            came[begin + U((packed >> PLACE_SHIFT) & PLACE_MASK) * num_lanes] * weight[U(dealt.bucket[k]) * stride + at]
        )
        first, second = (
            U(packed & CARD_MASK) * num_threads + tid,
            U((packed >> SECOND_SHIFT) & CARD_MASK) * num_threads + tid,
        )
        total += hand_reach
        sums[first] += hand_reach
        if sizes.two:
            sums[second] += hand_reach
        k += ONE
    if columns.folded[j]:
        to = river * live * width + j
        k = low
        while k < high:
            packed = dealt.packed[k]
            x = (
                total
                - sums[U(packed & CARD_MASK) * num_threads + tid]
                - sums[U((packed >> SECOND_SHIFT) & CARD_MASK) * num_threads + tid]
            )
            if sizes.two:
                x += (
                    came[begin + U((packed >> PLACE_SHIFT) & PLACE_MASK) * num_lanes]
                    * weight[U(dealt.bucket[k]) * stride + at]
                )
            compatible[to] = x
            to += width
            k += ONE
    if columns.shown[j] < 0:
        return
    for c in range(NUM_CARDS):
        sums[U(c) * num_threads + tid] = -sums[U(c) * num_threads + tid]
    total = -total
    to = river * live * shows + U(columns.shown[j])
    k = low
    while k < high:
        end, more, back = k, True, to
        while more:
            packed = dealt.packed[end]
            net[to] = (
                total
                - sums[U(packed & CARD_MASK) * num_threads + tid]
                - sums[U((packed >> SECOND_SHIFT) & CARD_MASK) * num_threads + tid]
            )
            more = (packed >> TIE_SHIFT) == V(0)
            to += shows
            end += ONE
        i = k
        while i < end:
            packed = dealt.packed[i]
            hand_reach = (
                came[begin + U((packed >> PLACE_SHIFT) & PLACE_MASK) * num_lanes]
                * weight[U(dealt.bucket[i]) * stride + at]
            )
            hand_reach += hand_reach
            total += hand_reach
            sums[U(packed & CARD_MASK) * num_threads + tid] += hand_reach
            if sizes.two:
                sums[U((packed >> SECOND_SHIFT) & CARD_MASK) * num_threads + tid] += hand_reach
            i += ONE
        i = k
        while i < end:
            packed = dealt.packed[i]
            x = (
                total
                - sums[U(packed & CARD_MASK) * num_threads + tid]
                - sums[U((packed >> SECOND_SHIFT) & CARD_MASK) * num_threads + tid]
            )
            net[back] = real(0.5) * (net[back] + x)
            back += shows
            i += ONE
        k = end


def evaluate_last_street(program, dealt, before, lanes, weight, net, compatible, gained, sizes):
    """Sum the values of one hand of the previous street at one entry over all boards that follow."""
    values = cuda.shared.array(0, KIND)
    tid, num_threads = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    x, batch = U(cuda.blockIdx.x) * num_threads + tid, U(cuda.blockIdx.y)
    board, num_lanes = U(sizes.low) + U(cuda.blockIdx.z), U(lanes)
    k, lane = x // num_lanes, x % num_lanes
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
            i = U(program.begin[batch]) * U(OP_WIDTH)
            while i < U(program.begin[batch + ONE]) * U(OP_WIDTH):
                kind, number = program.op[i], U(program.op[i + ONE])
                to, how = U(program.op[i + U(2)]) * num_threads + tid, program.op[i + U(3)]
                if kind == OP_CHILD:
                    y = values[number * num_threads + tid]
                else:
                    y = program.pay[U(program.op[i + U(4)]) * num_lanes + lane]
                    if kind == OP_SHOWDOWN:
                        y *= net[row * shows + shown + number * num_lanes]
                    else:
                        y *= compatible[row * width + column + number * num_lanes]
                    own = program.op[i + U(5)]
                    if own >= 0:
                        y *= weight[U(dealt.bucket[child * live + U(place)]) * U(sizes.stride) + U(own) + lane]
                if how == REDUCE_MAX:
                    y = max(y, values[to])
                elif how != REDUCE_SET:
                    y += values[to]
                values[to] = y
                i += U(OP_WIDTH)
            total += dealt.multiplicity[child] * np.float64(values[tid])
        child += ONE
    gained[(batch * U(sizes.before_span) + board * U(sizes.before_live) + k) * num_lanes + lane] = total
