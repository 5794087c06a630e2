"""Compiled loops of perfect-recall buckets: which sequences the hands of a board come from, over all orders of its cards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.jit import kernel, part


class Past(NamedTuple):
    """All ways to come to a board: nodes are boards that lay before, each after another. Node 0 is before any board."""

    up: Array  # int64 [nodes]: the node before; node 0 has itself
    inner: Array  # int64 [nodes]: which of the inner boards lies there
    parts: Array  # int64 [nodes]: buckets into which a sequence is cut there
    first: Array  # int64 [nodes]: the row of `cuts` of the first sequence
    leaves: int  # the first of the nodes that come right before the board; the last node is one too
    cuts: Array  # uint16 [rows, a power of two]: least values of parts 1, 2, …; 65535 fills up
    values: Array  # uint16 [rows, hands]: of every hand on every canonical board of the streets before
    moved: Array  # int16 [permutations of the suits, hands]: what a hand becomes


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
def count_values(
    past,  # Past
    here,  # uint16 [boards, hands]: values on these boards
    live,  # int16 [boards, hands]: hands that a board leaves possible
    row,  # int32 [boards, inner boards]: rows of `past.values`
    turn,  # int8 [boards, inner boards]: permutation of the suits that leads to them
    times,  # int64 [boards]: boards that each stands for
    sequence,  # int32 [nodes, hands] scratch
    counts,  # int64 [sequences, values] INOUT
):
    """Add the deals of some boards to the values of each sequence."""
    nodes = len(past.up)
    hands = live.shape[1]
    for b in range(len(here)):
        for j in range(nodes):
            inner = past.inner[j]
            found, moved = past.values[row[b, inner]], past.moved[turn[b, inner]]
            n, first, up = past.parts[j], past.first[j], past.up[j]
            for i in range(hands):
                h = live[b, i]
                before = np.int64(sequence[up, i]) if j else np.int64(0)
                low = parts_below(past.cuts, first + before, found[moved[h]])
                sequence[j, i] = before * n + low
            if j >= past.leaves:
                weight = times[b]
                for i in range(hands):
                    counts[sequence[j, i], here[b, live[b, i]]] += weight
