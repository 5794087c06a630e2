"""Kernels over boards: strengths of all hands, and showdowns of each hand against all others, in O(n) per board.

Hands are 0 … 1325 in the project's order. On each board they are sorted by strength once. One pass from weak to strong
then maintains the opponent's weight below the current hand, in total and by card, so that hands which share a card can
be subtracted (Johanson et al. 2011). That pass is `riverboat.cards.equity._kernels.showdown_values.showdown_wins`, for
one range or for sixteen groups of hands. The last section computes the strength of hands on boards that may be
incomplete.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import board_keys, hand_rank, list_free_cards, next_combination, rank_by_keys
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels.showdown_values import compatible_reach, count_wins, showdown_wins, sort_live_hands
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import SIMD_WIDTH, broadcast, load, store
from riverboat.core.arrays import Array

U = np.uint64
L = U(SIMD_WIDTH)
DECK_CARDS = np.arange(52)
OPPONENT_HANDS = 990  # hands that share no card with a hand and a full board


@kernel
def rank_and_sort_hands(
    cards5,  # (five card numbers)
    t,  # RankTables of seven cards
    s,  # ShowdownWorkspace: sorted hands OUT
):
    """Rank every hand on a full board and sort the live ones; return their number."""
    base, base_mask, dead = board_keys(t, cards5, 5)
    live = 0
    for b in range(52):
        if (dead >> U(b)) & U(1):
            continue
        kb, mb = base + t.key[b], base_mask + t.mask[b]
        for a in range(b):
            if not (dead >> U(a)) & U(1):
                h = b * (b - 1) // 2 + a
                s.strength[h] = hand_rank(kb + t.key[a], mb + t.mask[a], t.offset, t.value, t.flush)
                s.order[live] = h
                live += 1
    sort_live_hands(HAND_CARDS, live, s)
    return live


@inline
def begin_runouts(board, s):
    """Prepare the enumeration of runouts of a board of three to five cards; return the number of cards left."""
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
def count_group_wins(
    live,
    group,  # int [1326]: group of the opponent's hand
    begin,  # the sixteen groups begin, begin + 1, …
    s,  # ShowdownWorkspace for vectors: beats OUT, 2 × wins + ties against each group
):
    """Count the wins of every live hand against sixteen groups of hands; return the live hands of each group."""
    zero = broadcast(s.sums, np.float64(0))
    for k in range(live):
        store(s.reach, U(k) * L, zero)
        g = np.int64(group[s.order[k]]) - begin
        if 0 <= g < SIMD_WIDTH:
            s.reach[k * SIMD_WIDTH + g] = 1.0
    return showdown_wins(DECK_CARDS, s.first, s.second, s.rank, True, live, s.reach, s.sums, s.beats, zero)


@kernel
def range_wins_on_boards(
    boards,  # uint8 [boards, 5]
    board_weights,  # float64 [boards]: weight of each board
    t,  # RankTables
    weight,  # float64 [1326]: the opponent's range
    s,  # ShowdownWorkspace
    won,  # float64 [1326] INOUT: weight beaten plus half the weight tied
    compatible,  # float64 [1326] INOUT: weight that shares no card
):
    """Accumulate over boards the weight of a range that every hand beats and that it can meet."""
    for i in range(len(boards)):
        live, board_weight = rank_and_sort_hands(boards[i], t, s), board_weights[i]
        for k in range(live):
            s.reach[k] = weight[s.order[k]]
        total = showdown_wins(DECK_CARDS, s.first, s.second, s.rank, True, live, s.reach, s.sums, s.beats, 0.0)
        for k in range(live):
            h = s.order[k]
            won[h] += 0.5 * board_weight * s.beats[k]
            compatible[h] += board_weight * compatible_reach(s.first, s.second, True, k, s.reach, s.sums, total)


@kernel
def strengths_on_boards(
    boards,  # uint8 [boards, 5]
    t,  # RankTables
    s,  # ShowdownWorkspace
    out,  # uint16 [boards, 1326] OUT: 2 wins + ties against OPPONENT_HANDS hands, 65535 for blocked hands
):
    """Compute the river strength of every hand on every board."""
    for i in range(len(boards)):
        live = rank_and_sort_hands(boards[i], t, s)
        count_wins(DECK_CARDS, True, live, s)
        out[i, :] = 65535
        for k in range(live):
            out[i, s.order[k]] = s.twice[s.order[k]]


@kernel
def runout_features(
    boards,  # uint8 [boards, 3 or 4]
    t,  # RankTables
    s,  # ShowdownWorkspace
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
            count_wins(DECK_CARDS, True, live, s)
            for k in range(live):
                h = s.order[k]
                v = s.twice[h]
                histogram[i, h, bin_of[v]] += 1
                mean[i, h] += v
                square[i, h] += np.int64(v) * v
            more = next_combination(s.chosen, 5 - known, left)


@kernel
def ochs_on_boards(
    boards,  # uint8 [boards, 3 to 5]
    group,  # int8 [1326]
    t,  # RankTables
    s,  # ShowdownWorkspace for vectors
    out,  # float64 [boards, 1326, groups] INOUT: summed over the runouts
):
    """Sum the equities of every hand against each group of hands over all runouts (OCHS, Johanson et al. 2013).

    Ties count half. Against a group that hand and board block completely, its equity against all hands counts.
    """
    known, groups = boards.shape[1], out.shape[2]
    for i in range(len(boards)):
        left, more = begin_runouts(boards[i], s), True
        while more:
            live = rank_runout(known, t, s)
            count_wins(DECK_CARDS, True, live, s)
            for begin in range(0, groups, SIMD_WIDTH):
                total = count_group_wins(live, group, begin, s)
                for k in range(live):
                    h, at = s.order[k], k * SIMD_WIDTH - begin
                    store(s.reach, U(k) * L, compatible_reach(s.first, s.second, True, k, s.reach, s.sums, total))
                    for g in range(begin, min(groups, begin + SIMD_WIDTH)):
                        met = s.reach[at + g]
                        out[i, h, g] += 0.5 * s.beats[at + g] / met if met > 0 else 0.5 * s.twice[h] / OPPONENT_HANDS
            more = next_combination(s.chosen, 5 - known, left)


@kernel
def class_wins_on_boards(
    boards,  # uint8 [boards, 5]
    board_weights,  # int64 [boards]
    group,  # int16 [1326]: class of every hand, 0 … 168
    t,  # RankTables
    s,  # ShowdownWorkspace for vectors
    twice,  # float64 [169 · 176] INOUT: 2 wins + ties of class against class; rows are padded to whole vectors
):
    """Accumulate 2 × wins + ties of all classes of starting hands against each other."""
    width = len(twice) // 169
    for i in range(len(boards)):
        live = rank_and_sort_hands(boards[i], t, s)
        for begin in range(0, 169, SIMD_WIDTH):
            count_group_wins(live, group, begin, s)
            weight = broadcast(s.sums, np.float64(board_weights[i]))
            for k in range(live):
                at = U(np.int64(group[s.order[k]]) * width + begin)
                store(twice, at, load(twice, at) + weight * load(s.beats, U(k) * L))


# --- current hand strength on complete or incomplete boards ---


class HandStrengthTables(NamedTuple):
    """Deck, hands and ranking tables of every street, for current hand strength on boards of any size."""

    deck: Array  # uint8 [cards]
    hands: Array  # uint8 [hands, hole]
    ranks: tuple[RankTables, ...]  # by street


@inline
def hand_strength(
    tables,  # HandStrengthTables
    street,
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    i,
    board_cards,  # number of cards on the board
):
    """Compare hand i with all hands that the opponent may hold, on the current board.

    Returns 2 × wins + ties and twice the number of opponent hands: their ratio is the hand strength.
    """
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
    s,  # ShowdownWorkspace: `twice` OUT, 2 × wins + ties of every hand that board i does not block
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
            s.strength[h] = rank_by_keys(ranks, hand_key, hand_mask, own + board_cards)
            s.order[live] = h
            live += 1
    sort_live_hands(hands, live, s)
    count_wins(tables.deck, own == 2, live, s)
    left = np.int64(len(tables.deck) - own - board_cards)
    return 2 * left if own == 1 else left * (left - 1)


@kernel
def hand_strength_batch(tables, street, hole, board, board_cards, out):
    """Compute `hand_strength` of many hands of one street. int64 [n, 2] OUT"""
    for i in range(len(out)):
        out[i, 0], out[i, 1] = hand_strength(tables, street, hole, board, i, board_cards)
