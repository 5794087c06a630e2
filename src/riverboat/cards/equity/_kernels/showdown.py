"""Kernels over boards: strengths of all hands, and showdowns of each hand against all others, in O(n) per board.

Hands are 0 … 1325 in the project's order. On each board they are sorted by strength once. One pass from weak to strong
then maintains the opponent's weight below the current hand, in total and by card, so that hands which share a card can
be subtracted (Johanson et al. 2011). For one range that is `riverboat.cards.equity._kernels.showdown_values`.
`count_wins` counts hands in integers; `equity_against_groups` and `class_wins_on_boards` do all groups of hands in the
same pass. The last section computes the strength of hands on boards that may be incomplete.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import board_keys, hand_rank, list_free_cards, next_combination, rank_by_keys
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels.showdown_values import compatible_reach, showdown_wins, sort_by_strength
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

U = np.uint64
BLOCKED = np.uint16(0)
DECK_CARDS = np.arange(52)
OPPONENT_HANDS = 990  # hands that share no card with a hand and a full board


class ShowdownScratch(NamedTuple):
    """Scratch memory for one board."""

    strength: Array  # uint16 [1326]: class, BLOCKED for hands that share a card with the board
    order: Array  # int16 [1326]: the live hands from weak to strong
    spare: Array  # int16 [1326]
    digits: Array  # int64 [257]
    twice: Array  # int32 [1326]: 2 wins + ties
    below: Array  # float64 [groups, 52]: weight of weaker hands, by card
    equal: Array  # float64 [groups, 52]
    total: Array  # float64 [groups, 3]: total weight, weight below, weight equal
    first: Array  # uint8 [1326]: cards of the live hands, from weak to strong
    second: Array  # uint8 [1326]
    rank: Array  # uint16 [1326]: their strength
    reach: Array  # float64 [1326]: the opponent's weight
    beats: Array  # float64 [1326]
    below_card: Array  # int32 [52]: number of weaker hands with a card
    full: Array  # uint8 [5]: a board and its runout
    left: Array  # uint8 [52]: cards that are not on the board
    chosen: Array  # int64 [5]: positions of the runout's cards in `left`


def showdown_scratch(groups: int = 1) -> ShowdownScratch:
    """Allocate scratch memory for one board, with the opponent's hands in `groups` groups."""
    return ShowdownScratch(
        np.zeros(1326, np.uint16), np.zeros(1326, np.int16), np.zeros(1326, np.int16), np.zeros(257, np.int64),
        np.zeros(1326, np.int32), np.zeros((groups, 52)), np.zeros((groups, 52)), np.zeros((groups, 3)),
        np.zeros(1326, np.uint8), np.zeros(1326, np.uint8), np.zeros(1326, np.uint16), np.zeros(1326), np.zeros(1326),
        np.zeros(52, np.int32), np.zeros(5, np.uint8), np.zeros(52, np.uint8), np.zeros(5, np.int64),
    )  # fmt: skip


@kernel
def rank_and_sort_hands(
    cards5,  # (five card numbers)
    t,  # RankTables of seven cards
    s,  # ShowdownScratch: strength and order OUT
):
    """Rank every hand on a full board and radix-sort the live ones; return their number."""
    strength, order = s.strength, s.order
    base, base_mask, dead = board_keys(t, cards5, 5)
    live = 0
    h = 0
    for b in range(52):
        if (dead >> U(b)) & U(1):
            for _ in range(b):
                strength[h] = BLOCKED
                h += 1
            continue
        kb, mb = base + t.key[b], base_mask + t.mask[b]
        for a in range(b):
            if (dead >> U(a)) & U(1):
                strength[h] = BLOCKED
            else:
                strength[h] = hand_rank(kb + t.key[a], mb + t.mask[a], t.offset, t.value, t.flush)
                order[live] = h
                live += 1
            h += 1
    sort_by_strength(order, live, strength, s.spare, s.digits)
    return live


@inline
def begin_runouts(board, s):
    """Prepare the runouts of a board of three to five cards; return the number of cards left."""
    dead = U(0)
    for k in range(len(board)):
        s.full[k] = board[k]
        dead |= U(1) << U(board[k])
    for k in range(5 - len(board)):
        s.chosen[k] = k
    return list_free_cards(dead, s.left)


