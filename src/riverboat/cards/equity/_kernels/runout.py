"""Compiled loops over the runouts of given hands: two of them, several, hands drawn from ranges, or all of a street."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.isomorphism import index_one, unindex_one
from riverboat.cards._kernels.ranking import START, ranked
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import random
from riverboat.core.arrays import Array


class Pots(NamedTuple):
    """What several players have won."""

    best: Array  # uint16 [players] scratch
    share: Array  # float64 [players]: pots won, ties divided
    square: Array  # float64 [players]: sum of squares, for the error of samples
    wins: Array  # int64 [players, 2]: pots won alone, pots divided


class NextRoom(NamedTuple):
    """Scratch for going through the next cards of a hand."""

    deal: Array  # uint8 [width + 1]
    suits: Array  # int64 [4]
    colex: Array  # int64 [4, rounds]
    following: Array  # int64 [52]


class Strengths(NamedTuple):
    """Of many hands."""

    mean: Array  # float [hands]
    square: Array  # float [hands]
    histogram: Array  # int [hands, bins]


@part
def compare(a, b, out):
    """Count a win, a tie or a loss."""
    if a > b:
        out[0] += 1
    elif a == b:
        out[1] += 1
    else:
        out[2] += 1


@kernel
def versus(
    first,  # uint8 [2]
    second,  # uint8 [2]
    board,  # uint8 [known]
    gone,  # uint64: a bit for each card that is not in the deck
    t,  # RankTables
    deck,  # uint8 [52] scratch
    chosen,  # int64 [5] scratch
    out,  # int64 [3] INOUT: wins, ties, losses of the first
):
    """Two hands over every runout of a board of none to five cards."""
    key, mask, offset, value, flush = t.key, t.mask, t.offset, t.value, t.flush
    dead = gone
    k1, m1, k2, m2 = START, np.uint64(0), START, np.uint64(0)
    for k in range(2):
        k1 += key[first[k]]
        m1 += mask[first[k]]
        k2 += key[second[k]]
        m2 += mask[second[k]]
        dead |= np.uint64(1) << np.uint64(first[k])
        dead |= np.uint64(1) << np.uint64(second[k])
    for k in range(len(board)):
        k1 += key[board[k]]
        m1 += mask[board[k]]
        k2 += key[board[k]]
        m2 += mask[board[k]]
        dead |= np.uint64(1) << np.uint64(board[k])
    left = 0
    for c in range(52):
        if not (dead >> np.uint64(c)) & np.uint64(1):
            deck[left] = c
            left += 1
    need = 5 - len(board)
    if need == 0:
        compare(ranked(k1, m1, offset, value, flush), ranked(k2, m2, offset, value, flush), out)
        return
    for k in range(need):
        chosen[k] = k
    while True:
        kb, mb = np.uint64(0), np.uint64(0)
        for k in range(need - 1):
            kb += key[deck[chosen[k]]]
            mb += mask[deck[chosen[k]]]
        low = chosen[need - 2] + 1 if need > 1 else 0
        for x in range(low, left):
            kx, mx = kb + key[deck[x]], mb + mask[deck[x]]
            compare(ranked(k1 + kx, m1 + mx, offset, value, flush), ranked(k2 + kx, m2 + mx, offset, value, flush), out)
        # the next combination of all cards but the last
        k = need - 2
        while k >= 0 and chosen[k] == left - need + k:
            k -= 1
        if k < 0:
            return
        chosen[k] += 1
        for j in range(k + 1, need - 1):
            chosen[j] = chosen[j - 1] + 1


@part
def split(
    hands,  # uint8 [players, 2]
    board_key,
    board_mask,
    t,  # RankTables
    times,
    pots,  # Pots INOUT
):
    """Give one pot to the best of several hands."""
    best, players = pots.best, len(hands)
    top = np.uint16(0)
    count = 0
    for p in range(players):
        k = board_key + t.key[hands[p, 0]] + t.key[hands[p, 1]]
        m = board_mask + t.mask[hands[p, 0]] + t.mask[hands[p, 1]]
        best[p] = ranked(k, m, t.offset, t.value, t.flush)
        if best[p] > top:
            top = best[p]
            count = 1
        elif best[p] == top:
            count += 1
    for p in range(players):
        if best[p] == top:
            part_won = times / count
            pots.share[p] += part_won
            pots.square[p] += part_won * part_won
            pots.wins[p, 0 if count == 1 else 1] += 1


@kernel
def multiway(
    hands,  # uint8 [players, 2]
    board,  # uint8 [known]
    gone,  # uint64: a bit for each card that is not in the deck
    t,  # RankTables
    times,
    deck,  # uint8 [52] scratch
    chosen,  # int64 [5] scratch
    pots,  # Pots INOUT
):
    """Several hands over every runout of a board; the number of runouts."""
    dead = gone
    for p in range(len(hands)):
        dead |= np.uint64(1) << np.uint64(hands[p, 0])
        dead |= np.uint64(1) << np.uint64(hands[p, 1])
    base, base_mask = START, np.uint64(0)
    for k in range(len(board)):
        base += t.key[board[k]]
        base_mask += t.mask[board[k]]
        dead |= np.uint64(1) << np.uint64(board[k])
    left = 0
    for c in range(52):
        if not (dead >> np.uint64(c)) & np.uint64(1):
            deck[left] = c
            left += 1
    need = 5 - len(board)
    for k in range(need):
        chosen[k] = k
    runouts = 0
    while True:
        kb, mb = base, base_mask
        for k in range(need):
            kb += t.key[deck[chosen[k]]]
            mb += t.mask[deck[chosen[k]]]
        split(hands, kb, mb, t, times, pots)
        runouts += 1
        k = need - 1
        while k >= 0 and chosen[k] == left - need + k:
            k -= 1
        if k < 0:
            return runouts
        chosen[k] += 1
        for j in range(k + 1, need):
            chosen[j] = chosen[j - 1] + 1


@kernel
def sample_multiway(
    cards,  # uint8 [1326, 2]
    cumulative,  # float64 [players, 1326]: running sums of each range's weights
    board,  # uint8 [known]
    gone,  # uint64: a bit for each card that is not in the deck
    samples,
    t,  # RankTables
    rng,  # uint64 [1] INOUT
    hands,  # uint8 [players, 2] scratch
    pots,  # Pots INOUT
):
    """Several ranges over sampled hands and runouts; hands that collide are drawn again. Draws it took."""
    players = len(hands)
    draws = 0
    done = 0
    while done < samples and draws < 1000 * (samples + 1000):
        draws += 1
        dead = gone
        base, base_mask = START, np.uint64(0)
        for k in range(len(board)):
            base += t.key[board[k]]
            base_mask += t.mask[board[k]]
            dead |= np.uint64(1) << np.uint64(board[k])
        fits = True
        for p in range(players):
            x = random(rng) * cumulative[p, 1325]
            low, high = 0, 1325
            while low < high:
                middle = (low + high) // 2
                if cumulative[p, middle] > x:
                    high = middle
                else:
                    low = middle + 1
            a, b = cards[low, 0], cards[low, 1]
            two = (np.uint64(1) << np.uint64(a)) | (np.uint64(1) << np.uint64(b))
            if dead & two:
                fits = False
                break
            dead |= two
            hands[p, 0] = a
            hands[p, 1] = b
        if not fits:
            continue
        for _ in range(5 - len(board)):
            c = np.uint64(random(rng) * 52)
            while (dead >> c) & np.uint64(1):
                c = np.uint64(random(rng) * 52)
            dead |= np.uint64(1) << c
            base += t.key[c]
            base_mask += t.mask[c]
        split(hands, base, base_mask, t, 1.0, pots)
        done += 1
    return draws


@kernel
def sum_next(
    here,  # IndexTables of a street
    after,  # IndexTables of the next, which deals one card more
    first,  # canonical hands first, first + 1, … of this street
    width,  # cards of a deal on this street
    room,  # NextRoom
    known,  # Strengths of the next street's hands
    out,  # Strengths OUT
):
    """Over all next cards of each hand: mean values, and the sum of the histograms."""
    deal, following = room.deal, room.following
    for i in range(len(out.mean)):
        unindex_one(here, first + i, room.suits, room.colex, deal, 0)
        cards = 0
        for c in range(52):
            free = True
            for k in range(width):
                free = free and deal[k] != c
            if free:
                deal[width] = c
                following[cards] = index_one(after, deal, 0)
                cards += 1
        out.mean[i] = 0.0
        out.square[i] = 0.0
        for c in range(cards):
            j = following[c]
            out.mean[i] += known.mean[j]
            out.square[i] += known.square[j]
            for b in range(known.histogram.shape[1]):
                out.histogram[i, b] += known.histogram[j, b]
        out.mean[i] /= cards
        out.square[i] /= cards
