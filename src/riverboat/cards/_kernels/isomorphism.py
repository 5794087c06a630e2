"""Compiled loops of the isomorphism index. Other loops call `index_one`, or `deal` for each round and then `number`.

The four suits of a deal stand side by side in lanes of 16 bits, so that one integer holds a set of cards, or a count
for each suit. A lane never uses its top bit: integers stay positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

LANE = 0x1FFF  # the 13 ranks of one suit
INDEX_BITS = 34  # 13! < 2^34: no suit can be dealt in more ways
SUIT_INDEX = (1 << INDEX_BITS) - 1
NOWHERE = 255


class IndexTables(NamedTuple):
    """What a kernel needs to number the deals of some rounds. A shape is how many cards a suit gets in each round."""

    place: Array  # uint8 [256]: 16 · suit + rank of a card; NOWHERE for what is no card of the deck
    card: Array  # uint8 [64]: the card at a place
    rounds: Array  # int64 [rounds]: cards dealt in each
    room: Array  # int64 [256]: at 16 a + b, the choices of b ranks of a suit that has lost a
    sets: Array  # uint16 [8192]: 16 · colexicographic rank of a set of ranks among those of its size + that size
    ranked: Array  # uint16 [8192]: the sets by size and rank
    first: Array  # int64 [14]: where those of a size begin
    ways: Array  # int64 [53]: ways to spread n cards over four suits
    spread: Array  # uint16 [4096]: which of them it is, by the counts of the first three suits, four bits each
    family: Array  # int16 [spreads of all rounds]: which shapes the suits have
    offset: Array  # int64 [families + 1]: first index of a family, and the end
    kind: Array  # int8 [families, 4]: suits that share this one's shape, from this one on
    scale: Array  # int64 [families, 4]: what one step of this suit's group is worth
    shape: Array  # int8 [families, 4, rounds]: the shapes, largest first
    suits: int  # of the deck


@part
def multichoose(n, k):
    """Multisets of k out of n, which is also how many k-multisets come before those whose largest element is n."""
    m = n
    if k > 1:
        m = m * (n + 1) >> 1
    if k > 2:
        m = m * (n + 2) // 3
    if k > 3:
        m = m * (n + 3) >> 2
    return m


@part
def multiroot(m, k):
    """The largest n with multichoose(n, k) <= m."""
    if k == 1:
        return m
    n = np.int64((m * (2.0 if k == 2 else 6.0 if k == 3 else 24.0)) ** (1.0 / k)) + 1  # n^k <= k! · m
    while multichoose(n, k) > m:
        n -= 1
    return n


@part
def extend(t, index, held, fresh):
    """The index of one suit with the ranks of another round, renumbered to leave out those already gone."""
    entry = np.int64(t.sets[fresh & LANE])
    return index * t.room[(held & 15) << 4 | entry & 15] + (entry >> 4)


@part
def start():
    """No cards yet: cards gone, counts, shapes, number of the spreads, and the index of each suit."""
    return (0, 0, 0, 0, 0, 0, 0, 0)


@part
def take(t, used, dealt, cards, at, count):
    """The cards of a round so far, and cards[at : at + count] of a flat array: places, places among ranks left, counts."""
    now, fresh, counts = dealt
    for k in range(at, at + count):
        place = np.int64(t.place[cards[k]])
        lane = place & 48
        below = (used >> lane) & ((1 << (place & 15)) - 1)
        now |= 1 << place
        fresh |= 1 << (place - np.int64(t.sets[below] & 15))
        counts += 1 << lane
    return now, fresh, counts


@part
def close(t, state, dealt, count):
    """The state after a round of the `count` cards that `take` has seen."""
    used, held, shapes, spreads, a, b, c, d = state
    now, fresh, counts = dealt
    a = extend(t, a, held, fresh)
    b = extend(t, b, held >> 16, fresh >> 16)
    c = extend(t, c, held >> 32, fresh >> 32)
    d = extend(t, d, held >> 48, fresh >> 48)
    shapes = shapes * (count + 1) + counts  # in all lanes at once
    spreads = spreads * t.ways[count] + t.spread[(counts | counts >> 12 | counts >> 24) & 0xFFF]
    return (used | now, held + counts, shapes, spreads, a, b, c, d)


@part
def deal(t, state, cards, at, count):
    """The state after another round, cards[at : at + count] of a flat array, in any order."""
    return close(t, state, take(t, state[0], (0, 0, 0), cards, at, count), count)


@part
def number(t, state):
    """The index of a deal."""
    return number_at(t, state, 0, 0)


@part
def number_at(t, state, first_spread, first_family):
    """The index of a deal: suits in order of shape, those of one shape as a multiset of their indices (Waugh 2013).

    Tables of several sequences of rounds may stand one behind the other: `isomorphism.joined`.
    """
    _, _, shapes, spreads, a, b, c, d = state
    a |= (shapes & 0x7FFF) << INDEX_BITS
    b |= ((shapes >> 16) & 0x7FFF) << INDEX_BITS
    c |= ((shapes >> 32) & 0x7FFF) << INDEX_BITS
    d |= (shapes >> 48) << INDEX_BITS
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    f = first_family + np.int64(t.family[first_spread + spreads])
    # The last suits cannot begin large groups: to say so saves the steps.
    return (
        t.offset[f]
        + t.scale[f, 0] * multichoose(a & SUIT_INDEX, t.kind[f, 0])
        + t.scale[f, 1] * multichoose(b & SUIT_INDEX, min(t.kind[f, 1], 3))
        + t.scale[f, 2] * multichoose(c & SUIT_INDEX, min(t.kind[f, 2], 2))
        + t.scale[f, 3] * (d & SUIT_INDEX)
    )


@part
def index_one(t, cards, at):
    """The index of the deal that begins at cards[at] of a flat array. The cards must be right."""
    state = start()
    for r in range(len(t.rounds)):
        count = t.rounds[r]
        state = deal(t, state, cards, at, count)
        at += count
    return number(t, state)


@kernel
def index_batch(
    t,  # IndexTables
    cards,  # uint8 [deals · width]
    width,  # cards of a deal
    out,  # int64 [deals] OUT
):
    """Number many deals."""
    for i in range(len(out)):
        out[i] = index_one(t, cards, i * width)


@kernel
def first_wrong(
    t,  # IndexTables
    cards,  # uint8 [deals · width]
    width,
):
    """The first deal with a card twice or not of the deck, or -1."""
    for i in range(len(cards) // width):
        seen = 0
        for k in range(i * width, (i + 1) * width):
            place = np.int64(t.place[cards[k]])
            if place == NOWHERE or (seen >> place) & 1:
                return i
            seen |= 1 << place
    return -1


@part
def decode(t, index, suits):
    """Family of an index, and the index of each of its suits into suits, int64 [4]."""
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
        suits[j] = multiroot(group, kind)
        group -= multichoose(suits[j], kind)
    return f


@part
def put(t, ranks, used, suit, out, begin, at):
    """Sort the cards of a suit and round into out[begin : at]; `ranks` are of those not `used`. Returns at and used."""
    gone = used
    place = 16 * suit
    while ranks:
        if gone & 1 == 0:
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
        gone >>= 1
        place += 1
    return at, used


@part
def unindex_one(
    t,  # IndexTables
    index,
    suits,  # int64 [4] scratch
    colex,  # int64 [4, rounds] scratch
    out,  # uint8, flat, OUT
    at,
):
    """Write a deal with this index to out[at :], the cards of each round in order."""
    f = decode(t, index, suits)
    last = len(t.rounds) - 1
    for j in range(4):
        held = 0
        for r in range(last + 1):
            held += t.shape[f, j, r]
        for r in range(last, -1, -1):  # the last round is the last digit
            count = np.int64(t.shape[f, j, r])
            held -= count
            rest = suits[j] // t.room[held << 4 | count]
            colex[j, r] = suits[j] - rest * t.room[held << 4 | count]
            suits[j] = rest
    for j in range(4):
        suits[j] = 0  # from here on: the ranks gone
    for r in range(last + 1):
        begin = at
        for j in range(t.suits):
            ranks = np.int64(t.ranked[t.first[t.shape[f, j, r]] + colex[j, r]])
            at, suits[j] = put(t, ranks, suits[j], j, out, begin, at)


@kernel
def unindex_batch(
    t,  # IndexTables
    indices,  # int64 [deals]
    width,  # cards of a deal
    suits,  # int64 [4] scratch
    colex,  # int64 [4, rounds] scratch
    out,  # uint8 [deals · width] OUT
):
    """A deal for each of many indices."""
    for i in range(len(indices)):
        unindex_one(t, indices[i], suits, colex, out, i * width)


@kernel
def count_batch(
    t,  # IndexTables
    indices,  # int64 [deals]
    suits,  # int64 [4] scratch
    out,  # int64 [deals] OUT
):
    """Deals behind each index: permutations of the suits, over those of suits that look alike."""
    for i in range(len(indices)):
        f = decode(t, indices[i], suits)
        ways = 1
        run = 0
        for j in range(t.suits):
            alike = j > 0 and t.kind[f, j - 1] > 1 and suits[j] == suits[j - 1]
            run = run + 1 if alike else 1
            ways = ways * (j + 1) // run
        out[i] = ways
