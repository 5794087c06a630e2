"""Compiled showdowns of three and four ranges, by class of one of the players."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import load, same, store

U = np.uint64
WIDE = 16  # numbers kept for three classes: 13 orders, and zeros


@part
def place_of(a, b, c):
    """The number of three classes in ascending order, and in which of six orders they were."""
    if a <= b:
        if b <= c:
            return a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6, 0
        if a <= c:
            return a + c * (c + 1) // 2 + b * (b + 1) * (b + 2) // 6, 1
        return c + a * (a + 1) // 2 + b * (b + 1) * (b + 2) // 6, 3
    if a <= c:
        return b + a * (a + 1) // 2 + c * (c + 1) * (c + 2) // 6, 2
    if b <= c:
        return b + c * (c + 1) // 2 + a * (a + 1) * (a + 2) // 6, 4
    return c + b * (b + 1) // 2 + a * (a + 1) * (a + 2) // 6, 5


@kernel
def three_ranges(
    shares,  # float32 [triples, WIDE]: chances of the orders, for ascending classes
    hands,  # float32 [triples]: ways to deal them
    turned,  # int64 [6, 13]: the order of ascending classes that an order of the players is
    second,  # int64 [n]: classes of the second player that are played
    weight2,  # float32 [n]
    third,  # int64 [m]
    weight3,  # float32 [m]
    room,  # float32 [6, WIDE]
    out,  # float64 [classes, 13] OUT: the weight of each order, by the class of the first player
):
    """All deals of three players, two of whom have ranges."""
    for c in range(len(out)):
        for k in range(room.size // 16):
            store(room, U(16 * k), same(room, np.float32(0)))
        for i in range(len(second)):
            for j in range(len(third)):
                at, turn = place_of(np.int64(c), second[i], third[j])
                w = hands[at] * weight2[i] * weight3[j]
                to = U(WIDE * turn)
                store(room, to, load(room, to) + same(room, w) * load(shares, U(WIDE * at)))
        for k in range(13):
            total = 0.0
            for turn in range(6):
                total += room[turn, turned[turn, k]]
            out[c, k] = total


@kernel
def four_ranges(
    classes,  # uint8 [samples, 4]: of four hands
    order,  # uint8 [samples]: how they stand, a number of one of 75 orders
    turns,  # int64 [24, 4]: who gets which hand
    turned,  # int64 [24, 75]: the order that then is
    weights,  # float32 [4, classes]: ranges; of a player that is asked about, ones
    keep,  # the player that is asked about
    out,  # float64 [classes, 75] OUT: added
):
    """Sampled deals of four players, each dealt out in all 24 ways."""
    for s in range(len(classes)):
        for turn in range(len(turns)):
            w = np.float32(1)
            for p in range(4):
                if p != keep:
                    w *= weights[p, classes[s, turns[turn, p]]]
            if w > 0:
                out[classes[s, turns[turn, keep]], turned[turn, order[s]]] += w
