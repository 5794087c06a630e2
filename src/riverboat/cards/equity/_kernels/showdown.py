"""Compiled loops over boards: the strengths of all hands, and what each is worth against all others, in O(n).

Hands are 0 … 1325 in the project's order. On one board they are sorted by strength once; then a sweep keeps how much of
the opponent's weight lies below, in all and by card, so that hands which share a card can be taken out again. For one range
that is `riverboat.cards.equity._kernels.sweep`. `count_wins` counts whole hands, in integers; `group_wins` and `class_boards` sweep
for all groups of hands side by side: the same idea, for other numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import START, ranked
from riverboat.cards.equity._kernels.sweep import meets, sweep
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

BLOCKED = np.uint16(0)
DECK = np.arange(52)
MEETS = 990  # hands that share no card with a hand and a full board


class Scratch(NamedTuple):
    """Room for one board."""

    strength: Array  # uint16 [1326]: class, BLOCKED where the board holds one of the cards
    order: Array  # int16 [1326]: the live hands from weak to strong
    spare: Array  # int16 [1326]
    digits: Array  # int64 [257]
    twice: Array  # int32 [1326]: 2 wins + ties
    below: Array  # float64 [groups, 52]: weight of weaker hands, by card
    equal: Array  # float64 [groups, 52]
    total: Array  # float64 [groups, 3]: weight in all, below, equal
    first: Array  # uint8 [1326]: cards of the live hands, from weak to strong
    second: Array  # uint8 [1326]
    rank: Array  # uint16 [1326]: their strength
    reach: Array  # float64 [1326]: the opponent's weight
    beats: Array  # float64 [1326]


def scratch(groups: int = 1) -> Scratch:
    """Room for one board, with the opponent's hands in this many groups."""
    return Scratch(
        np.zeros(1326, np.uint16),
        np.zeros(1326, np.int16),
        np.zeros(1326, np.int16),
        np.zeros(257, np.int64),
        np.zeros(1326, np.int32),
        np.zeros((groups, 52)),
        np.zeros((groups, 52)),
        np.zeros((groups, 3)),
        np.zeros(1326, np.uint8),
        np.zeros(1326, np.uint8),
        np.zeros(1326, np.uint16),
        np.zeros(1326),
        np.zeros(1326),
    )


@kernel
def sort_hands(
    cards5,  # (five card numbers)
    t,  # RankTables of seven cards
    s,  # Scratch: strength and order OUT
):
    """Rank every hand on a full board and sort the live ones by two passes over bytes; how many are live."""
    key, mask, offset, value, flush = t.key, t.mask, t.offset, t.value, t.flush
    strength, order, spare, count = s.strength, s.order, s.spare, s.digits
    base = START
    base_mask = np.uint64(0)
    dead = np.uint64(0)
    for k in range(5):
        base += key[cards5[k]]
        base_mask += mask[cards5[k]]
        dead |= np.uint64(1) << np.uint64(cards5[k])
    live = 0
    for i in range(257):
        count[i] = 0
    h = 0
    for b in range(52):
        if (dead >> np.uint64(b)) & np.uint64(1):
            for _ in range(b):
                strength[h] = BLOCKED
                h += 1
            continue
        kb, mb = base + key[b], base_mask + mask[b]
        for a in range(b):
            if (dead >> np.uint64(a)) & np.uint64(1):
                strength[h] = BLOCKED
            else:
                v = ranked(kb + key[a], mb + mask[a], offset, value, flush)
                strength[h] = v
                spare[live] = h
                live += 1
                count[(v & 255) + 1] += 1
            h += 1
    for i in range(256):
        count[i + 1] += count[i]
    for i in range(live):
        h = spare[i]
        d = strength[h] & 255
        order[count[d]] = h
        count[d] += 1
    for i in range(257):
        count[i] = 0
    for i in range(live):
        count[(strength[order[i]] >> 8) + 1] += 1
    for i in range(256):
        count[i + 1] += count[i]
    for i in range(live):
        h = order[i]
        d = strength[h] >> 8
        spare[count[d]] = h
        count[d] += 1
    for i in range(live):
        order[i] = spare[i]
    return live