@inline
def rank_runout(known, t, s):
    """Rank and sort the hands on the current runout of a board of `known` cards; return the number of live hands."""
    for k in range(known, 5):
        s.full[k] = s.left[s.chosen[k - known]]
    return rank_and_sort_hands(s.full, t, s)


@inline
def count_wins(
    live,
    s,  # ShowdownScratch: twice OUT
):
    """Count 2 × wins + ties of every live hand against all hands that share no card with it."""
    strength, order, twice, below_card = s.strength, s.order, s.twice, s.below_card
    for c in range(52):
        below_card[c] = 0
    i = 0
    while i < live:
        j = i
        v = strength[order[i]]
        # counts before and after adding the group of equal strength: their sum is 2 × wins + ties
        while j < live and strength[order[j]] == v:
            h = order[j]
            twice[h] = i - below_card[HAND_CARDS[h, 0]] - below_card[HAND_CARDS[h, 1]]
            j += 1
        for k in range(i, j):
            h = order[k]
            below_card[HAND_CARDS[h, 0]] += 1
            below_card[HAND_CARDS[h, 1]] += 1
        for k in range(i, j):
            h = order[k]
            # the hand itself was subtracted twice
            twice[h] += j - below_card[HAND_CARDS[h, 0]] - below_card[HAND_CARDS[h, 1]] + 1
        i = j


@inline
def add_range_wins(
    live,
    weight,  # float64 [1326]: the opponent's range
    board_weight,
    s,  # ShowdownScratch
    won,  # float64 [1326] INOUT: weight beaten plus half the weight tied
    compatible,  # float64 [1326] INOUT: weight that shares no card
):
    """Add, for every live hand, the weight of the opponent's range that it beats and the weight that it can meet."""
    order, sums = s.order, s.below[0]
    for k in range(live):
        h = order[k]
        s.first[k], s.second[k], s.rank[k], s.reach[k] = HAND_CARDS[h, 0], HAND_CARDS[h, 1], s.strength[h], weight[h]
    total = showdown_wins(DECK_CARDS, s.first, s.second, s.rank, True, live, s.reach, sums, s.beats, 0.0)
    for k in range(live):
        h = order[k]
        won[h] += 0.5 * board_weight * s.beats[k]
        compatible[h] += board_weight * compatible_reach(s.first, s.second, True, k, s.reach, sums, total)


@kernel
def range_wins_on_boards(
    boards,  # uint8 [boards, 5]
    board_weights,  # float64 [boards]: weight of each board
    t,  # RankTables
    weight,  # float64 [1326]: the opponent's range
    s,  # ShowdownScratch
    won,  # float64 [1326] INOUT
    compatible,  # float64 [1326] INOUT
):
    """Accumulate over boards the weight of a range that every hand beats and that it can meet."""
    for i in range(len(boards)):
        live = rank_and_sort_hands(boards[i], t, s)
        add_range_wins(live, weight, board_weights[i], s, won, compatible)


@kernel
def strengths_on_boards(
    boards,  # uint8 [boards, 5]
    t,  # RankTables
    s,  # ShowdownScratch
    out,  # uint16 [boards, 1326] OUT: 2 wins + ties against OPPONENT_HANDS hands, 65535 for blocked hands
):
    """Compute the river strength of every hand on every board."""
    for i in range(len(boards)):
        live = rank_and_sort_hands(boards[i], t, s)
        count_wins(live, s)
        for h in range(1326):
            out[i, h] = s.twice[h] if s.strength[h] != BLOCKED else 65535


@kernel
def runout_features(
    boards,  # uint8 [boards, 3 or 4]
    t,  # RankTables
    s,  # ShowdownScratch
    bin_of,  # uint8 [2 * OPPONENT_HANDS + 1]: bin of every river strength
    histogram,  # uint16 [boards, 1326, bins] INOUT
    mean,  # int64 [boards, 1326] INOUT: sum of 2 wins + ties over the runouts
    square,  # int64 [boards, 1326] INOUT: sum of its square
):
    """Accumulate moments and histograms of river strength of every hand over all runouts of flops or turns."""
    known = boards.shape[1]
    for i in range(len(boards)):
        left, more = begin_runouts(boards[i], s), True
        while more:
            live = rank_runout(known, t, s)
            count_wins(live, s)
            for k in range(live):
                h = s.order[k]
                v = s.twice[h]
                histogram[i, h, bin_of[v]] += 1
                mean[i, h] += v
                square[i, h] += np.int64(v) * v
            more = next_combination(s.chosen, 5 - known, left)


