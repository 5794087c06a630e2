"""Compiled strength of hands on the board that lies, complete or not: the share of all other hands that each beats.

Strengths are two whole numbers, twice the hands beaten plus the ties, and twice all hands met: whoever compares them with a
share comes to the same end for one hand as for all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

U = np.uint64


class Ranker(NamedTuple):
    """What it takes to rank the hands of a deck on every street."""

    deck: Array  # uint8 [cards]
    hands: Array  # uint8 [hands, hole]
    ranks: tuple[RankTables, ...]  # by street


class Sorter(NamedTuple):
    """Room to sort all hands."""

    value: Array  # uint16 [hands]
    order: Array  # int32 [hands]
    spare: Array  # int32 [hands]
    digits: Array  # int64 [257]
    below: Array  # int64 [52]
    twice: Array  # int64 [hands]


@part
def value_of(ranks, key, mask, cards):
    """Class of a hand of so many cards by the sums of its keys and mask bits."""
    if cards >= 5:
        return np.int64(ranked(key, mask, ranks.offset, ranks.value, ranks.flush))
    return np.int64(plain_value(key, ranks.offset, ranks.value))


@part
def laid(ranks, board, i, shown):
    """Sum of the keys of a board's cards, of their mask bits, and a bit for each card."""
    key, mask, known = START, U(0), U(0)
    for k in range(shown):
        key += ranks.key[board[i, k]]
        mask += ranks.mask[board[i, k]]
        known |= U(1) << U(board[i, k])
    return key, mask, known


@part
def strength(
    ranker,  # Ranker
    street,
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    i,
    shown,  # cards of the board that lie
):
    """Of all hands that the other player may hold, twice those that hand i beats on the board that lies plus the ties, and
    twice their number.
    """
    deck, ranks, own = ranker.deck, ranker.ranks[street], hole.shape[1]
    key, mask, known = laid(ranks, board, i, shown)
    mine, bits = key, mask
    for k in range(own):
        mine += ranks.key[hole[i, k]]
        bits += ranks.mask[hole[i, k]]
        known |= U(1) << U(hole[i, k])
    value, cards = value_of(ranks, mine, bits, own + shown), own + shown
    beaten, hands = np.int64(0), np.int64(0)
    for a in range(len(deck)):
        if (known >> U(deck[a])) & U(1):
            continue
        one, mark = key + ranks.key[deck[a]], mask + ranks.mask[deck[a]]
        if own == 1:
            theirs = value_of(ranks, one, mark, cards)
            beaten += 2 * (value > theirs) + (value == theirs)
            hands += 2
            continue
        for b in range(a):
            if (known >> U(deck[b])) & U(1):
                continue
            theirs = value_of(ranks, one + ranks.key[deck[b]], mark + ranks.mask[deck[b]], cards)
            beaten += 2 * (value > theirs) + (value == theirs)
            hands += 2
    return beaten, hands


@kernel
def strength_of_all(
    ranker,  # Ranker
    street,
    board,  # uint8 [n, board]
    i,
    shown,
    s,  # Sorter: `twice` OUT, twice the hands beaten plus the ties of every hand that board i leaves
):
    """`strength` of all hands on one board: they are sorted, and a sweep counts what lies below each, in all and by card.
    Twice the hands met, which are as many for each.
    """
    ranks, hands = ranker.ranks[street], ranker.hands
    own = hands.shape[1]
    key, mask, known = laid(ranks, board, i, shown)
    live = 0
    for h in range(len(hands)):
        mine, bits, held = key, mask, U(0)
        for k in range(own):
            mine += ranks.key[hands[h, k]]
            bits += ranks.mask[hands[h, k]]
            held |= U(1) << U(hands[h, k])
        if not held & known:
            s.value[h] = value_of(ranks, mine, bits, own + shown)
            s.order[live] = h
            live += 1
    for shift in (0, 8):  # two passes over bytes
        for d in range(257):
            s.digits[d] = 0
        for k in range(live):
            s.digits[((np.int64(s.value[s.order[k]]) >> shift) & 255) + 1] += 1
        for d in range(256):
            s.digits[d + 1] += s.digits[d]
        for k in range(live):
            digit = (np.int64(s.value[s.order[k]]) >> shift) & 255
            s.spare[s.digits[digit]] = s.order[k]
            s.digits[digit] += 1
        for k in range(live):
            s.order[k] = s.spare[k]
    for c in range(52):
        s.below[c] = 0
    first = 0
    while first < live:
        last, value = first, s.value[s.order[first]]
        while last < live and s.value[s.order[last]] == value:
            h = s.order[last]
            s.twice[h] = first
            for k in range(own):
                s.twice[h] -= s.below[hands[h, k]]
            last += 1
        for j in range(first, last):
            for k in range(own):
                s.below[hands[s.order[j], k]] += 1
        for j in range(first, last):
            h = s.order[j]
            s.twice[h] += last + own - 1  # itself was taken out once for each card
            for k in range(own):
                s.twice[h] -= s.below[hands[h, k]]
        first = last
    left = np.int64(len(ranker.deck) - own - shown)
    return 2 * left if own == 1 else left * (left - 1)


@kernel
def strengths(ranker, street, hole, board, shown, out):
    """`strength` of many hands of one street. int64 [n, 2] OUT"""
    for i in range(len(out)):
        out[i, 0], out[i, 1] = strength(ranker, street, hole, board, i, shown)
