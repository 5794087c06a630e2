"""Compiled counts of how three hands stand to one another on a board: for all triples of classes at once.

The hands that a board leaves are gone through from weak to strong. With the hand in the middle, h2, fixed, the hands of
each class above it, level with it and below it are counted, those that share a card with it left out; products of the
counts are triples. What is left to take away are triples whose first and third hand share a card: products of the counts of
hands that hold the card. The largest product, all hands above times all hands below, is left to the caller as a product of
matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import LANES, load, same, store
from riverboat.core.arrays import Array

NONE = 255  # the rank of a card that is not in the deck
U = np.uint64
L = U(LANES)


class Hands(NamedTuple):
    """Hands and classes of a deck."""

    cards: Array  # uint8 [hands, 2]
    number: Array  # int16 [52, 52]: the hand of two cards; -1 where there is none
    group: Array  # int16 [hands]: its class
    local: Array  # uint8 [hands, 2]: its class among those that hold the first card's rank, and the second's
    rank: Array  # uint8 [52]: of each card, counted from 0
    member: Array  # int16 [ranks, most]: classes that hold a rank; -1 behind the last


class Room(NamedTuple):
    """Counts, for one thread. [2]: above, below. By class, and for each card by its classes; padded with zeros."""

    every: Array  # float32 [2, classes]: all hands above or below the group
    every_by: Array  # float32 [2, 52, most]
    counts: Array  # float32 [3, classes]: those that share no card with the middle hand; the third: level with it
    counts_by: Array  # float32 [3, 52, most]
    tied: Array  # int16 [hands]: hands level with the middle one
    place: Array  # int64 [classes]: where the next row of a class goes
    mark: Array  # int64 [1 + classes]: the number of the middle hand; that at which a class was met last


class Sums(NamedTuple):
    """Counts of triples by the class of the middle hand, of the first and of the third; the last axis is padded."""

    tie: Array  # float32 [3, classes, classes, classes] INOUT: first level with the middle, third above, below, level
    shared: (
        Array  # float32 [4, classes, ranks, most, most] INOUT: pairs of first and third hand that share a card, to be
    )
    #                taken away: of first above and third below, then of the three of `tie`


@part
def move(hands, h, side, sign, counts, by):
    """Count a hand, or no longer."""
    counts[side, hands.group[h]] += sign
    for s in range(2):
        by[side, hands.cards[h, s], hands.local[h, s]] += sign


@part
def copy(source, at, count, out, to):
    """Copy numbers, in sixteens."""
    for k in range(U(0), U(count), L):
        store(out, U(to) + k, load(source, U(at) + k))


@part
def add(source, at, count, times, out, to):
    """Add numbers times a factor, in sixteens."""
    factor = same(out, times)
    for k in range(U(0), U(count), L):
        store(out, U(to) + k, load(out, U(to) + k) + factor * load(source, U(at) + k))


@part
def look_around(hands, strength, h2, room):
    """Counts above, level and below for one middle hand, from those of all hands."""
    count, by = room.counts, room.counts_by
    copy(room.every, 0, room.every.size, count, 0)
    copy(room.every_by, 0, room.every_by.size, by, 0)
    mine = strength[h2]
    for s in range(2):
        card, other = hands.cards[h2, s], hands.cards[h2, 1 - s]
        for c in range(52):
            h = hands.number[card, c]
            if h < 0 or c == other or strength[h] == 0 or strength[h] == mine:
                continue
            side = 0 if strength[h] > mine else 1
            count[side, hands.group[h]] -= 1
            by[side, c, hands.local[h, 0 if hands.cards[h, 0] == c else 1]] -= 1


@part
def ties_of(hands, order, low, high, h2, room):
    """The hands of a group that leave the middle one's cards; how many."""
    ties = 0
    p, q = hands.cards[h2, 0], hands.cards[h2, 1]
    for k in range(low, high):
        h = order[k]
        a, b = hands.cards[h, 0], hands.cards[h, 1]
        if a != p and a != q and b != p and b != q:
            room.tied[ties] = h
            ties += 1
    return ties


@part
def level(hands, room, ties):
    """Counts of the hands level with the middle one, or of none any more."""
    for k in range(ties):
        move(hands, room.tied[k], 2, np.float32(1), room.counts, room.counts_by)


@part
def forget(hands, room, ties):
    """No hands are level."""
    for k in range(ties):
        h = room.tied[k]
        room.counts[2, hands.group[h]] = 0
        for s in range(2):
            room.counts_by[2, hands.cards[h, s], hands.local[h, s]] = 0


@part
def add_shared(hands, b, dead, times, room, out):
    """Above × below that hold the same card."""
    by = room.counts_by
    most, ranks = by.shape[2], out.shape[2]
    for x in range(52):
        if hands.rank[x] == NONE or (dead >> U(x)) & U(1):
            continue
        first = (b * ranks + np.int64(hands.rank[x])) * most
        for k in range(most):
            u = by[0, x, k] * times
            if u != 0:
                add(by, (52 + x) * most, most, u, out, (first + k) * most)


