"""Compiled counts of the showdown orders of three hands on a board, for all triples of classes at once.

The kernel visits the hands on a board from weak to strong. For each middle hand h2 it counts the hands of each class
above, level with and below h2, without those that share a card with h2; products of the counts are triples. Triples
whose first and third hand share a card must be subtracted: they are products of the counts of hands that hold the card.
The caller computes the largest product, all hands above times all hands below, as a product of matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import SIMD_WIDTH, broadcast, load, store
from riverboat.core.arrays import Array

NONE = 255  # rank of a card that is not in the deck
U = np.uint64
L = U(SIMD_WIDTH)


class DeckHandArrays(NamedTuple):
    """Hands of a deck with their classes, and the classes that hold each rank."""

    cards: Array  # uint8 [hands, 2]
    number: Array  # int16 [52, 52]: hand of two cards, -1 if there is none
    group: Array  # int16 [hands]: class
    local: Array  # uint8 [hands, 2]: index of the hand's class in `member[rank]`, for each of its two cards
    rank: Array  # uint8 [52]: rank of each card, from 0
    member: Array  # int16 [ranks, most]: classes that hold a rank, padded with -1


class OrderWorkspace(NamedTuple):
    """Scratch memory of one thread: counts of hands by class, padded with zeros.

    The first axis is above [0] and below [1] the middle hand. `…_by` counts the hands that hold a card, by their index
    among the classes of the card's rank.
    """

    every: Array  # float32 [2, classes]: all hands above or below the current strength
    every_by: Array  # float32 [2, 52, most]
    counts: Array  # float32 [3, classes]: hands that share no card with the middle hand; the third: level with it
    counts_by: Array  # float32 [3, 52, most]
    tied: Array  # int16 [hands]: hands level with the middle one
    place: Array  # int64 [classes]: next output row of each class
    mark: Array  # int64 [1 + classes]: counter of middle hands; its value when a class was last visited


class TripleSums(NamedTuple):
    """Counts of triples by the class of the middle hand, of the first and of the third; the last axis is padded."""

    tie: Array  # float32 [3, classes, classes, classes] INOUT: first level with the middle, third above, below, level
    # Pairs of first and third hand that share a card, to be subtracted: first above and third below, then as in `tie`.
    shared: Array  # float32 [4, classes, ranks, most, most] INOUT


@inline
def count_hand(hands, h, side, sign, counts, by):
    """Add hand h to the counts of a side (above, below, level), or remove it (sign -1)."""
    counts[side, hands.group[h]] += sign
    for s in range(2):
        by[side, hands.cards[h, s], hands.local[h, s]] += sign


@inline
def copy_vector(source, at, count, out, to):
    """Copy `count` numbers from `source[at:]` to `out[to:]`, in SIMD vectors of 16."""
    for k in range(U(0), U(count), L):
        store(out, U(to) + k, load(source, U(at) + k))


@inline
def add_scaled(source, at, count, times, out, to):
    """Add `times` × `source[at:]` to `out[to:]` for `count` numbers, in SIMD vectors of 16."""
    factor = broadcast(out, times)
    for k in range(U(0), U(count), L):
        store(out, U(to) + k, load(out, U(to) + k) + factor * load(source, U(at) + k))


@inline
def count_around(hands, strength, h2, workspace):
    """Count the hands above and below the middle hand h2 that share no card with it, from the counts of all hands."""
    count, by = workspace.counts, workspace.counts_by
    copy_vector(workspace.every, 0, workspace.every.size, count, 0)
    copy_vector(workspace.every_by, 0, workspace.every_by.size, by, 0)
    middle = strength[h2]
    for s in range(2):
        card, other = hands.cards[h2, s], hands.cards[h2, 1 - s]
        for c in range(52):
            h = hands.number[card, c]
            if h < 0 or c == other or strength[h] == 0 or strength[h] == middle:
                continue
            side = 0 if strength[h] > middle else 1
            count[side, hands.group[h]] -= 1
            by[side, c, hands.local[h, 0 if hands.cards[h, 0] == c else 1]] -= 1


@inline
def find_ties(hands, order, low, high, h2, workspace):
    """Store the hands in `order[low:high]`, all as strong as h2, that share no card with it; return their number."""
    ties = 0
    p, q = hands.cards[h2, 0], hands.cards[h2, 1]
    for k in range(low, high):
        h = order[k]
        a, b = hands.cards[h, 0], hands.cards[h, 1]
        if a != p and a != q and b != p and b != q:
            workspace.tied[ties] = h
            ties += 1
    return ties


@inline
def count_level_hands(hands, workspace, ties):
    """Count the hands level with the middle one, as `find_ties` stored them."""
    for k in range(ties):
        count_hand(hands, workspace.tied[k], 2, np.float32(1), workspace.counts, workspace.counts_by)


@inline
def clear_level_hands(hands, workspace, ties):
    """Reset the counts of level hands to zero before the next middle hand."""
    for k in range(ties):
        h = workspace.tied[k]
        workspace.counts[2, hands.group[h]] = 0
        for s in range(2):
            workspace.counts_by[2, hands.cards[h, s], hands.local[h, s]] = 0


@inline
def add_shared(hands, b, dead, times, workspace, out):
    """Add, for middle class b, the pairs of a hand above and a hand below that share a card; they are subtracted later.

    `dead`: bit set of the cards on the board and in the middle hand.
    """
    by = workspace.counts_by
    most, ranks = by.shape[2], out.shape[2]
    for x in range(52):
        if hands.rank[x] == NONE or (dead >> U(x)) & U(1):
            continue
        first = (b * ranks + np.int64(hands.rank[x])) * most
        for k in range(most):
            u = by[0, x, k] * times
            if u != 0:
                add_scaled(by, (52 + x) * most, most, u, out, (first + k) * most)


@inline
def add_ties(hands, b, times, workspace, ties, sums):
    """Add triples whose first hand ties with the middle one and whose third hand is above, below or level.

    Also add the pairs of first and third hands that share a card.
    """
    by, mark, classes, ranks = workspace.counts_by, workspace.mark, workspace.counts.shape[1], sums.shared.shape[2]
    most, middles = by.shape[2], sums.shared.shape[1]
    mark[0] += 1
    for k in range(ties):
        t = workspace.tied[k]
        a = np.int64(hands.group[t])
        if mark[a + 1] != mark[0]:  # first of its class
            mark[a + 1] = mark[0]
            for side in range(3):
                to = ((side * middles + b) * sums.tie.shape[2] + a) * classes
                add_scaled(workspace.counts, side * classes, classes, times * workspace.counts[2, a], sums.tie, to)
        for s in range(2):
            x = np.int64(hands.cards[t, s])
            for side in range(3):
                to = ((side + 1) * middles + b) * ranks + np.int64(hands.rank[x])
                to = (to * most + np.int64(hands.local[t, s])) * most
                add_scaled(by, (side * 52 + x) * most, most, times, sums.shared, to)
        sums.tie[2, b, a, a] += times  # a hand with itself is subtracted for each of its two cards; once is right


@kernel
def count_triples(
    hands,  # DeckHandArrays
    boards,  # uint8 [boards, 5]
    times,  # int32 [boards]: number of isomorphic boards
    strengths,  # uint16 [boards, hands]: zero where a board holds one of the cards
    orders,  # int16 [boards, hands]: from weak to strong, those with strength zero first
    above,  # float32 [rows, padded classes] OUT: counts above each hand, rows by class, then by board
    below,  # float32 [rows, padded classes] OUT: counts below it, times the number of isomorphic boards
    workspace,  # OrderWorkspace
    sums,  # TripleSums INOUT
):
    """Count showdown orders of three hands on boards by class: ties, shared cards, and hands above and below each hand.

    The caller multiplies `above` and `below` for the strict orders. `workspace.place` has the first row of each class.
    """
    up, down, wide = np.float32(1), np.float32(-1), workspace.counts.shape[1]
    for i in range(len(boards)):
        strength, order, weight = strengths[i], orders[i], np.float32(times[i])
        dead = U(0)
        for k in range(boards.shape[1]):
            dead |= U(1) << U(boards[i, k])
        workspace.every[:, :] = 0
        workspace.every_by[:, :, :] = 0
        low = 0
        while low < len(order) and strength[order[low]] == 0:
            low += 1
        for k in range(low, len(order)):
            count_hand(hands, order[k], 0, up, workspace.every, workspace.every_by)
        while low < len(order):
            high = low
            while high < len(order) and strength[order[high]] == strength[order[low]]:
                count_hand(hands, order[high], 0, down, workspace.every, workspace.every_by)
                high += 1
            for k in range(low, high):
                h2 = np.int64(order[k])
                b = np.int64(hands.group[h2])
                count_around(hands, strength, h2, workspace)
                row = workspace.place[b]
                workspace.place[b] += 1
                copy_vector(workspace.counts, 0, wide, above, row * wide)
                for c in range(wide):
                    below[row, c] = workspace.counts[1, c] * weight
                taken = dead | U(1) << U(hands.cards[h2, 0]) | U(1) << U(hands.cards[h2, 1])
                add_shared(hands, b, taken, weight, workspace, sums.shared)
                ties = find_ties(hands, order, low, high, h2, workspace)
                if ties:
                    count_level_hands(hands, workspace, ties)
                    add_ties(hands, b, weight, workspace, ties, sums)
                    clear_level_hands(hands, workspace, ties)
            for k in range(low, high):
                count_hand(hands, order[k], 1, up, workspace.every, workspace.every_by)
            low = high


@kernel
def count_pairs(
    hands,  # DeckHandArrays
    times,  # int32 [boards]
    strengths,  # uint16 [boards, hands]
    orders,  # int16 [boards, hands]
    workspace,  # OrderWorkspace
    wins,  # float64 [classes, padded classes] INOUT: hands of the second class below one of the first
    ties,  # float64 […] INOUT: level with it
):
    """Count, by class, the deals of two hands and a board in which the first hand wins, and those in which they tie."""
    up, wide = np.float32(1), workspace.counts.shape[1]
    for i in range(len(times)):
        strength, order, weight = strengths[i], orders[i], np.float64(times[i])
        workspace.every[:, :] = 0
        low = 0
        while low < len(order) and strength[order[low]] == 0:
            low += 1
        while low < len(order):
            high = low
            while high < len(order) and strength[order[high]] == strength[order[low]]:
                workspace.every[0, hands.group[order[high]]] += up  # counted as level until the group is done
                high += 1
            for k in range(low, high):
                h = np.int64(order[k])
                a, own = np.int64(hands.group[h]), strength[h]
                for c in range(wide):
                    wins[a, c] += weight * workspace.every[1, c]
                    ties[a, c] += weight * workspace.every[0, c]
                ties[a, a] += weight  # the hand itself is subtracted below for each of its two cards
                for s in range(2):
                    for x in range(52):
                        other = hands.number[hands.cards[h, s], x]
                        if other >= 0 and 0 < strength[other] <= own:
                            if strength[other] < own:
                                wins[a, hands.group[other]] -= weight
                            else:
                                ties[a, hands.group[other]] -= weight
            for k in range(low, high):
                workspace.every[0, hands.group[order[k]]] -= up
                workspace.every[1, hands.group[order[k]]] += up
            low = high