@part
def count_wins(
    cards,  # uint8 [1326, 2]
    live,
    below_card,  # int32 [52] scratch
    s,  # Scratch: twice OUT
):
    """Twice the wins plus the ties of every live hand against all that share no card with it."""
    strength, order, twice = s.strength, s.order, s.twice
    for c in range(52):
        below_card[c] = 0
    i = 0
    while i < live:
        j = i
        v = strength[order[i]]
        # before its group is added a hand loses to it; half way between before and after is wins plus half the ties
        while j < live and strength[order[j]] == v:
            h = order[j]
            twice[h] = i - below_card[cards[h, 0]] - below_card[cards[h, 1]]
            j += 1
        for k in range(i, j):
            h = order[k]
            below_card[cards[h, 0]] += 1
            below_card[cards[h, 1]] += 1
        for k in range(i, j):
            h = order[k]
            twice[h] += j - below_card[cards[h, 0]] - below_card[cards[h, 1]] + 1  # itself, taken out twice
        i = j


@part
def weigh_wins(
    cards,  # uint8 [1326, 2]
    live,
    weight,  # float64 [1326]: the opponent's range
    times,
    s,  # Scratch
    won,  # float64 [1326] INOUT: weight beaten plus half the weight tied
    met,  # float64 [1326] INOUT: weight that shares no card
):
    """Add, for every live hand, what it wins of the opponent's range and how much of the range it meets."""
    order, sums = s.order, s.below[0]
    for k in range(live):
        h = order[k]
        s.first[k], s.second[k], s.rank[k], s.reach[k] = cards[h, 0], cards[h, 1], s.strength[h], weight[h]
    total = sweep(DECK, s.first, s.second, s.rank, True, live, s.reach, sums, s.beats, 0.0)
    for k in range(live):
        h = order[k]
        won[h] += 0.5 * times * s.beats[k]
        met[h] += times * meets(s.first, s.second, True, k, s.reach, sums, total)


@kernel
def range_boards(
    boards,  # uint8 [boards, 5]
    times,  # float64 [boards]: how often each counts
    cards,  # uint8 [1326, 2]
    t,  # RankTables
    weight,  # float64 [1326]: the opponent's range
    s,  # Scratch
    won,  # float64 [1326] INOUT
    met,  # float64 [1326] INOUT
):
    """What every hand wins of a range over a list of boards."""
    for i in range(len(boards)):
        live = sort_hands(boards[i], t, s)
        weigh_wins(cards, live, weight, times[i], s, won, met)


@kernel
def strength_boards(
    boards,  # uint8 [boards, 5]
    cards,  # uint8 [1326, 2]
    t,  # RankTables
    s,  # Scratch
    below_card,  # int32 [52] scratch
    out,  # uint16 [boards, 1326] OUT: 2 wins + ties of MEETS, 65535 where the board blocks the hand
):
    """River strength of every hand on every board."""
    for i in range(len(boards)):
        live = sort_hands(boards[i], t, s)
        count_wins(cards, live, below_card, s)
        for h in range(1326):
            out[i, h] = s.twice[h] if s.strength[h] != BLOCKED else 65535


@kernel
def runout_features(
    boards,  # uint8 [boards, 3 or 4]
    cards,  # uint8 [1326, 2]
    t,  # RankTables
    s,  # Scratch
    below_card,  # int32 [52] scratch
    full,  # uint8 [5] scratch
    bin_of,  # uint8 [2 * MEETS + 1]: bin of every river strength
    histogram,  # uint16 [boards, 1326, bins] INOUT
    mean,  # int64 [boards, 1326] INOUT: sum of 2 wins + ties over the runouts
    square,  # int64 [boards, 1326] INOUT: sum of its square
):
    """River strengths of every hand over all runouts of flops or turns."""
    known = boards.shape[1]
    for i in range(len(boards)):
        dead = np.uint64(0)
        for k in range(known):
            full[k] = boards[i, k]
            dead |= np.uint64(1) << np.uint64(boards[i, k])
        for x in range(52):
            if (dead >> np.uint64(x)) & np.uint64(1):
                continue
            full[known] = x
            for y in range(x + 1 if known == 3 else 51, 52):
                if known == 3:
                    if (dead >> np.uint64(y)) & np.uint64(1):
                        continue
                    full[4] = y
                live = sort_hands(full, t, s)
                count_wins(cards, live, below_card, s)
                for k in range(live):
                    h = s.order[k]
                    v = s.twice[h]
                    histogram[i, h, bin_of[v]] += 1
                    mean[i, h] += v
                    square[i, h] += np.int64(v) * v


