"""Kernels of the hand isomorphism index (Waugh 2013, "A fast and optimal hand isomorphism algorithm").

Other kernels call `index_deal`, or `deal_round` for each round and then `deal_index_in_joined_tables`.

An integer holds four fields of 16 bits, one for each suit: a set of cards, or a count per suit. A field never uses its
top bit, so integers stay positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

SUIT_RANKS_MASK = 0x1FFF  # the 13 ranks of one suit
SUIT_INDEX_BITS = 34  # 13! < 2^34: an upper bound on the deals of one suit
SUIT_INDEX_MASK = (1 << SUIT_INDEX_BITS) - 1
NOT_IN_DECK = 255


class IndexTables(NamedTuple):
    """Tables to number the deals of some rounds.

    A shape is the number of cards that a suit gets in each round. A spread is the number of cards of one round in each
    suit. A family is the multiset of the shapes of all suits.
    """

    place: Array  # uint8 [256]: bit position 16 · suit + rank of a card; NOT_IN_DECK for others
    card: Array  # uint8 [64]: the card at a bit position
    rounds: Array  # int64 [rounds]: cards dealt in each round
    choices: Array  # int64 [256]: at 16 a + b, number of ways to choose b ranks of a suit, a of whose ranks are used
    sets: Array  # uint16 [8192]: 16 · colexicographic rank of a set of ranks among those of its size + that size
    sorted_sets: Array  # uint16 [8192]: the sets by size and rank
    first: Array  # int64 [14]: where the sets of a size begin in `sorted_sets`
    num_spreads: Array  # int64 [53]: number of spreads of n cards over four suits
    spread: Array  # uint16 [4096]: index of a spread, by the counts of the first three suits, four bits each
    family: Array  # int16 [combinations of the rounds' spreads]: family; -1 if the deck has too few cards
    offset: Array  # int64 [families + 1]: first index of a family, and the end
    kind: Array  # int8 [families, 4]: number of suits of the same shape (a group), from this one on
    scale: Array  # int64 [families, 4]: stride of the index of this suit's group
    shape: Array  # int8 [families, 4, rounds]: the shapes, largest first
    suits: int  # number of suits of the deck


@inline
def multichoose(n, k):
    """Return the number of multisets of k out of n.

    It is also the number of k-multisets that precede those whose largest element is n.
    """
    m = n
    if k > 1:
        m = m * (n + 1) >> 1
    if k > 2:
        m = m * (n + 2) // 3
    if k > 3:
        m = m * (n + 3) >> 2
    return m


@inline
def inverse_multichoose(m, k):
    """Return the largest n with multichoose(n, k) <= m."""
    if k == 1:
        return m
    n = np.int64((m * (2.0 if k == 2 else 6.0 if k == 3 else 24.0)) ** (1.0 / k)) + 1  # n^k <= k! · m
    while multichoose(n, k) > m:
        n -= 1
    return n


@inline
def extend_suit_index(t, index, held, new_ranks):
    """Extend the index of one suit by its ranks in another round.

    `held` counts its cards in earlier rounds; `new_ranks` is the set of new ranks, numbered among those that are left.
    """
    entry = np.int64(t.sets[new_ranks & SUIT_RANKS_MASK])
    return index * t.choices[(held & 15) << 4 | entry & 15] + (entry >> 4)


@inline
def empty_deal():
    """Return the state of an empty deal.

    A state has the cards used, the counts per suit, the shapes, the index of the spreads, and the index of each suit.
    """
    return (0, 0, 0, 0, 0, 0, 0, 0)


@inline
def add_cards(t, used, round_cards, cards, at, count):
    """Add cards[at : at + count] of a flat array to a round, and return it.

    A round has the set of its cards, the same set with ranks numbered among those of the suit that are not in `used`,
    the cards of earlier rounds (Waugh 2013), and the number of its cards in each suit. It starts as (0, 0, 0).
    """
    now, fresh, counts = round_cards
    for k in range(at, at + count):
        place = np.int64(t.place[cards[k]])
        lane = place & 48
        below = (used >> lane) & ((1 << (place & 15)) - 1)
        now |= 1 << place
        fresh |= 1 << (place - np.int64(t.sets[below] & 15))
        counts += 1 << lane
    return now, fresh, counts


@inline
def finish_round(t, state, round_cards, count):
    """Return the state of a deal (see `empty_deal`) after a round of `count` cards from `add_cards`."""
    used, held, shapes, spreads, a, b, c, d = state
    now, fresh, counts = round_cards
    a = extend_suit_index(t, a, held, fresh)
    b = extend_suit_index(t, b, held >> 16, fresh >> 16)
    c = extend_suit_index(t, c, held >> 32, fresh >> 32)
    d = extend_suit_index(t, d, held >> 48, fresh >> 48)
    shapes = shapes * (count + 1) + counts  # for all suits at once
    spreads = spreads * t.num_spreads[count] + t.spread[(counts | counts >> 12 | counts >> 24) & 0xFFF]
    return (used | now, held + counts, shapes, spreads, a, b, c, d)


@inline
def deal_round(t, state, cards, at, count):
    """Return the state of a deal after another round, cards[at : at + count] of a flat array, in any order."""
    return finish_round(t, state, add_cards(t, state[0], (0, 0, 0), cards, at, count), count)


@inline
def deal_index_in_joined_tables(t, state, first_spread, first_family):
    """Return the index of a deal: suits sorted by shape, those of equal shape as a multiset of indices (Waugh 2013).

    The tables of several round sequences may be concatenated (`join_tables`); `first_spread` and `first_family` say
    where this one begins.
    """
    _, _, shapes, spreads, a, b, c, d = state
    a |= (shapes & 0x7FFF) << SUIT_INDEX_BITS
    b |= ((shapes >> 16) & 0x7FFF) << SUIT_INDEX_BITS
    c |= ((shapes >> 32) & 0x7FFF) << SUIT_INDEX_BITS
    d |= (shapes >> 48) << SUIT_INDEX_BITS
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    f = first_family + np.int64(t.family[first_spread + spreads])
    # The last suits cannot begin large groups; the minimum lets the compiler drop steps.
    return (
        t.offset[f]
        + t.scale[f, 0] * multichoose(a & SUIT_INDEX_MASK, t.kind[f, 0])
        + t.scale[f, 1] * multichoose(b & SUIT_INDEX_MASK, min(t.kind[f, 1], 3))
        + t.scale[f, 2] * multichoose(c & SUIT_INDEX_MASK, min(t.kind[f, 2], 2))
        + t.scale[f, 3] * (d & SUIT_INDEX_MASK)
    )


@inline
def index_deal(t, cards, at):
    """Return the index of the deal at cards[at :] of a flat array. Cards are not checked."""
    state = empty_deal()
    for r in range(len(t.rounds)):
        count = t.rounds[r]
        state = deal_round(t, state, cards, at, count)
        at += count
    return deal_index_in_joined_tables(t, state, 0, 0)


@kernel
def index_batch(
    t,  # IndexTables
    cards,  # uint8 [deals · width]
    width,  # cards per deal
    out,  # int64 [deals] OUT
):
    """Compute the indices of many deals."""
    for i in range(len(out)):
        out[i] = index_deal(t, cards, i * width)


@kernel
def first_invalid_deal(
    t,  # IndexTables
    cards,  # uint8 [deals · width]
    width,
):
    """Return the first deal with a duplicate card or a card that is not in the deck, or -1."""
    for i in range(len(cards) // width):
        seen = 0
        for k in range(i * width, (i + 1) * width):
            place = np.int64(t.place[cards[k]])
            if place == NOT_IN_DECK or (seen >> place) & 1:
                return i
            seen |= 1 << place
    return -1


@inline
def decode_index(t, index, suits):
    """Return the family of an index, and write the index of each suit to suits, int64 [4]."""
    f = 0
    end = len(t.offset) - 1
    while end - f > 1:
        middle = (f + end) >> 1
        if t.offset[middle] <= index:
            f = middle
        else:
            end = middle
    rest = index - t.offset[f]
    group = 0
    for j in range(4):
        kind = np.int64(t.kind[f, j])
        if j == 0 or t.kind[f, j - 1] == 1:
            group = rest // t.scale[f, j]
            rest -= group * t.scale[f, j]
        suits[j] = inverse_multichoose(group, kind)
        group -= multichoose(suits[j], kind)
    return f


@inline
def insert_cards(t, ranks, used, suit, out, begin, at):
    """Insert the cards of one suit in one round into out[begin : at], sorted; return the new `at` and `used`.

    `ranks` are numbered among those not `used`.
    """
    remaining_used = used
    place = 16 * suit
    while ranks:
        if remaining_used & 1 == 0:
            if ranks & 1:
                used |= 1 << (place & 15)
                card = t.card[place]
                k = at
                while k > begin and out[k - 1] > card:
                    out[k] = out[k - 1]
                    k -= 1
                out[k] = card
                at += 1
            ranks >>= 1
        remaining_used >>= 1
        place += 1
    return at, used


@inline
def unindex_deal(
    t,  # IndexTables
    index,
    suits,  # int64 [4] scratch
    colex,  # int64 [4, rounds] scratch
    out,  # uint8, flat, OUT
    at,
):
    """Write a deal of this index to out[at :], the cards of each round sorted."""
    f = decode_index(t, index, suits)
    last = len(t.rounds) - 1
    for j in range(4):
        held = 0
        for r in range(last + 1):
            held += t.shape[f, j, r]
        for r in range(last, -1, -1):  # the last round is the least significant digit
            count = np.int64(t.shape[f, j, r])
            held -= count
            rest = suits[j] // t.choices[held << 4 | count]
            colex[j, r] = suits[j] - rest * t.choices[held << 4 | count]
            suits[j] = rest
    for j in range(4):
        suits[j] = 0  # from here on: the ranks used
    for r in range(last + 1):
        begin = at
        for j in range(t.suits):
            ranks = np.int64(t.sorted_sets[t.first[t.shape[f, j, r]] + colex[j, r]])
            at, suits[j] = insert_cards(t, ranks, suits[j], j, out, begin, at)


@kernel
def unindex_batch(
    t,  # IndexTables
    indices,  # int64 [deals]
    width,  # cards per deal
    suits,  # int64 [4] scratch
    colex,  # int64 [4, rounds] scratch
    out,  # uint8 [deals · width] OUT
):
    """Write a deal for each of many indices."""
    for i in range(len(indices)):
        unindex_deal(t, indices[i], suits, colex, out, i * width)


@kernel
def count_deals(
    t,  # IndexTables
    indices,  # int64 [deals]
    suits,  # int64 [4] scratch
    out,  # int64 [deals] OUT
):
    """Count the isomorphic deals of each index: permutations of the suits, divided by those of equal suits."""
    for i in range(len(indices)):
        f = decode_index(t, indices[i], suits)
        permutations = 1
        run = 0
        for j in range(t.suits):
            alike = j > 0 and t.kind[f, j - 1] > 1 and suits[j] == suits[j - 1]
            run = run + 1 if alike else 1
            permutations = permutations * (j + 1) // run
        out[i] = permutations
