"""Kernels of the last street of a best response, which takes nearly all of the time: many betting subtrees at once.

Betting does not depend on the cards, so many subtrees of the last street have the same shape. A *batch* is a group of
subtrees of one shape, one per SIMD lane, evaluated as one subtree with vectors of numbers
(`riverboat.compiled.simd`): sixteen lanes in float32, for large trees, four in float64. Within the street the
opponent's reach is its reach at the entry times the weight of its *sequence* of actions, which depends only on the
bucket and is precomputed. So no downward pass is needed: one pass over the hands for each sequence, then the backup
of values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import broadcast_native as same
from riverboat.compiled.simd import load_native as load
from riverboat.compiled.simd import maximum, native_width_of, prefetch
from riverboat.compiled.simd import store_native as store
from riverboat.core.arrays import Array

U = np.uint64
NUM_CARDS = 53  # 52 cards, and the dummy second card of one-card hands
PREFETCH_DISTANCE = 8  # hands ahead whose weights are prefetched: rows are scattered over a large table
HANDS_PER_BLOCK = 32  # hands whose values are computed together: they stay in the nearest cache
OP_FOLD, OP_SHOWDOWN, OP_CHILD = 0, 1, 2  # operations: value of a fold, of a showdown, of a child one level below
REDUCE_SET, REDUCE_MAX, REDUCE_SUM = 0, 1, 2  # how it is combined at the parent
WEIGHT_ONE, WEIGHT_ZERO, FIRST_ACTION_WEIGHT = 0, 1, 2  # indices of weights: one, zero, then the actions of the street


class LastStreet(NamedTuple):
    """Batches of subtrees, and the operations that compute their values."""

    batch: Array  # int64 [batches, 5]: offset in weight rows, showdown sequences, all sequences, operations from … to
    entry: Array  # int64 [batches, lanes]: street ends of the previous street, or roots; -1 in unused lanes
    # int64 [operations, 6]: kind; sequence, or level of the child; parent's level; REDUCE_*; row of `pay`; offset of
    # the weights of own actions in a row of weights, or -1
    op: Array
    pay: Array  # float [rows · lanes]: payoff of the responder after a fold; stake of a showdown
    first: Array  # int64 [decisions]: first action of each decision in a row of the table
    moves: Array  # int64 [decisions]: number of actions
    previous: Array  # int64 [decisions]: weight index of the seat's previous action on the street; WEIGHT_ONE: none
    source: Array  # uint64 [length of a row of weights]: weight index of each entry
    steps: Array  # uint8 [buckets · actions of the street]: the opponent's table, or empty
    sums: Array  # float [buckets · actions of the street]: the same if the table is not uint8
    stride: int  # between two buckets in the table
    weight: Array  # float [buckets · length]: rows of weights of all buckets; empty if computed board by board


class LastStreetWorkspace(NamedTuple):
    """Scratch memory of one traversal."""

    # float [batches · hands · lanes]: the opponent's reach at the entries, by position on the previous street
    entry: Array
    gained: Array  # float [batches · hands · lanes]: sums of the values of boards
    alive: Array  # bool [batches]: whether any entry is reached
    sequence_weight: Array  # float64 [indices]: weights of one bucket's sequences
    weight: Array  # float [hands · length]: rows of the board's hands, if not precomputed for all buckets
    at: Array  # uint64 [hands]: offset of the row of each hand
    reach: Array  # float [hands · sequences · lanes]
    beats: Array  # float [hands · sequences · lanes]
    sums: Array  # float [NUM_CARDS · sequences · lanes]: reach of the hands that contain a card
    total: Array  # float [sequences · lanes]
    value: Array  # float [levels · HANDS_PER_BLOCK · lanes]


class BoardHands(NamedTuple):
    """Unblocked hands of a board, in order of strength."""

    deck: Array  # uint8 [cards]
    first: Array  # uint8 [hands]: first cards
    second: Array  # uint8 [hands]: second cards
    rank: Array  # uint16 [hands]
    two: bool  # whether a hand has two cards
    source: Array  # int32 [hands]: position on the previous street
    bucket: Array  # int64 [hands]
    live: int  # number of unblocked hands
    num_hands: int  # hands of the deck


@inline
def hands_of_board(cards, workspace):
    """Return the hands of the current board of the last street, from `ResponseCards` and a `ResponseWorkspace`."""
    s, held = len(cards.shown) - 1, cards.held
    first, second, source, bucket = workspace.first[s], workspace.second[s], workspace.source[s], workspace.bucket[s]
    live = workspace.live[s]
    return BoardHands(held.deck, first, second, workspace.rank, held.two, source, bucket, live, len(held.mask))


@inline
def read_weight(last, at):
    """Return an entry of the strategy table, which is in `steps` or in `sums`."""
    return np.float64(last.steps[at]) if len(last.steps) else np.float64(last.sums[at])


@inline
def fill_sequence_weights(last, begin, share, out, to):
    """Compute the sequence weights of a bucket: products of a seat's action probabilities on the street.

    The bucket's row begins at `begin` in the table and at `to` in `out`; `share` is scratch memory by weight index.
    """
    share[WEIGHT_ONE], share[WEIGHT_ZERO] = 1, 0
    for d in range(len(last.first)):
        first, num_actions, before = last.first[d], last.moves[d], share[last.previous[d]]
        total = np.float64(0)
        for a in range(first, first + num_actions):
            total += read_weight(last, begin + a)
        for a in range(first, first + num_actions):
            share[FIRST_ACTION_WEIGHT + a] = (
                before * read_weight(last, begin + a) / total if total > 0 else before / num_actions
            )
    for k in range(len(last.source)):
        out[to + k] = share[last.source[k]]


@kernel
def fill_all_sequence_weights(
    last,  # LastStreet
    share,  # float64 [indices] scratch
    out,  # float [buckets · length] OUT
):
    """Compute the rows of sequence weights of all buckets."""
    length = len(last.source)
    for bucket in range(len(out) // max(1, length)):
        fill_sequence_weights(last, bucket * last.stride, share, out, bucket * length)


@inline
def locate_weight_rows(last, hands, workspace):
    """Set the offset of each hand's row of sequence weights, and compute the rows if they are not precomputed."""
    length, lazy = len(last.source), len(last.weight) == 0
    for k in range(hands.live):
        bucket = hands.bucket[k]
        if lazy:
            fill_sequence_weights(last, bucket * last.stride, workspace.sequence_weight, workspace.weight, k * length)
        workspace.at[k] = U((k if lazy else bucket) * length)


