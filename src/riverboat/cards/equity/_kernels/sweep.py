"""A showdown on a board that is met once: hands sorted by strength, and one sweep from weak to strong.

The sweep is written once, for one opponent's range (numbers) and for sixteen side by side (`riverboat.compiled.simd`): `get` and
`put` move either. A walk that comes back to the same boards thousands of times lays them out beforehand instead, and then
has no branches (`settle` in `riverboat.engines.cpu._kernels.board`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from riverboat.compiled.jit import OPTIONS, part
from riverboat.compiled.simd import LANES, LanesType, load, store

U = np.uint64
L = U(LANES)
INLINE: Any = {**OPTIONS, "forceinline": True}


def get(array, k, like):
    """Number k of an array, or its sixteen numbers k, as `like` is one number or sixteen."""
    raise NotImplementedError


def put(array, k, x):
    """Write it."""
    raise NotImplementedError


@overload(get, jit_options=INLINE)
def _get(array, k, like):
    if isinstance(like, LanesType):
        return lambda array, k, like: load(array, U(k) * L)
    return lambda array, k, like: array[k]


@overload(put, jit_options=INLINE)
def _put(array, k, x):
    if isinstance(x, LanesType):
        return lambda array, k, x: store(array, U(k) * L, x)

    def code(array, k, x):
        array[k] = x

    return code


@part
def sort_by_strength(
    hand,  # int [hands] INOUT: numbers of hands
    live,  # how many of them
    strength,  # uint16 [all hands]
    spare,  # int [hands] scratch
    count,  # int64 [257] scratch
):
    """Sort hands from weak to strong, by two passes over bytes."""
    for shift in (0, 8):
        for i in range(257):
            count[i] = 0
        for i in range(live):
            count[((np.int64(strength[hand[i]]) >> shift) & 255) + 1] += 1
        for i in range(256):
            count[i + 1] += count[i]
        for i in range(live):
            digit = (np.int64(strength[hand[i]]) >> shift) & 255
            spare[count[digit]] = hand[i]
            count[digit] += 1
        for i in range(live):
            hand[i] = spare[i]


@part
def weigh(
    deck,  # the cards that there are
    first,  # uint8 [hands]: cards of the hands, from weak to strong
    second,  # uint8 [hands]: or one beyond the deck, of which nothing is added up
    two,  # whether hands have two cards
    live,  # how many hands
    reach,  # [hands]: the opponent's
    sums,  # [cards] OUT: reach of the hands with a card
    zero,  # nothing, as a number or as sixteen
):
    """Add up the reach of all hands: in all, which is returned, and by card."""
    total = zero
    for c in deck:
        put(sums, c, zero)
    for k in range(live):
        x = get(reach, k, zero)
        total = total + x
        put(sums, first[k], get(sums, first[k], zero) + x)
        if two:
            put(sums, second[k], get(sums, second[k], zero) + x)
    return total


@part
def sweep(
    deck,
    first,
    second,
    rank,  # uint16 [hands]: strength
    two,
    live,
    reach,
    sums,
    beats,  # [hands] OUT: what is weaker, plus what is not stronger
    zero,
):
    """The same, and what each hand beats of the hands that share no card with it.

    `beats` less what is met (`meets`) is what is weaker less what is stronger.
    """
    total = zero
    for c in deck:
        put(sums, c, zero)
    i = 0
    while i < live:
        j, v = i, rank[i]
        while j < live and rank[j] == v:
            put(beats, j, total - get(sums, first[j], zero) - get(sums, second[j], zero))
            j += 1
        for k in range(i, j):
            x = get(reach, k, zero)
            total = total + x
            put(sums, first[k], get(sums, first[k], zero) + x)
            if two:
                put(sums, second[k], get(sums, second[k], zero) + x)
        for k in range(i, j):
            upto = get(beats, k, zero) + (total - get(sums, first[k], zero) - get(sums, second[k], zero))
            put(beats, k, upto + get(reach, k, zero) if two else upto)
        i = j
    return total


@part
def meets(first, second, two, k, reach, sums, total):
    """What hand k meets: all of the reach, less what holds one of its cards; who has both was taken out twice."""
    met = total - get(sums, first[k], total) - get(sums, second[k], total)
    return met + get(reach, k, total) if two else met
