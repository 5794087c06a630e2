"""Kernels of showdowns on boards that are visited once: sort hands by strength, then one pass from weak to strong.

Terminal values of all hands take O(n) after sorting (Johanson et al. 2011). The pass is written once, for one opponent
range (scalars) and for sixteen ranges side by side (SIMD vectors): `load_entry` and `store_entry` handle both. An
engine that visits the same boards thousands of times prepares them beforehand, and then needs no branches
(`riverboat.engines.cpu._kernels`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from riverboat.cards._kernels.ranking import board_keys, rank_by_keys
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import KERNEL_OPTIONS, inline, kernel
from riverboat.compiled.simd import SIMD_WIDTH, SimdType, broadcast, load, store
from riverboat.core.arrays import Array

U = np.uint64
L = U(SIMD_WIDTH)
INLINE_OPTIONS: Any = {**KERNEL_OPTIONS, "forceinline": True}


def load_entry(array, k, like):
    """Return entry k of an array: a vector of sixteen numbers if `like` is a SIMD vector, else a scalar."""
    raise NotImplementedError


def store_entry(array, k, x):
    """Store a scalar or a vector of sixteen as entry k of an array."""
    raise NotImplementedError


@overload(load_entry, jit_options=INLINE_OPTIONS)
def _load_entry(array, k, like):
    if isinstance(like, SimdType):
        return lambda array, k, like: load(array, U(k) * L)
    return lambda array, k, like: array[k]


@overload(store_entry, jit_options=INLINE_OPTIONS)
def _store_entry(array, k, x):
    if isinstance(x, SimdType):
        return lambda array, k, x: store(array, U(k) * L, x)

    def code(array, k, x):
        array[k] = x

    return code


@inline
def sort_by_strength(
    hand,  # int [hands] INOUT: indices of hands
    num_hands,  # number of entries of `hand`
    strength,  # uint16 [all hands]
    spare,  # int [hands] scratch
    count,  # int64 [257] scratch
):
    """Sort hands from weak to strong by a radix sort of two passes over bytes."""
    for shift in (0, 8):
        for i in range(257):
            count[i] = 0
        for i in range(num_hands):
            count[((np.int64(strength[hand[i]]) >> shift) & 255) + 1] += 1
        for i in range(256):
            count[i + 1] += count[i]
        for i in range(num_hands):
            digit = (np.int64(strength[hand[i]]) >> shift) & 255
            spare[count[digit]] = hand[i]
            count[digit] += 1
        for i in range(num_hands):
            hand[i] = spare[i]


@inline
def sum_reach(
    deck,  # uint8 [cards of the deck]
    first,  # uint8 [hands]: cards of the hands, from weak to strong
    second,  # uint8 [hands]: or a card beyond the deck for hands of one card
    two_cards,  # whether hands have two cards
    num_hands,
    reach,  # [hands]: the opponent's reach probabilities
    sums,  # [cards] OUT: reach of the hands with a card
    zero,  # zero as a scalar or as a vector of sixteen
):
    """Sum the reach of all hands by card, and return the total."""
    total = zero
    for c in deck:
        store_entry(sums, c, zero)
    for k in range(num_hands):
        x = load_entry(reach, k, zero)
        total = total + x
        store_entry(sums, first[k], load_entry(sums, first[k], zero) + x)
        if two_cards:
            store_entry(sums, second[k], load_entry(sums, second[k], zero) + x)
    return total


@inline
def showdown_wins(
    deck,
    first,
    second,
    rank,  # uint16 [hands]: strength
    two_cards,
    num_hands,
    reach,
    sums,
    wins,  # [hands] OUT: reach of weaker hands plus reach of weaker or equal hands
    zero,
):
    """Sum the reach by card, and compute the reach that each hand beats, among hands that share no card with it.

    Returns the total reach. Parameters without a comment are those of `sum_reach`. `wins` minus `compatible_reach` is
    the reach of weaker hands minus that of stronger hands.
    """
    total = zero
    for c in deck:
        store_entry(sums, c, zero)
    i = 0
    while i < num_hands:
        j, v = i, rank[i]
        while j < num_hands and rank[j] == v:
            store_entry(wins, j, total - load_entry(sums, first[j], zero) - load_entry(sums, second[j], zero))
            j += 1
        for k in range(i, j):
            x = load_entry(reach, k, zero)
            total = total + x
            store_entry(sums, first[k], load_entry(sums, first[k], zero) + x)
            if two_cards:
                store_entry(sums, second[k], load_entry(sums, second[k], zero) + x)
        for k in range(i, j):
            beaten = total - load_entry(sums, first[k], zero) - load_entry(sums, second[k], zero)
            twice_wins = load_entry(wins, k, zero) + beaten
            store_entry(wins, k, twice_wins + load_entry(reach, k, zero) if two_cards else twice_wins)
        i = j
    return total


@inline
def compatible_reach(first, second, two_cards, k, reach, sums, total):
    """Return the reach of the hands that share no card with hand k, by inclusion-exclusion over its cards."""
    compatible = total - load_entry(sums, first[k], total) - load_entry(sums, second[k], total)
    return compatible + load_entry(reach, k, total) if two_cards else compatible


# --- batches of ranges, and pairs of hands ---

NO_CARD = 52  # second card of one-card hands
PAIR_BLOCK_ROWS = 8  # rows of pairs processed together, so that the strengths of a board stay in cache


class BatchShowdownHands(NamedTuple):
    """Hands of a deck and the tables that rank them on complete boards."""

    hands: Array  # uint8 [hands, hole]
    first: Array  # uint8 [hands]: first card of each hand
    second: Array  # uint8 [hands]: second card; NO_CARD for hands of one card
    two: bool  # whether hands have two cards
    mask: Array  # uint64 [hands]: a bit for each card
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: sums of ranking masks
    deck: Array  # uint8 [cards]
    ranks: RankTables
    cards: int  # number of cards of a hand and a complete board together


class ShowdownWorkspace(NamedTuple):
    """Scratch memory for one board and its runouts. Reach, wins and sums are scalars or vectors of sixteen."""

    order: Array  # int32 [hands]: hands that the board does not block, from weak to strong
    spare: Array  # int32 [hands]: for the radix sort
    digits: Array  # int64 [257]: for the radix sort
    strength: Array  # uint16 [hands]
    first: Array  # uint8 [hands]: cards and strength, in the order of `order`
    second: Array  # uint8 [hands]
    rank: Array  # uint16 [hands]
    reach: Array  # float64 [hands · width]: weights of the opponent's hands
    beats: Array  # float64 [hands · width]: `wins` of `showdown_wins`
    sums: Array  # float64 [53 · width]: by card, and for NO_CARD
    twice: Array  # int64 [hands]: 2 × wins + ties
    full: Array  # uint8 [5]: a board and its runout
    left: Array  # uint8 [52]: cards that are not on the board
    chosen: Array  # int64 [5]: positions of the runout's cards in `left`


@inline
def rank_live_hands(hands, board, size, order, strength):
    """Rank and list the hands that a board of `size` cards does not block; return their number."""
    live = 0
    key, mask, taken = board_keys(hands.ranks, board, size)
    for h in range(len(hands.mask)):
        if hands.mask[h] & taken == U(0):
            strength[h] = rank_by_keys(hands.ranks, key + hands.key[h], mask + hands.suits[h], hands.cards)
            order[live] = h
            live += 1
    return live


@inline
def sort_live_hands(
    hands,  # uint8 [hands, hole]
    live,  # number of hands that the board does not block
    s,  # ShowdownWorkspace: order and strength IN, order, first, second and rank OUT
):
    """Sort the live hands from weak to strong, and list their cards and strengths in this order."""
    sort_by_strength(s.order, live, s.strength, s.spare, s.digits)
    for k in range(live):
        h = s.order[k]
        s.first[k], s.second[k] = hands[h, 0], hands[h, 1] if hands.shape[1] == 2 else NO_CARD
        s.rank[k] = s.strength[h]


@inline
def count_wins(
    deck,  # uint8 [cards]
    two_cards,
    live,
    s,  # ShowdownWorkspace with sorted hands: twice OUT
):
    """Count 2 × wins + ties of every live hand against all hands that share no card with it."""
    for k in range(live):
        s.reach[k] = 1.0
    showdown_wins(deck, s.first, s.second, s.rank, two_cards, live, s.reach, s.sums, s.beats, 0.0)
    for k in range(live):
        s.twice[s.order[k]] = np.int64(s.beats[k])


@kernel
def accumulate_wins(
    held,  # BatchShowdownHands
    boards,  # uint8 [boards, cards]: complete
    ranges,  # float64 [groups · hands · 16]: weights of a hand in sixteen ranges, side by side
    workspace,  # ShowdownWorkspace
    out,  # float64 [groups · hands · 16] INOUT: 2 × weight beaten + weight tied, over all boards
):
    """Add up, for every hand and every range, the weight of the range's hands that it beats, over all boards."""
    s, hands, zero = workspace, len(held.mask), broadcast(workspace.sums, np.float64(0))
    groups = len(ranges) // (hands * SIMD_WIDTH)
    for b in range(len(boards)):
        live = rank_live_hands(held, boards[b], boards.shape[1], s.order, s.strength)
        sort_live_hands(held.hands, live, s)
        for g in range(groups):
            base = U(g * hands)
            for k in range(live):
                store(s.reach, U(k) * L, load(ranges, (base + U(s.order[k])) * L))
            showdown_wins(held.deck, s.first, s.second, s.rank, held.two, live, s.reach, s.sums, s.beats, zero)
            for k in range(live):
                at = (base + U(s.order[k])) * L
                store(out, at, load(out, at) + load(s.beats, U(k) * L))


