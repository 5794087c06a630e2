"""Kernels of hand ranking: table lookups by sums of card keys.

`riverboat.cards.ranking` builds the tables and explains the keys.
"""

import numpy as np

from riverboat.compiled.jit import inline, kernel

ROW_BITS = 12  # sums of rank keys are split into rows of 2^ROW_BITS columns
INITIAL_KEY = np.uint64(0x3333 << 32)  # suit counters start at three, so that five cards set their top bit
FLUSH_BITS = np.uint64(0x8888 << 32)
LOW_HALF_MASK = np.uint64(0xFFFFFFFF)
COLUMN_MASK = np.uint64((1 << ROW_BITS) - 1)
ROW_SHIFT = np.uint64(ROW_BITS)
SUIT_RANKS_MASK = np.uint64(0x1FFF)


@inline
def rank_without_flush(key, offset, value):
    """Return the ranking class of a hand by the sum of its cards' keys, ignoring flushes."""
    s = key & LOW_HALF_MASK
    return value[np.int64(offset[s >> ROW_SHIFT]) + np.int64(s & COLUMN_MASK)]


@inline
def flush_suit_shift(key):
    """Return the bit shift of the suit that has five cards."""
    if key & np.uint64(0x8 << 32):
        return np.uint64(0)
    if key & np.uint64(0x80 << 32):
        return np.uint64(16)
    if key & np.uint64(0x800 << 32):
        return np.uint64(32)
    return np.uint64(48)


@inline
def hand_rank(key, mask, offset, value, flush):
    """Return the ranking class of a hand by the sums of its cards' keys (from INITIAL_KEY) and mask bits."""
    if key & FLUSH_BITS:
        return flush[(mask >> flush_suit_shift(key)) & SUIT_RANKS_MASK]
    return rank_without_flush(key, offset, value)


@inline
def rank_by_keys(t, key, mask, cards):
    """Return the ranking class of a hand of `cards` cards, which may be few, by the sums of keys and mask bits."""
    if cards >= 5:
        return np.int64(hand_rank(key, mask, t.offset, t.value, t.flush))
    return np.int64(rank_without_flush(key, t.offset, t.value))


@inline
def board_keys(t, cards, count):
    """Return the sums of the keys and mask bits of the first `count` cards, and the set of them."""
    key, mask, known = INITIAL_KEY, np.uint64(0), np.uint64(0)
    for k in range(count):
        key += t.key[cards[k]]
        mask += t.mask[cards[k]]
        known |= np.uint64(1) << np.uint64(cards[k])
    return key, mask, known


@inline
def list_free_cards(dead, out):
    """Write the cards that are not in a set to out, uint8 [52], ascending; return their number."""
    count = 0
    for c in range(52):
        if not (dead >> np.uint64(c)) & np.uint64(1):
            out[count] = c
            count += 1
    return count


@inline
def next_combination(chosen, count, n):
    """Advance chosen[:count] to the lexicographically next combination of 0 … n - 1; return False after the last."""
    k = count - 1
    while k >= 0 and chosen[k] == n - count + k:
        k -= 1
    if k < 0:
        return False
    chosen[k] += 1
    for j in range(k + 1, count):
        chosen[j] = chosen[j - 1] + 1
    return True


@kernel
def displace_rows(
    sums,  # int64 [entries], row by row, ascending inside a row
    values,  # uint16 [entries], above zero
    offset,  # int32 [rows] OUT
    packed,  # uint16 [capacity] OUT: starts as zeros
):
    """Pack the rows of a sparse table by first-fit row displacement (Tarjan & Yao 1979); return the length used."""
    used = 0
    first = 0
    while first < len(sums):
        row = sums[first] >> ROW_BITS
        last = first
        while last < len(sums) and sums[last] >> ROW_BITS == row:
            last += 1
        start = -(sums[first] & ((1 << ROW_BITS) - 1))
        fits = False
        while not fits:
            fits = True
            for i in range(first, last):
                if packed[start + (sums[i] & ((1 << ROW_BITS) - 1))] != 0:
                    fits = False
                    start += 1
                    break
        offset[row] = start
        for i in range(first, last):
            position = start + (sums[i] & ((1 << ROW_BITS) - 1))
            packed[position] = values[i]
            used = max(used, position + 1)
        first = last
    return used


@kernel
def first_invalid_hand(cards):  # uint8 [hands, cards]
    """Return the first hand with a duplicate card or a card out of range, or -1."""
    for i in range(len(cards)):
        seen = np.uint64(0)
        for k in range(cards.shape[1]):
            c = np.uint64(cards[i, k])
            if c >= np.uint64(52) or (seen >> c) & np.uint64(1):
                return i
            seen |= np.uint64(1) << c
    return -1


@kernel
def rank_batch(
    cards,  # uint8 [hands, n]
    t,  # RankTables of n cards
    out,  # uint16 [hands] OUT
):
    """Rank many hands of one size."""
    n, key = cards.shape[1], t.key
    if n == 7:
        for i in range(len(cards)):
            k = (
                INITIAL_KEY + key[cards[i, 0]] + key[cards[i, 1]] + key[cards[i, 2]] + key[cards[i, 3]]
                + key[cards[i, 4]] + key[cards[i, 5]] + key[cards[i, 6]]
            )  # fmt: skip
            if k & FLUSH_BITS:
                m = np.uint64(0)
                for j in range(7):
                    m += t.mask[cards[i, j]]
                out[i] = t.flush[(m >> flush_suit_shift(k)) & SUIT_RANKS_MASK]
            else:
                out[i] = rank_without_flush(k, t.offset, t.value)
        return
    for i in range(len(cards)):
        k, m, _ = board_keys(t, cards[i], n)
        out[i] = rank_by_keys(t, k, m, n)


@kernel
def count_rank_classes(
    cards,  # 5, 6 or 7
    t,  # RankTables
    chosen,  # int64 [8] scratch
    counts,  # int64 [classes + 1] INOUT
):
    """Rank every hand of `cards` cards from 52, and count the hands of each ranking class."""
    outer = cards - 3  # the last three cards have loops of their own
    for k in range(outer):
        chosen[k] = k
    more = True
    while more:
        base, base_mask, _ = board_keys(t, chosen, outer)
        for a in range(chosen[outer - 1] + 1, 52):
            ka, ma = base + t.key[a], base_mask + t.mask[a]
            for b in range(a + 1, 52):
                kb, mb = ka + t.key[b], ma + t.mask[b]
                for c in range(b + 1, 52):
                    counts[hand_rank(kb + t.key[c], mb + t.mask[c], t.offset, t.value, t.flush)] += 1
        more = next_combination(chosen, outer, 49)