@inline
def equity_against_groups(
    live,
    group,  # int8 [1326]: group of the opponent's hand
    s,  # ShowdownScratch with one row for each group
    won,  # float64 [1326, groups] OUT: share of each group beaten, ties half; overall share if no hand can be met
):
    """Compute the equity of every live hand against each group of hands."""
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
        equal[g, HAND_CARDS[h, 0]] += 1.0
        equal[g, HAND_CARDS[h, 1]] += 1.0
    i = 0
    while i < live:
        j = i
        v = strength[order[i]]
        while j < live and strength[order[j]] == v:
            h = order[j]
            a, b = HAND_CARDS[h, 0], HAND_CARDS[h, 1]
            for g in range(groups):
                won[h, g] = total[g, 1] - below[g, a] - below[g, b]
            j += 1
        for k in range(i, j):
            h = order[k]
            g = group[h]
            total[g, 1] += 1.0
            below[g, HAND_CARDS[h, 0]] += 1.0
            below[g, HAND_CARDS[h, 1]] += 1.0
        for k in range(i, j):
            h = order[k]
            a, b = HAND_CARDS[h, 0], HAND_CARDS[h, 1]
            total_wins, total_met = 0.0, 0.0
            for g in range(groups):
                is_own = 1.0 if group[h] == g else 0.0  # the hand itself was subtracted twice
                after = total[g, 1] - below[g, a] - below[g, b] + is_own
                met = total[g, 0] - equal[g, a] - equal[g, b] + is_own
                wins = 0.5 * (won[h, g] + after)
                total_wins += wins
                total_met += met
                won[h, g] = wins / met if met > 0 else -1.0
            for g in range(groups):
                if won[h, g] < 0:
                    won[h, g] = total_wins / total_met
        i = j


@kernel
def ochs_on_boards(
    boards,  # uint8 [boards, 3 to 5]
    group,  # int8 [1326]
    t,  # RankTables
    s,  # ShowdownScratch with one row for each group
    won,  # float64 [1326, groups] scratch
    out,  # float64 [boards, 1326, groups] INOUT: summed over the runouts
):
    """Sum the equities of every hand against each group of hands over all runouts of a board (OCHS, Johanson et al.
    2013).
    """
    known = boards.shape[1]
    for i in range(len(boards)):
        left, more = begin_runouts(boards[i], s), True
        while more:
            live = rank_runout(known, t, s)
            equity_against_groups(live, group, s, won)
            for k in range(live):
                h = s.order[k]
                for g in range(out.shape[2]):
                    out[i, h, g] += won[h, g]
            more = next_combination(s.chosen, 5 - known, left)


@kernel
def class_wins_on_boards(
    boards,  # uint8 [boards, 5]
    board_weights,  # int64 [boards]
    group,  # int16 [1326]: class of every hand, 0 … 168
    t,  # RankTables
    s,  # ShowdownScratch
    below,  # int32 [53, 169] scratch: weaker hands by class; row c: those with card c, row 52: all
    twice,  # int64 [169, 169] INOUT: 2 wins + ties of class against class
):
    """Accumulate 2 × wins + ties of all classes of starting hands against each other."""
    strength, order = s.strength, s.order
    for i in range(len(boards)):
        live = rank_and_sort_hands(boards[i], t, s)
        for c in range(53):
            for g in range(169):
                below[c, g] = 0
        first = 0
        while first < live:
            last = first
            v = strength[order[first]]
            while last < live and strength[order[last]] == v:
                h = order[last]
                a, b, own = HAND_CARDS[h, 0], HAND_CARDS[h, 1], group[h]
                for g in range(169):
                    twice[own, g] += board_weights[i] * np.int64(below[52, g] - below[a, g] - below[b, g])
                last += 1
            for k in range(first, last):
                h = order[k]
                g = group[h]
                below[HAND_CARDS[h, 0], g] += 1
                below[HAND_CARDS[h, 1], g] += 1
                below[52, g] += 1
            for k in range(first, last):
                h = order[k]
                a, b, own = HAND_CARDS[h, 0], HAND_CARDS[h, 1], group[h]
                for g in range(169):
                    twice[own, g] += board_weights[i] * np.int64(below[52, g] - below[a, g] - below[b, g])
                twice[own, own] += board_weights[i]  # the hand itself was subtracted twice
            first = last