@kernel
def rank_hands_on_boards(
    held,  # BatchShowdownHands
    boards,  # uint8 [boards, cards]: complete
    s,  # ShowdownWorkspace
    above,  # int16 [boards, hands] OUT: strength; 32767 if the board blocks the hand
    below,  # int16 [boards, hands] OUT: strength; -1 if the board blocks the hand
):
    """Rank all hands on many boards, for `count_pair_margins`."""
    for b in range(len(boards)):
        for h in range(above.shape[1]):
            above[b, h], below[b, h] = 32767, -1
        for k in range(rank_live_hands(held, boards[b], boards.shape[1], s.order, s.strength)):
            h = s.order[k]
            above[b, h] = below[b, h] = s.strength[h]


@kernel
def count_pair_margins(
    above,  # int16 [boards, hands]: from `rank_hands_on_boards`
    below,  # int16 [boards, hands]
    out,  # int16 [hands, hands] INOUT: boards where the row's hand is stronger minus those where it is weaker
):
    """Count wins minus losses over all boards for all pairs of hands, in the lower triangle only.

    Entries of pairs that share a card are meaningless.
    """
    boards, hands = above.shape
    for top in range(0, hands, PAIR_BLOCK_ROWS):
        for b in range(boards):
            for h in range(top, min(top + PAIR_BLOCK_ROWS, hands)):
                strength = above[b, h]
                if strength == below[b, h]:
                    for o in range(h):
                        out[h, o] += np.int16(strength > above[b, o]) - np.int16(strength < below[b, o])
