"""Compiled loop that puts the hands of a board in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.equity._kernels.sweep import sort_by_strength
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array

U = np.uint64


class Held(NamedTuple):
    """All hands, as they are ranked together with a board."""

    ranks: RankTables  # for as many cards as hand and board have
    mask: Array  # uint64 [hands]: a bit for each card
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: and of their masks


@kernel
def order_hands_of(
    held,  # Held
    boards,  # uint8 [boards, cards]
    strength,  # uint16 [boards, hands] OUT: zero where the board holds one of the cards
    order,  # int16 [boards, hands] OUT: from weak to strong
    spare,  # int16 [hands] scratch
    digits,  # int64 [257] scratch
):
    """Strength of every hand on some boards, and the hands from weak to strong."""
    t, hands, size = held.ranks, len(held.mask), boards.shape[1]
    for b in range(len(boards)):
        key, mask, taken = START, U(0), U(0)
        for k in range(size):
            key += t.key[boards[b, k]]
            mask += t.mask[boards[b, k]]
            taken |= U(1) << U(boards[b, k])
        for h in range(hands):
            order[b, h] = h
            if held.mask[h] & taken:
                strength[b, h] = 0
            elif size >= 3:
                strength[b, h] = ranked(key + held.key[h], mask + held.suits[h], t.offset, t.value, t.flush)
            else:
                strength[b, h] = plain_value(key + held.key[h], t.offset, t.value)
        sort_by_strength(order[b], hands, strength[b], spare, digits)
