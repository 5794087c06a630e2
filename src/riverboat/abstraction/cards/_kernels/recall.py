"""Compiled loops of perfect-recall buckets: the sequences that hands have on a board, for every way in which it was dealt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array


class Ways(NamedTuple):
    """Some boards, and what lay before the last cards came, for each way in which a board may have been dealt."""

    live: Array  # int16 [boards, live hands]: hands that a board leaves possible
    value: Array  # uint16 [boards, live hands]: their values
    row: Array  # int32 [boards, ways]: the row of the board before and the way it was dealt
    turn: Array  # int8 [boards, ways]: permutation of the suits that makes that board the canonical one


@part
def parts_below(cuts, row, value):
    """How many cuts of a row are not above a value. The steps do not depend on the values: nothing is guessed wrong."""
    low = np.int64(0)
    step = cuts.shape[1] >> 1
    while step:
        low += step * np.int64(cuts[row, low + step - 1] <= value)
        step >>= 1
    return low


@kernel
def extend(
    ways,  # Ways
    before,  # uint16 or int32 [rows, hands]: sequences on the street before
    moved,  # int16 [permutations of the suits, hands]: what a hand becomes
    cuts,  # uint16 [sequences, a power of two]: least values of parts 1, 2, …; 65535 fills up
    n,  # parts
    out,  # as before [boards · ways, hands] OUT
):
    """The sequences of hands with the parts of this street."""
    count = ways.row.shape[1]
    for b in range(len(ways.live)):
        for w in range(count):
            known, move = before[ways.row[b, w]], moved[ways.turn[b, w]]
            for i in range(ways.live.shape[1]):
                h = ways.live[b, i]
                sequence = np.int64(known[move[h]])
                out[b * count + w, h] = sequence * n + parts_below(cuts, sequence, ways.value[b, i])


@kernel
def count_values(
    ways,  # Ways
    before,  # uint16 or int32 [rows, hands]
    moved,  # int16 [permutations of the suits, hands]
    times,  # int64 [boards]: boards that each stands for
    counts,  # int64 [sequences, values] INOUT
):
    """Add the deals of some boards to the values of each sequence."""
    for b in range(len(ways.live)):
        weight = times[b]
        for w in range(ways.row.shape[1]):
            known, move = before[ways.row[b, w]], moved[ways.turn[b, w]]
            for i in range(ways.live.shape[1]):
                counts[known[move[ways.live[b, i]]], ways.value[b, i]] += weight