@inline
def accumulate_batch_showdowns(last, weight, b, hands, workspace):
    """Compute the reach of each hand by all sequences of batch b, and the reach that each hand beats, in one pass.

    Hands are in order of strength. This is `riverboat.cards.equity._kernels.showdown_values.showdown_wins` for all
    sequences of a batch at once, which share the reads of the cards.
    """
    lanes = native_width_of(workspace.reach)
    begin, shown, size = U(last.batch[b, 0]), U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes
    entry, reach, beats = U(b * hands.num_hands) * lanes, workspace.reach, workspace.beats
    sums, total = workspace.sums, workspace.total
    first, second, rank, two, live = hands.first, hands.second, hands.rank, hands.two, hands.live
    zero = same(reach, reach.dtype.type(0))
    for q in range(U(0), size, lanes):
        store(total, q, zero)
        for c in hands.deck:
            store(sums, U(c) * size + q, zero)
        store(sums, U(NUM_CARDS - 1) * size + q, zero)
    i = 0
    while i < live:
        j, v = i, rank[i]
        while j < live and rank[j] == v:
            x, y, to = U(first[j]) * size, U(second[j]) * size, U(j) * shown
            for q in range(U(0), shown, lanes):
                store(beats, to + q, load(total, q) - load(sums, x + q) - load(sums, y + q))
            j += 1
        for k in range(i, j):
            x, y, to, at = U(first[k]) * size, U(second[k]) * size, U(k) * size, workspace.at[k] + begin
            entry_reach = load(workspace.entry, entry + U(hands.source[k]) * lanes)
            ahead = workspace.at[min(k + PREFETCH_DISTANCE, live - 1)] + begin
            for q in range(U(0), size, lanes):
                prefetch(weight, ahead + q)
                hand_reach = entry_reach * load(weight, at + q)
                store(reach, to + q, hand_reach)
                store(total, q, load(total, q) + hand_reach)
                store(sums, x + q, load(sums, x + q) + hand_reach)
                if two:
                    store(sums, y + q, load(sums, y + q) + hand_reach)
        for k in range(i, j):
            x, y, to = U(first[k]) * size, U(second[k]) * size, U(k) * shown
            for q in range(U(0), shown, lanes):
                won_or_tied = load(beats, to + q) + (load(total, q) - load(sums, x + q) - load(sums, y + q))
                store(beats, to + q, won_or_tied + load(reach, U(k) * size + q) if two else won_or_tied)
        i = j


@inline
def terminal_value(kind, q, shown, size, pay, total, hands, k, workspace):
    """Return the value of a fold or a showdown for hand k after sequence offset q, before weights of own actions.

    `shown` and `size` are the numbers of sequences with a showdown, and of all, times the SIMD lanes; `total` is the
    reach of all hands by the sequence.
    """
    x, y = U(hands.first[k]) * size + q, U(hands.second[k]) * size + q
    compatible = total - load(workspace.sums, x) - load(workspace.sums, y)
    if hands.two:  # the hand with both cards was subtracted twice
        compatible = compatible + load(workspace.reach, U(k) * size + q)
    return pay * compatible if kind == OP_FOLD else pay * (load(workspace.beats, U(k) * shown + q) - compatible)


