"""The last street of a best response, where nearly all of its time goes: many subtrees of betting side by side.

Betting does not depend on the cards, so many subtrees of the last street have the same shape. As many of one shape as there
are *lanes* are a *batch*, walked as one subtree whose numbers are vectors (`riverboat.compiled.simd`): sixteen in float32, for large
trees, four in float64. Within the street the opponent's
reach is what it came with times the weight of its *sequence* of moves, which depends on its bucket alone and is worked out
beforehand. So there is no way down: for each sequence one sweep over the hands, then the values on the way up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import lanes_of, larger, prefetch
from riverboat.compiled.simd import load_fitting as load
from riverboat.compiled.simd import same_fitting as same
from riverboat.compiled.simd import store_fitting as store
from riverboat.core.arrays import Array

U = np.uint64
CARDS = 53  # and the one that a hand of one card has as its second
AHEAD = 8  # hands whose weights are asked for before they are needed: rows lie anywhere in a large table
HANDS = 32  # whose values are worked out together: they stay in the nearest cache
FOLDED, SHOWN, MOVE = 0, 1, 2  # operations: pay a fold, pay a showdown, take what was worked out one level below
SET, BEST, SUM = 0, 1, 2  # what becomes of it one level above
ALL, NOTHING, MOVES = 0, 1, 2  # places of weights: one, zero, then those of the street's moves


class LastStreet(NamedTuple):
    """Batches, and how their values are worked out."""

    batch: (
        Array  # int64 [batches, 5]: first sequence in a row, how many meet a showdown, how many, operations from … to
    )
    entry: Array  # int64 [batches, lanes]: exits of the street before, or roots; -1 in lanes that are not used
    op: Array  # int64 [operations, 6]: kind; sequence, or level; level above; SET, BEST, SUM; row of pay; own weights or -1
    pay: Array  # float [rows · lanes]: what the responder wins after a fold; the stake of a showdown
    first: Array  # int64 [decisions]: where the moves of the street's decisions begin in a row of the table
    moves: Array  # int64 [decisions]
    above: Array  # int64 [decisions]: place of the same seat's move on the street that leads there; ALL where there is none
    source: Array  # uint64 [length of a row of weights]: the place of the weight that stands there
    steps: Array  # uint8 [buckets · moves of the street]: the opponent's table, or empty
    sums: Array  # float [buckets · moves of the street]: the same where it does not hold steps
    stride: int  # from one bucket to the next in the table
    weight: Array  # float [buckets · length]: rows of weights of all buckets; empty where they are made board by board


class LastRoom(NamedTuple):
    """Room for one walk."""

    entry: Array  # float [batches · hands · lanes]: the opponent's reach at the entries, by hands of the street before
    gained: Array  # float [batches · hands · lanes]: what the boards were worth there
    alive: Array  # bool [batches]: whether anything is reached
    share: Array  # float64 [places]: weights of one bucket's sequences
    weight: Array  # float [hands · length]: rows of the board's hands, where they are not there for all buckets
    at: Array  # uint64 [hands]: where the row of each hand begins
    reach: Array  # float [hands · sequences · lanes]
    beats: Array  # float [hands · sequences · lanes]
    sums: Array  # float [CARDS · sequences · lanes]: reach of the hands with a card
    total: Array  # float [sequences · lanes]
    value: Array  # float [levels · HANDS · lanes]


class BoardHands(NamedTuple):
    """The hands that a board leaves, from weak to strong."""

    deck: Array  # uint8 [cards]
    first: Array  # uint8 [hands]: their cards
    second: Array  # uint8 [hands]
    rank: Array  # uint16 [hands]
    two: bool  # whether a hand has two cards
    source: Array  # int32 [hands]: where each stands on the street before
    live: int  # how many there are
    most: int  # hands of the deck


@part
def number(last, at):
    """One number of the table, whatever it holds."""
    return np.float64(last.steps[at]) if len(last.steps) else np.float64(last.sums[at])


@part
def fill_row(last, begin, share, out, to):
    """A row of weights of sequences: products of one seat's probabilities on the street."""
    share[ALL], share[NOTHING] = 1, 0
    for d in range(len(last.first)):
        first, moves, before = last.first[d], last.moves[d], share[last.above[d]]
        total = np.float64(0)
        for a in range(first, first + moves):
            total += number(last, begin + a)
        for a in range(first, first + moves):
            share[MOVES + a] = before * number(last, begin + a) / total if total > 0 else before / moves
    for k in range(len(last.source)):
        out[to + k] = share[last.source[k]]