# --- current hand strength on complete or incomplete boards ---


class HandStrengthTables(NamedTuple):
    """Tables that rank the hands of a deck on every street."""

    deck: Array  # uint8 [cards]
    hands: Array  # uint8 [hands, hole]
    ranks: tuple[RankTables, ...]  # by street


class HandStrengthWorkspace(NamedTuple):
    """Scratch memory to sort all hands."""

    value: Array  # uint16 [hands]
    order: Array  # int32 [hands]
    spare: Array  # int32 [hands]
    digits: Array  # int64 [257]
    below: Array  # int64 [52]
    twice: Array  # int64 [hands]


@inline
def hand_strength(
    tables,  # HandStrengthTables
    street,
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    i,
    board_cards,  # number of cards on the board
):
    """Compare hand i with all hands that the opponent may hold; return 2 × wins + ties and twice the number of hands."""
    deck, ranks, own = tables.deck, tables.ranks[street], hole.shape[1]
    key, mask, known = board_keys(ranks, board[i], board_cards)
    own_key, own_mask = key, mask
    for k in range(own):
        own_key += ranks.key[hole[i, k]]
        own_mask += ranks.mask[hole[i, k]]
        known |= U(1) << U(hole[i, k])
    value, cards = rank_by_keys(ranks, own_key, own_mask, own + board_cards), own + board_cards
    beaten, hands = np.int64(0), np.int64(0)
    for a in range(len(deck)):
        if (known >> U(deck[a])) & U(1):
            continue
        key_a, mask_a = key + ranks.key[deck[a]], mask + ranks.mask[deck[a]]
        if own == 1:
            opponent_value = rank_by_keys(ranks, key_a, mask_a, cards)
            beaten += 2 * (value > opponent_value) + (value == opponent_value)
            hands += 2
            continue
        for b in range(a):
            if (known >> U(deck[b])) & U(1):
                continue
            opponent_value = rank_by_keys(ranks, key_a + ranks.key[deck[b]], mask_a + ranks.mask[deck[b]], cards)
            beaten += 2 * (value > opponent_value) + (value == opponent_value)
            hands += 2
    return beaten, hands


@kernel
def hand_strength_of_all(
    tables,  # HandStrengthTables
    street,
    board,  # uint8 [n, board]
    i,
    board_cards,
    s,  # HandStrengthWorkspace: `twice` OUT, 2 × wins + ties of every hand that board i does not block
):
    """Compute `hand_strength` of all hands on one board by sorting; return twice the number of opponent hands.

    After sorting, one pass counts the weaker hands of each hand, in total and by card.
    """
    ranks, hands = tables.ranks[street], tables.hands
    own = hands.shape[1]
    key, mask, known = board_keys(ranks, board[i], board_cards)
    live = 0
    for h in range(len(hands)):
        hand_key, hand_mask, held = key, mask, U(0)
        for k in range(own):
            hand_key += ranks.key[hands[h, k]]
            hand_mask += ranks.mask[hands[h, k]]
            held |= U(1) << U(hands[h, k])
        if not held & known:
            s.value[h] = rank_by_keys(ranks, hand_key, hand_mask, own + board_cards)
            s.order[live] = h
            live += 1
    sort_by_strength(s.order, live, s.value, s.spare, s.digits)
    for c in range(52):
        s.below[c] = 0
    first = 0
    while first < live:
        last, value = first, s.value[s.order[first]]
        while last < live and s.value[s.order[last]] == value:
            h = s.order[last]
            s.twice[h] = first
            for k in range(own):
                s.twice[h] -= s.below[hands[h, k]]
            last += 1
        for j in range(first, last):
            for k in range(own):
                s.below[hands[s.order[j], k]] += 1
        for j in range(first, last):
            h = s.order[j]
            s.twice[h] += last + own - 1  # the hand itself was subtracted once per card
            for k in range(own):
                s.twice[h] -= s.below[hands[h, k]]
        first = last
    left = np.int64(len(tables.deck) - own - board_cards)
    return 2 * left if own == 1 else left * (left - 1)


@kernel
def hand_strength_batch(tables, street, hole, board, board_cards, out):
    """Compute `hand_strength` of many hands of one street. int64 [n, 2] OUT"""
    for i in range(len(out)):
        out[i, 0], out[i, 1] = hand_strength(tables, street, hole, board, i, board_cards)