@inline
def backup_batch(last, weight, b, hands, multiplicity, workspace):
    """Compute the values of batch b from its terminals up, and add them to the value sums of the batch's entries.

    Entries are the street ends that lead to the batch. Values count `multiplicity` times. `weight` has the rows of
    sequence weights.
    """
    lanes = native_width_of(workspace.reach)
    live, entry = hands.live, U(b * hands.num_hands) * lanes
    shown, size = U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes
    value, level = workspace.value, U(HANDS_PER_BLOCK) * lanes
    factor = same(workspace.gained, workspace.gained.dtype.type(multiplicity))
    for low in range(0, live, HANDS_PER_BLOCK):
        high = min(low + HANDS_PER_BLOCK, live)
        for i in range(last.batch[b, 3], last.batch[b, 4]):
            kind, number, up, how = last.op[i, 0], U(last.op[i, 1]), U(last.op[i, 2]) * level, last.op[i, 3]
            pay, own, below, q = load(last.pay, U(last.op[i, 4]) * lanes), last.op[i, 5], number * level, number * lanes
            total = load(workspace.total, q)
            for k in range(low, high):
                to = up + U(k - low) * lanes
                if kind == OP_CHILD:
                    x = load(value, below + U(k - low) * lanes)
                else:
                    x = terminal_value(kind, q, shown, size, pay, total, hands, k, workspace)
                    if own >= 0:
                        x = x * load(weight, workspace.at[k] + U(own))
                if how == REDUCE_MAX:
                    x = maximum(x, load(value, to))
                elif how == REDUCE_SUM:
                    x = x + load(value, to)
                store(value, to, x)
        for k in range(low, high):
            to = entry + U(hands.source[k]) * lanes
            store(workspace.gained, to, load(workspace.gained, to) + factor * load(value, U(k - low) * lanes))


@inline
def evaluate_last_street(last, hands, multiplicity, workspace):
    """Add the values of one board of the last street, times its multiplicity, to the value sums of all entries."""
    locate_weight_rows(last, hands, workspace)
    weight = last.weight if len(last.weight) else workspace.weight
    for b in range(len(last.batch)):
        if workspace.alive[b]:
            accumulate_batch_showdowns(last, weight, b, hands, workspace)
            backup_batch(last, weight, b, hands, multiplicity, workspace)


@inline
def load_entry_reach(last, reach, vector, dead, live, hands, workspace):
    """Copy the opponent's reach at the street ends of a board to the entries, interleaved by lane; clear value sums.

    `vector` and `dead` are those of `BettingItems.reach` and `ResponseWorkspace.dead`.
    """
    lanes = last.entry.shape[1]
    for b in range(len(last.batch)):
        workspace.alive[b] = False
        at = b * hands * lanes
        for lane in range(lanes):
            item = last.entry[b, lane]
            if item < 0 or dead[vector[item]]:
                for k in range(live):
                    workspace.entry[at + k * lanes + lane] = 0
            else:
                workspace.alive[b] = True
                for k in range(live):
                    workspace.entry[at + k * lanes + lane] = reach[vector[item], k]
        for k in range(live * lanes):
            workspace.gained[at + k] = 0


@inline
def store_entry_values(last, vector, dead, live, hands, workspace, value):
    """Copy the value sums of the entries back to the street ends: rows of `value` (`ResponseWorkspace.value`)."""
    lanes = last.entry.shape[1]
    for b in range(len(last.batch)):
        at = b * hands * lanes
        for lane in range(lanes):
            item = last.entry[b, lane]
            if item >= 0 and not dead[vector[item]]:
                for k in range(live):
                    value[item, k] = workspace.gained[at + k * lanes + lane]


# --- Terminal values by bucket, to fit a response of the abstract game ---


@kernel
def add_terminal_values(
    cards,  # ResponseCards
    last,  # LastStreet
    workspace,  # ResponseWorkspace after a traversal of one board
    out,  # float [rows · buckets · lanes] INOUT: rows as in `pay`
):
    """Add the values of terminals on one board to the sums by bucket of the responder's hand."""
    inner, hands = workspace.last, hands_of_board(cards, workspace)
    lanes, buckets = native_width_of(inner.reach), U(len(out) // len(last.pay))
    locate_weight_rows(last, hands, inner)
    weight = last.weight if len(last.weight) else inner.weight
    for b in range(len(last.batch)):
        if not inner.alive[b]:
            continue
        accumulate_batch_showdowns(last, weight, b, hands, inner)
        shown, size = U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes
        for i in range(last.batch[b, 3], last.batch[b, 4]):
            kind, q, row = last.op[i, 0], U(last.op[i, 1]) * lanes, U(last.op[i, 4])
            if kind == OP_CHILD:
                continue
            pay, total = load(last.pay, row * lanes), load(inner.total, q)
            for k in range(hands.live):
                to = (row * buckets + U(hands.bucket[k])) * lanes
                value = terminal_value(kind, q, shown, size, pay, total, hands, k, inner)
                store(out, to, load(out, to) + value)
