"""Compiled loops for buckets that are computed when they are asked for: what one hand is like, and the centre next to it."""

from __future__ import annotations

import numpy as np

from riverboat.cards._kernels.ranking import START, ranked
from riverboat.compiled.jit import kernel, part

SLACK = np.float32(1e-3)  # sums of rows are off by less


@part
def meet_all(
    cards,  # uint8: at 0 two hole cards, then a full board
    t,  # RankTables of seven cards
    group,  # int8 [1326]: of the opponent's hand
    twice,  # float64 [groups] OUT: 2 wins + ties
    met,  # float64 [groups] OUT: hands
):
    """How one hand does against all that share no card with it, group by group."""
    board, board_mask, dead = START, np.uint64(0), np.uint64(0)
    for c in range(2, 7):
        board += t.key[cards[c]]
        board_mask += t.mask[cards[c]]
    for c in range(7):
        dead |= np.uint64(1) << np.uint64(cards[c])
    key = board + t.key[cards[0]] + t.key[cards[1]]
    mine = ranked(key, board_mask + t.mask[cards[0]] + t.mask[cards[1]], t.offset, t.value, t.flush)
    twice[:] = 0.0
    met[:] = 0.0
    for b in range(52):
        if (dead >> np.uint64(b)) & np.uint64(1):
            continue
        high, mask = board + t.key[b], board_mask + t.mask[b]
        for a in range(b):
            if (dead >> np.uint64(a)) & np.uint64(1) == 0:
                other = ranked(high + t.key[a], mask + t.mask[a], t.offset, t.value, t.flush)
                g = group[b * (b - 1) // 2 + a]
                met[g] += 1.0
                twice[g] += np.float64(mine > other) + np.float64(mine >= other)


@kernel
def river_shares(
    deals,  # uint8 [n, 7]: hole cards and board
    t,  # RankTables of seven cards
    group,  # int8 [1326]
    twice,  # float64 [groups] scratch
    met,  # float64 [groups] scratch
    out,  # float64 [n, groups] OUT
):
    """Share of each group that a hand beats, ties half; of all hands where it meets none of a group."""
    for i in range(len(deals)):
        meet_all(deals[i], t, group, twice, met)
        for g in range(len(met)):
            out[i, g] = twice[g] / (2.0 * met[g]) if met[g] > 0 else twice.sum() / (2.0 * met.sum())


@kernel
def turn_histograms(
    deals,  # uint8 [n, 6]: hole cards and board
    t,  # RankTables of seven cards
    group,  # int8 [1326], all zero
    bin_of,  # uint8 [1981]: bin of every river strength
    full,  # uint8 [7] scratch
    twice,  # float64 [1] scratch
    met,  # float64 [1] scratch
    out,  # uint16 [n, bins] INOUT
):
    """Rivers by the strength that a hand has there."""
    for i in range(len(deals)):
        dead = np.uint64(0)
        for c in range(6):
            full[c] = deals[i, c]
            dead |= np.uint64(1) << np.uint64(deals[i, c])
        for river in range(52):
            if (dead >> np.uint64(river)) & np.uint64(1) == 0:
                full[6] = river
                meet_all(full, t, group, twice, met)
                out[i, bin_of[np.int64(twice[0])]] += 1


@kernel
def nearest(
    rows,  # float32 [n, width]
    centres,  # float32 [k, width], by their sums
    sums,  # float32 [k] ascending
    number,  # int32 [k]: which centre each is
    emd,  # L1 distance of rows, else L2
    out,  # int32 [n] OUT: the nearest centre, the lowest of equals
):
    """The nearest centre of each row. Sums of rows differ by no more than their L1 distance, which bounds the search."""
    k, width = centres.shape
    for i in range(len(rows)):
        total = np.float32(0)
        for j in range(width):
            total += rows[i, j]
        high = np.searchsorted(sums, total)
        low = high - 1
        best, label = np.float32(np.inf), np.int32(0)
        while low >= 0 or high < k:
            below = total - sums[low] if low >= 0 else np.float32(np.inf)
            above = sums[high] - total if high < k else np.float32(np.inf)
            gap = min(below, above) - SLACK
            if gap > 0 and (gap if emd else gap * gap / np.float32(width)) > best:
                break
            c = low if below <= above else high
            if below <= above:
                low -= 1
            else:
                high += 1
            d = np.float32(0)
            if emd:
                for j in range(width):
                    d += abs(rows[i, j] - centres[c, j])
            else:
                for j in range(width):
                    d += (rows[i, j] - centres[c, j]) ** 2
            if d < best or (d == best and number[c] < label):
                best, label = d, number[c]
        out[i] = label