@part
def add_ties(hands, b, times, room, ties, sums):
    """First level with the middle hand, third above, below or level; and those of them that share a card."""
    by, mark, classes, ranks = room.counts_by, room.mark, room.counts.shape[1], sums.shared.shape[2]
    most, middles = by.shape[2], sums.shared.shape[1]
    mark[0] += 1
    for k in range(ties):
        t = room.tied[k]
        a = np.int64(hands.group[t])
        if mark[a + 1] != mark[0]:  # the first of its class
            mark[a + 1] = mark[0]
            for side in range(3):
                to = ((side * middles + b) * sums.tie.shape[2] + a) * classes
                add(room.counts, side * classes, classes, times * room.counts[2, a], sums.tie, to)
        for s in range(2):
            x = np.int64(hands.cards[t, s])
            for side in range(3):
                to = ((side + 1) * middles + b) * ranks + np.int64(hands.rank[x])
                to = (to * most + np.int64(hands.local[t, s])) * most
                add(by, (side * 52 + x) * most, most, times, sums.shared, to)
        sums.tie[2, b, a, a] += times  # a hand with itself is taken away for each of its cards, and once is enough


@kernel
def count_triples(
    hands,  # Hands
    boards,  # uint8 [boards, 5]
    times,  # int32 [boards]: how many boards each stands for
    strengths,  # uint16 [boards, hands]: zero where a board holds one of the cards
    orders,  # int16 [boards, hands]: from weak to strong, those with strength zero first
    above,  # float32 [rows, padded classes] OUT: counts above each hand, rows by class, then by board
    below,  # float32 [rows, padded classes] OUT: counts below it, times the boards
    room,  # Room
    sums,  # Sums INOUT
):
    """Triples on some boards. `room.place` says where the rows of each class begin."""
    up, one, wide = np.float32(1), np.float32(-1), room.counts.shape[1]
    for i in range(len(boards)):
        strength, order, weight = strengths[i], orders[i], np.float32(times[i])
        dead = U(0)
        for k in range(boards.shape[1]):
            dead |= U(1) << U(boards[i, k])
        room.every[:, :] = 0
        room.every_by[:, :, :] = 0
        low = 0
        while low < len(order) and strength[order[low]] == 0:
            low += 1
        for k in range(low, len(order)):
            move(hands, order[k], 0, up, room.every, room.every_by)
        while low < len(order):
            high = low
            while high < len(order) and strength[order[high]] == strength[order[low]]:
                move(hands, order[high], 0, one, room.every, room.every_by)
                high += 1
            for k in range(low, high):
                h2 = np.int64(order[k])
                b = np.int64(hands.group[h2])
                look_around(hands, strength, h2, room)
                row = room.place[b]
                room.place[b] += 1
                copy(room.counts, 0, wide, above, row * wide)
                for c in range(wide):
                    below[row, c] = room.counts[1, c] * weight
                taken = dead | U(1) << U(hands.cards[h2, 0]) | U(1) << U(hands.cards[h2, 1])
                add_shared(hands, b, taken, weight, room, sums.shared)
                ties = ties_of(hands, order, low, high, h2, room)
                if ties:
                    level(hands, room, ties)
                    add_ties(hands, b, weight, room, ties, sums)
                    forget(hands, room, ties)
            for k in range(low, high):
                move(hands, order[k], 1, up, room.every, room.every_by)
            low = high


@kernel
def count_pairs(
    hands,  # Hands
    times,  # int32 [boards]
    strengths,  # uint16 [boards, hands]
    orders,  # int16 [boards, hands]
    room,  # Room
    wins,  # float64 [classes, padded classes] INOUT: hands of the second class below one of the first
    ties,  # float64 […] INOUT: level with it
):
    """Pairs of hands on some boards."""
    up, wide = np.float32(1), room.counts.shape[1]
    for i in range(len(times)):
        strength, order, weight = strengths[i], orders[i], np.float64(times[i])
        room.every[:, :] = 0
        low = 0
        while low < len(order) and strength[order[low]] == 0:
            low += 1
        while low < len(order):
            high = low
            while high < len(order) and strength[order[high]] == strength[order[low]]:
                room.every[0, hands.group[order[high]]] += up  # level, for now
                high += 1
            for k in range(low, high):
                h = np.int64(order[k])
                a, mine = np.int64(hands.group[h]), strength[h]
                for c in range(wide):
                    wins[a, c] += weight * room.every[1, c]
                    ties[a, c] += weight * room.every[0, c]
                ties[a, a] += weight  # itself is taken away for each of its cards
                for s in range(2):
                    for x in range(52):
                        other = hands.number[hands.cards[h, s], x]
                        if other >= 0 and 0 < strength[other] <= mine:
                            if strength[other] < mine:
                                wins[a, hands.group[other]] -= weight
                            else:
                                ties[a, hands.group[other]] -= weight
            for k in range(low, high):
                room.every[0, hands.group[order[k]]] -= up
                room.every[1, hands.group[order[k]]] += up
            low = high
