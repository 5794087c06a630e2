"""Kernels over strategy tables: quantization, bucket expansion, normalization and post-processing of rows.

Tables of blueprints are stored bucket by bucket (`games.holdem.action_tree.ActionTree`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

BLOCK_ROWS = 128  # hands per block: their values of one action fill whole cache lines
U = np.uint64  # signed indices would cost a wraparound test each


class BoardRows(NamedTuple):
    """Rows of the boards of a street, board after board, and their offsets in the output."""

    start: Array  # int64 [boards]: offset of a board's hands in `bucket`
    rows: Array  # int32 [boards]: number of hands
    bucket: Array  # int32 [hands of all boards]
    base: Array  # int64 [boards]: offset of a board's values in the output


@kernel
def quantize(
    sums,  # number [buckets, actions of the street], nonnegative
    slot,  # int32 [decisions]: first column of each decision
    count,  # int8 [decisions]
    num_steps,  # sum of the integers at a decision
    remainder,  # float64 [max actions] SCRATCH: remainders of rounding down
    out,  # uint8 [buckets, actions of the street] OUT: sum to num_steps at each decision, or to 0 without weight
):
    """Quantize probabilities to multiples of 1/num_steps by largest remainders; each changes by less than one step."""
    for bucket in range(sums.shape[0]):
        for decision in range(len(slot)):
            column, actions = slot[decision], count[decision]
            total = 0.0
            for a in range(actions):
                total += sums[bucket, column + a]
            remaining = num_steps if total > 0 else 0
            for a in range(actions):
                share = sums[bucket, column + a] / total * num_steps if total > 0 else 0.0
                steps = int(share)
                remainder[a] = share - steps
                out[bucket, column + a] = steps
                remaining -= steps
            while remaining > 0:
                best = 0
                for a in range(1, actions):
                    if remainder[a] > remainder[best]:
                        best = a
                remainder[best] = -1.0
                out[bucket, column + best] += 1
                remaining -= 1


@kernel
def expand_buckets(
    sums,  # number [buckets · width], flat
    width,  # number of actions of the street
    columns,  # int32 [actions of a subtree]: their columns among those of the street
    first,
    stop,  # boards first … stop - 1 of the street
    boards,  # BoardRows
    offset,  # uint64 [BLOCK_ROWS] SCRATCH
    out,  # float32 OUT: [board][action][hand], flat
):
    """Copy the entries of each bucket to all hands of that bucket, on boards first … stop - 1 and for all actions.

    The last hands of a board may be written twice.
    """
    start, bucket = boards.start, boards.bucket
    for b in range(first, stop):
        count = boards.rows[b]
        for k in range(0, count, BLOCK_ROWS):
            low = max(min(k, count - BLOCK_ROWS), 0)
            block = min(BLOCK_ROWS, count - low)
            for h in range(block):
                offset[h] = U(bucket[start[b] + low + h]) * U(width)
            for m in range(len(columns)):
                column, target = U(columns[m]), U(boards.base[b] + m * count + low)
                if block == BLOCK_ROWS:  # a constant length lets the compiler unroll the loop
                    for h in range(U(BLOCK_ROWS)):
                        out[target + h] = sums[offset[h] + column]
                else:
                    for h in range(U(block)):
                        out[target + h] = sums[offset[h] + column]


# --- normalization ------------------------------------------------------------------------------

MIN_WEIGHT_SUM = 1e-290  # smaller sums count as zero: their reciprocal would overflow


@kernel
def normalise(
    actor,  # int8 [nodes]
    width,  # int16 [nodes]
    data,  # int64 [nodes]
    player,
    sums,  # float [rows, hands], nonnegative
    out,  # float64 [rows, hands] OUT: each information set sums to one, uniform without weight
):
    """Normalize a player's accumulated weights to probabilities."""
    for n in range(len(actor)):
        if actor[n] != player:
            continue
        row = data[n]
        for h in range(sums.shape[1]):
            total = 0.0
            for a in range(width[n]):
                total += sums[row + a, h]
            for a in range(width[n]):
                if total > MIN_WEIGHT_SUM:
                    out[row + a, h] = sums[row + a, h] / total
                else:
                    out[row + a, h] = 1.0 / width[n]


# --- post-processing (rules: `strategies.postprocessing`) -----------------------------------------

TIE_TOLERANCE = 1e-9  # closer probabilities count as equal: solvers leave rounding errors
NO_PROCESSING, PURIFY, THRESHOLD, TARTANIAN7 = 0, 1, 2, 3
FOLD_KIND, CALL_KIND, BET_KIND = 0, 1, 2
NO_EPSILON = -1.0  # instead of ε: purify


class PostprocessingRule(NamedTuple):
    """A post-processing rule and its parameters."""

    rule: int  # NO_PROCESSING, PURIFY, THRESHOLD or TARTANIAN7
    fold: float  # fold threshold of TARTANIAN7
    epsilon: float  # of THRESHOLD, and of TARTANIAN7 unless it is NO_EPSILON


