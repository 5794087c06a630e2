"""Compiled loops over cards."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel, part

ROW_BITS = 12  # sums of rank keys are cut into rows of this many bits
START = np.uint64(0x3333 << 32)  # counters of the suits start at three, so that five cards set their top bit
FLUSH = np.uint64(0x8888 << 32)
LOW = np.uint64(0xFFFFFFFF)
COLUMN = np.uint64((1 << ROW_BITS) - 1)
BITS = np.uint64(ROW_BITS)
SUIT = np.uint64(0x1FFF)


@part
def plain_value(key, offset, value):
    """Class of a hand by the sum of its keys, flushes apart."""
    s = key & LOW
    return value[np.int64(offset[s >> BITS]) + np.int64(s & COLUMN)]


@part
def flush_suit(key):
    """Shift of the suit that has five cards."""
    if key & np.uint64(0x8 << 32):
        return np.uint64(0)
    if key & np.uint64(0x80 << 32):
        return np.uint64(16)
    if key & np.uint64(0x800 << 32):
        return np.uint64(32)
    return np.uint64(48)


@part
def ranked(key, mask, offset, value, flush):
    """Class of a hand by the sum of its keys (from START) and of its mask bits."""
    if key & FLUSH:
        return flush[(mask >> flush_suit(key)) & SUIT]
    return plain_value(key, offset, value)


@kernel
def displace(
    sums,  # int64 [entries], row by row, ascending inside a row
    values,  # uint16 [entries], above zero
    offset,  # int32 [rows] OUT
    packed,  # uint16 [room] OUT: starts as zeros
):
    """Place every row at the first shift where its columns meet only free places; the length used."""
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
            place = start + (sums[i] & ((1 << ROW_BITS) - 1))
            packed[place] = values[i]
            used = max(used, place + 1)
        first = last
    return used


@kernel
def first_wrong(cards):  # uint8 [hands, cards]
    """The first hand with a card twice or out of range, or -1."""
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
    key,  # uint64 [52]
    mask,  # uint64 [52]
    offset,  # int32 [rows]
    value,  # uint16 [places]
    flush,  # uint16 [8192]
    flushes,  # whether hands are large enough for flushes
    out,  # uint16 [hands] OUT
):
    """Rank many hands of one size."""
    n = cards.shape[1]
    if n == 7:
        for i in range(len(cards)):
            k = (
                START + key[cards[i, 0]] + key[cards[i, 1]] + key[cards[i, 2]] + key[cards[i, 3]]
                + key[cards[i, 4]] + key[cards[i, 5]] + key[cards[i, 6]]
            )  # fmt: skip
            if k & FLUSH:
                m = np.uint64(0)
                for j in range(7):
                    m += mask[cards[i, j]]
                out[i] = flush[(m >> flush_suit(k)) & SUIT]
            else:
                out[i] = plain_value(k, offset, value)
        return
    for i in range(len(cards)):
        k = START
        m = np.uint64(0)
        for j in range(n):
            k += key[cards[i, j]]
            m += mask[cards[i, j]]
        if flushes:
            out[i] = ranked(k, m, offset, value, flush)
        else:
            out[i] = plain_value(k, offset, value)


@kernel
def count_all(
    cards,  # 5, 6 or 7
    key,  # uint64 [52]
    mask,  # uint64 [52]
    offset,  # int32 [rows]
    value,  # uint16 [places]
    flush,  # uint16 [8192]
    chosen,  # int64 [8] scratch
    counts,  # int64 [classes + 1] INOUT
):
    """Rank every hand of 52 cards and count the classes."""
    outer = cards - 3  # the last three cards are loops of their own
    for k in range(outer):
        chosen[k] = k
    while True:
        base = START
        base_mask = np.uint64(0)
        for k in range(outer):
            base += key[chosen[k]]
            base_mask += mask[chosen[k]]
        for a in range(chosen[outer - 1] + 1, 52):
            ka, ma = base + key[a], base_mask + mask[a]
            for b in range(a + 1, 52):
                kb, mb = ka + key[b], ma + mask[b]
                for c in range(b + 1, 52):
                    counts[ranked(kb + key[c], mb + mask[c], offset, value, flush)] += 1
        # the next combination of the outer cards
        k = outer - 1
        while k >= 0 and chosen[k] == 52 - cards + k:
            k -= 1
        if k < 0:
            return
        chosen[k] += 1
        for j in range(k + 1, outer):
            chosen[j] = chosen[j - 1] + 1