@part
def group_wins(
    cards,  # uint8 [1326, 2]
    live,
    group,  # int8 [1326]: group of the opponent's hand
    s,  # Scratch with one row for each group
    won,  # float64 [1326, groups] OUT: share of each group beaten, ties half; -1 where it cannot be met
):
    """How every live hand does against each group of hands."""
    strength, order, below, equal, total = s.strength, s.order, s.below, s.equal, s.total
    groups = won.shape[1]
    for g in range(groups):
        total[g, 0] = 0.0
        total[g, 1] = 0.0
        for c in range(52):
            below[g, c] = 0.0
            equal[g, c] = 0.0
    for k in range(live):
        h = order[k]
        g = group[h]
        total[g, 0] += 1.0
        equal[g, cards[h, 0]] += 1.0
        equal[g, cards[h, 1]] += 1.0
    i = 0
    while i < live:
        j = i
        v = strength[order[i]]
        while j < live and strength[order[j]] == v:
            h = order[j]
            a, b = cards[h, 0], cards[h, 1]
            for g in range(groups):
                won[h, g] = total[g, 1] - below[g, a] - below[g, b]
            j += 1
        for k in range(i, j):
            h = order[k]
            g = group[h]
            total[g, 1] += 1.0
            below[g, cards[h, 0]] += 1.0
            below[g, cards[h, 1]] += 1.0
        for k in range(i, j):
            h = order[k]
            a, b = cards[h, 0], cards[h, 1]
            all_won, all_met = 0.0, 0.0
            for g in range(groups):
                own = 1.0 if group[h] == g else 0.0  # itself, taken out twice
                after = total[g, 1] - below[g, a] - below[g, b] + own
                met = total[g, 0] - equal[g, a] - equal[g, b] + own
                wins = 0.5 * (won[h, g] + after)
                all_won += wins
                all_met += met
                won[h, g] = wins / met if met > 0 else -1.0
            for g in range(groups):
                if won[h, g] < 0:
                    won[h, g] = all_won / all_met
        i = j


@kernel
def group_boards(
    boards,  # uint8 [boards, 3 to 5]
    cards,  # uint8 [1326, 2]
    group,  # int8 [1326]
    t,  # RankTables
    s,  # Scratch with one row for each group
    full,  # uint8 [5] scratch
    won,  # float64 [1326, groups] scratch
    out,  # float64 [boards, 1326, groups] INOUT: summed over the runouts
):
    """How every hand does against each group of hands, over all runouts of a board."""
    known = boards.shape[1]
    for i in range(len(boards)):
        dead = np.uint64(0)
        for k in range(known):
            full[k] = boards[i, k]
            dead |= np.uint64(1) << np.uint64(boards[i, k])
        for x in range(52 if known < 5 else 1):
            if known < 5:
                if (dead >> np.uint64(x)) & np.uint64(1):
                    continue
                full[known] = x
            for y in range(x + 1 if known == 3 else 51, 52):
                if known == 3:
                    if (dead >> np.uint64(y)) & np.uint64(1):
                        continue
                    full[4] = y
                live = sort_hands(full, t, s)
                group_wins(cards, live, group, s, won)
                for k in range(live):
                    h = s.order[k]
                    for g in range(out.shape[2]):
                        out[i, h, g] += won[h, g]


@kernel
def class_boards(
    boards,  # uint8 [boards, 5]
    times,  # int64 [boards]
    cards,  # uint8 [1326, 2]
    group,  # int16 [1326]: class of every hand, 0 … 168
    t,  # RankTables
    s,  # Scratch
    below,  # int32 [53, 169] scratch: weaker hands by class; row c: those that hold card c, row 52: all
    twice,  # int64 [169, 169] INOUT: 2 wins + ties of class against class
):
    """All classes of starting hands against one another."""
    strength, order = s.strength, s.order
    for i in range(len(boards)):
        live = sort_hands(boards[i], t, s)
        for c in range(53):
            for g in range(169):
                below[c, g] = 0
        first = 0
        while first < live:
            last = first
            v = strength[order[first]]
            while last < live and strength[order[last]] == v:
                h = order[last]
                a, b, mine = cards[h, 0], cards[h, 1], group[h]
                for g in range(169):
                    twice[mine, g] += times[i] * np.int64(below[52, g] - below[a, g] - below[b, g])
                last += 1
            for k in range(first, last):
                h = order[k]
                g = group[h]
                below[cards[h, 0], g] += 1
                below[cards[h, 1], g] += 1
                below[52, g] += 1
            for k in range(first, last):
                h = order[k]
                a, b, mine = cards[h, 0], cards[h, 1], group[h]
                for g in range(169):
                    twice[mine, g] += times[i] * np.int64(below[52, g] - below[a, g] - below[b, g])
                twice[mine, mine] += times[i]  # itself, taken out twice
            first = last