@kernel
def fill_rows(
    last,  # LastStreet
    share,  # float64 [places] scratch
    out,  # float [buckets · length] OUT
):
    """Rows of all buckets."""
    length = len(last.source)
    for bucket in range(len(out) // max(1, length)):
        fill_row(last, bucket * last.stride, share, out, bucket * length)


@part
def find_rows(last, bucket, live, room):
    """Where the weights of each hand stand."""
    length = len(last.source)
    for k in range(live):
        if len(last.weight):
            room.at[k] = U(bucket[k] * length)
        else:
            fill_row(last, bucket[k] * last.stride, room.share, room.weight, k * length)
            room.at[k] = U(k * length)


@part
def sweep_batch(last, weight, b, hands, room):
    """Reach of all sequences of a batch, and what each hand beats, in one sweep over the hands from weak to strong.

    As `riverboat.cards.equity._kernels.sweep.sweep`, which is for one sequence: here those of a batch share the look at the cards.
    """
    lanes = lanes_of(room.reach)
    begin, shown, size = U(last.batch[b, 0]), U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes
    entry, reach, beats, sums, total = U(b * hands.most) * lanes, room.reach, room.beats, room.sums, room.total
    first, second, rank, two, live = hands.first, hands.second, hands.rank, hands.two, hands.live
    zero = same(reach, reach.dtype.type(0))
    for q in range(U(0), size, lanes):
        store(total, q, zero)
        for c in hands.deck:
            store(sums, U(c) * size + q, zero)
        store(sums, U(CARDS - 1) * size + q, zero)
    i = 0
    while i < live:
        j, v = i, rank[i]
        while j < live and rank[j] == v:
            x, y, to = U(first[j]) * size, U(second[j]) * size, U(j) * shown
            for q in range(U(0), shown, lanes):
                store(beats, to + q, load(total, q) - load(sums, x + q) - load(sums, y + q))
            j += 1
        for k in range(i, j):
            x, y, to, at = U(first[k]) * size, U(second[k]) * size, U(k) * size, room.at[k] + begin
            came = load(room.entry, entry + U(hands.source[k]) * lanes)
            ahead = room.at[min(k + AHEAD, live - 1)] + begin
            for q in range(U(0), size, lanes):
                prefetch(weight, ahead + q)
                here = came * load(weight, at + q)
                store(reach, to + q, here)
                store(total, q, load(total, q) + here)
                store(sums, x + q, load(sums, x + q) + here)
                if two:
                    store(sums, y + q, load(sums, y + q) + here)
        for k in range(i, j):
            x, y, to = U(first[k]) * size, U(second[k]) * size, U(k) * shown
            for q in range(U(0), shown, lanes):
                upto = load(beats, to + q) + (load(total, q) - load(sums, x + q) - load(sums, y + q))
                store(beats, to + q, upto + load(reach, U(k) * size + q) if two else upto)
        i = j


@part
def value_batch(last, weight, b, hands, times, room):
    """Values of a batch from its ends up, added to what its entries have gained."""
    lanes = lanes_of(room.reach)
    first, second, two, live = hands.first, hands.second, hands.two, hands.live
    shown, size, entry = U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes, U(b * hands.most) * lanes
    value, level = room.value, U(HANDS) * lanes
    factor = same(room.gained, room.gained.dtype.type(times))
    for low in range(0, live, HANDS):
        high = min(low + HANDS, live)
        for i in range(last.batch[b, 3], last.batch[b, 4]):
            kind, number, up, how = last.op[i, 0], U(last.op[i, 1]), U(last.op[i, 2]) * level, last.op[i, 3]
            pay, own, below, q = load(last.pay, U(last.op[i, 4]) * lanes), last.op[i, 5], number * level, number * lanes
            total = load(room.total, q)
            for k in range(low, high):
                to = up + U(k - low) * lanes
                if kind == MOVE:
                    x = load(value, below + U(k - low) * lanes)
                else:  # all that is met: who holds both cards was taken out twice
                    met = total - load(room.sums, U(first[k]) * size + q) - load(room.sums, U(second[k]) * size + q)
                    if two:
                        met = met + load(room.reach, U(k) * size + q)
                    x = pay * met if kind == FOLDED else pay * (load(room.beats, U(k) * shown + q) - met)
                    if own >= 0:
                        x = x * load(weight, room.at[k] + U(own))
                if how == BEST:
                    x = larger(x, load(value, to))
                elif how == SUM:
                    x = x + load(value, to)
                store(value, to, x)
        for k in range(low, high):
            to = entry + U(hands.source[k]) * lanes
            store(room.gained, to, load(room.gained, to) + factor * load(value, U(k - low) * lanes))


@part
def walk_last(last, bucket, hands, times, room):
    """One board of the last street: what it adds to the entries of all batches."""
    find_rows(last, bucket, hands.live, room)
    weight = last.weight if len(last.weight) else room.weight
    for b in range(len(last.batch)):
        if room.alive[b]:
            sweep_batch(last, weight, b, hands, room)
            value_batch(last, weight, b, hands, times, room)


@part
def lay_out_entries(last, reach, vector, dead, live, hands, room):
    """The opponent's reach at the exits of a board, exits side by side."""
    lanes = last.entry.shape[1]
    for b in range(len(last.batch)):
        room.alive[b] = False
        at = b * hands * lanes
        for lane in range(lanes):
            item = last.entry[b, lane]
            if item < 0 or dead[vector[item]]:
                for k in range(live):
                    room.entry[at + k * lanes + lane] = 0
            else:
                room.alive[b] = True
                for k in range(live):
                    room.entry[at + k * lanes + lane] = reach[vector[item], k]
        for k in range(live * lanes):
            room.gained[at + k] = 0


@part
def bring_back(last, vector, dead, live, hands, room, value):
    """What the exits have gained, back to where they are."""
    lanes = last.entry.shape[1]
    for b in range(len(last.batch)):
        at = b * hands * lanes
        for lane in range(lanes):
            item = last.entry[b, lane]
            if item >= 0 and not dead[vector[item]]:
                for k in range(live):
                    value[item, k] = room.gained[at + k * lanes + lane]