@inline
def thresholded_weight(x, largest, scale, epsilon):
    """Return an action's weight after thresholding at `epsilon`, 0 if it is dropped; a negative `epsilon` purifies.

    `x` is the action's probability and `largest` the highest one of its group, whose probabilities sum to `scale`.
    """
    if epsilon < 0 or largest < (epsilon - TIE_TOLERANCE) * scale:  # no action would be left
        return 1.0 if x >= largest - TIE_TOLERANCE * scale else 0.0
    return x if x >= (epsilon - TIE_TOLERANCE) * scale else 0.0


@inline
def threshold_row(rows, i, epsilon):
    """Threshold row i at `epsilon` and renormalize it, in place; purify it if `epsilon` is negative."""
    largest, total = 0.0, 0.0
    for k in range(rows.shape[1]):
        largest = max(largest, rows[i, k])
    for k in range(rows.shape[1]):
        total += thresholded_weight(rows[i, k], largest, 1.0, epsilon)
    for k in range(rows.shape[1]):
        rows[i, k] = thresholded_weight(rows[i, k], largest, 1.0, epsilon) / total


@inline
def kind_probability(rows, i, kinds, kind):
    """Return the total probability of the actions of a kind; -1 if there are none."""
    mass = -1.0
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            mass = max(mass, 0.0) + rows[i, k]
    return mass


@inline
def threshold_within_kind(rows, i, kinds, kind, mass, kind_share, epsilon):
    """Distribute `kind_share` among the actions of a kind, after thresholding; their probabilities sum to `mass`."""
    largest, total, count = 0.0, 0.0, 0
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            largest = max(largest, rows[i, k])
            count += 1
    for k in range(rows.shape[1]):
        if kinds[k] == kind and mass > 0:
            total += thresholded_weight(rows[i, k], largest, mass, epsilon)
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            inside = thresholded_weight(rows[i, k], largest, mass, epsilon) / total if mass > 0 else 1.0 / count
            rows[i, k] = kind_share * inside


@inline
def tartanian7_row(rows, i, kinds, fold_threshold, epsilon):
    """Apply Tartanian7's rule: fold above the threshold, else choose among the kinds of actions, then within each."""
    folds = kind_probability(rows, i, kinds, FOLD_KIND)
    calls = kind_probability(rows, i, kinds, CALL_KIND)
    bets = kind_probability(rows, i, kinds, BET_KIND)
    if folds > fold_threshold + TIE_TOLERANCE:
        for k in range(rows.shape[1]):
            rows[i, k] = 1.0 if kinds[k] == FOLD_KIND else 0.0
        return
    masses, largest, total = (folds, calls, bets), max(folds, calls, bets), 0.0
    for mass in masses:
        total += thresholded_weight(mass, largest, 1.0, epsilon) if mass >= 0 else 0.0
    for kind in (FOLD_KIND, CALL_KIND, BET_KIND):
        weight = thresholded_weight(masses[kind], largest, 1.0, epsilon) if masses[kind] >= 0 else 0.0
        threshold_within_kind(rows, i, kinds, kind, masses[kind], weight / total, epsilon)


@inline
def process_row(
    post,  # PostprocessingRule
    kinds,  # int8 [actions]: FOLD_KIND …
    rows,  # float64 [n, actions] INOUT
    i,
):
    """Apply the post-processing rule to row i, in place."""
    if post.rule == PURIFY or post.rule == THRESHOLD:
        threshold_row(rows, i, post.epsilon)
    elif post.rule == TARTANIAN7:
        tartanian7_row(rows, i, kinds, post.fold, post.epsilon)


@kernel
def process_rows(post, kinds, rows):
    """Apply the post-processing rule to all rows, in place; `kinds` has the kind of each column."""
    for i in range(len(rows)):
        process_row(post, kinds, rows, i)


@kernel
def process_table(
    post,  # PostprocessingRule
    slot,  # int32 [decisions]: first column of each decision
    count,  # int8 [decisions]
    spared,  # bool [decisions]: not post-processed
    kinds,  # int8 [actions of the street]: FOLD_KIND …
    weights,  # number [buckets, actions of the street], nonnegative
    row,  # float64 [1, max actions] SCRATCH
    out,  # float64 [buckets, actions of the street] OUT
):
    """Normalize the weights of every decision, uniformly where there are none, and apply the post-processing rule."""
    for bucket in range(len(weights)):
        for d in range(len(slot)):
            first, actions = slot[d], count[d]
            total = 0.0
            for k in range(actions):
                total += weights[bucket, first + k]
            for k in range(actions):
                row[0, k] = weights[bucket, first + k] / total if total > 0 else 1.0 / actions
            if not spared[d]:
                process_row(post, kinds[first : first + actions], row[:, :actions], 0)
            for k in range(actions):
                out[bucket, first + k] = row[0, k]
