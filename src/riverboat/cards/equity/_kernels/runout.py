"""Kernels over runouts: equities of two or several hands or ranges, and features of all hands of a street."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.isomorphism import index_deal, unindex_deal
from riverboat.cards._kernels.ranking import board_keys, hand_rank, list_free_cards, next_combination
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random
from riverboat.core.arrays import Array


class PotShares(NamedTuple):
    """Pots won by several players, added up over showdowns."""

    best: Array  # uint16 [players] scratch
    share: Array  # float64 [players]: pots won, ties split
    square: Array  # float64 [players]: sum of squares, for the standard error
    wins: Array  # int64 [players, 2]: pots won alone, pots split


class NextCardWorkspace(NamedTuple):
    """Scratch memory for enumerating the next cards of a hand."""

    deal: Array  # uint8 [width + fresh]: hand, board and next cards
    left: Array  # uint8 [cards]: cards that can be dealt next
    pick: Array  # int64 [fresh]: positions of the next cards in `left`
    suits: Array  # int64 [4]
    colex: Array  # int64 [4, rounds]
    counts: Array  # int64 [clusters], zeros: runouts by cluster


def next_card_workspace(deal: int, fresh: int, rounds: int, cards: int = 52, clusters: int = 0) -> NextCardWorkspace:
    """Allocate scratch memory for deals of `deal` cards in all, `fresh` of them dealt next.

    Parameters
    ----------
    deal
        Cards of a hand and its board, with the next cards.
    fresh
        Cards that are dealt next.
    rounds
        Rounds of cards before them.
    cards
        Cards of the deck.
    clusters
        Clusters of the next street.

    Returns
    -------
    NextCardWorkspace
        Zeros.

    Examples
    --------
    >>> next_card_workspace(6, 1, 2).colex.shape
    (4, 2)
    """
    return NextCardWorkspace(
        np.zeros(deal, np.uint8), np.zeros(cards, np.uint8), np.zeros(fresh, np.int64), np.zeros(4, np.int64),
        np.zeros((4, rounds), np.int64), np.zeros(clusters, np.int64),
    )  # fmt: skip


@inline
def count_result(a, b, out):
    """Add 1 to out[0] if a wins against b (ranking classes), to out[1] for a tie, to out[2] for a loss."""
    if a > b:
        out[0] += 1
    elif a == b:
        out[1] += 1
    else:
        out[2] += 1


@kernel
def enumerate_heads_up(
    first,  # uint8 [2]
    second,  # uint8 [2]
    board,  # uint8 [known]
    excluded_cards,  # uint64: bits of the cards that are not in the deck
    t,  # RankTables
    deck,  # uint8 [52] scratch
    chosen,  # int64 [5] scratch
    out,  # int64 [3] INOUT: wins, ties, losses of the first
):
    """Count the wins, ties and losses of a hand against another over all runouts of a board of zero to five cards."""
    key, mask, offset, value, flush = t.key, t.mask, t.offset, t.value, t.flush
    k1, m1, dead = board_keys(t, board, len(board))
    k2, m2 = k1, m1
    for k in range(2):
        k1 += key[first[k]]
        m1 += mask[first[k]]
        k2 += key[second[k]]
        m2 += mask[second[k]]
        dead |= (np.uint64(1) << np.uint64(first[k])) | (np.uint64(1) << np.uint64(second[k]))
    left = list_free_cards(dead | excluded_cards, deck)
    need = 5 - len(board)
    if need == 0:
        count_result(hand_rank(k1, m1, offset, value, flush), hand_rank(k2, m2, offset, value, flush), out)
        return
    for k in range(need):
        chosen[k] = k
    more = True
    while more:
        kb, mb = np.uint64(0), np.uint64(0)
        for k in range(need - 1):
            kb += key[deck[chosen[k]]]
            mb += mask[deck[chosen[k]]]
        low = chosen[need - 2] + 1 if need > 1 else 0
        for x in range(low, left):
            kx, mx = kb + key[deck[x]], mb + mask[deck[x]]
            one = hand_rank(k1 + kx, m1 + mx, offset, value, flush)
            count_result(one, hand_rank(k2 + kx, m2 + mx, offset, value, flush), out)
        more = next_combination(chosen, need - 1, left - 1)  # all cards but the last


@inline
def split_pot(
    hands,  # uint8 [players, 2]
    board_key,
    board_mask,
    t,  # RankTables
    weight,
    pots,  # PotShares INOUT
):
    """Rank several hands on a full board, and add their shares of one pot of size `weight` to `pots`."""
    best, players = pots.best, len(hands)
    top = np.uint16(0)
    count = 0
    for p in range(players):
        k = board_key + t.key[hands[p, 0]] + t.key[hands[p, 1]]
        m = board_mask + t.mask[hands[p, 0]] + t.mask[hands[p, 1]]
        best[p] = hand_rank(k, m, t.offset, t.value, t.flush)
        if best[p] > top:
            top = best[p]
            count = 1
        elif best[p] == top:
            count += 1
    for p in range(players):
        if best[p] == top:
            pot_share = weight / count
            pots.share[p] += pot_share
            pots.square[p] += pot_share * pot_share
            pots.wins[p, 0 if count == 1 else 1] += 1


@kernel
def enumerate_multiway(
    hands,  # uint8 [players, 2]
    board,  # uint8 [known]
    excluded_cards,  # uint64: bits of the cards that are not in the deck
    t,  # RankTables
    weight,
    deck,  # uint8 [52] scratch
    chosen,  # int64 [5] scratch
    pots,  # PotShares INOUT
):
    """Split a pot of size `weight` among several hands on every runout of a board; return the number of runouts."""
    base, base_mask, dead = board_keys(t, board, len(board))
    for p in range(len(hands)):
        dead |= (np.uint64(1) << np.uint64(hands[p, 0])) | (np.uint64(1) << np.uint64(hands[p, 1]))
    left = list_free_cards(dead | excluded_cards, deck)
    need = 5 - len(board)
    for k in range(need):
        chosen[k] = k
    runouts, more = 0, True
    while more:
        kb, mb = base, base_mask
        for k in range(need):
            kb += t.key[deck[chosen[k]]]
            mb += t.mask[deck[chosen[k]]]
        split_pot(hands, kb, mb, t, weight, pots)
        runouts += 1
        more = next_combination(chosen, need, left)
    return runouts


@kernel
def sample_multiway(
    cards,  # uint8 [1326, 2]
    cumulative,  # float64 [players, 1326]: running sums of each range's weights
    board,  # uint8 [known]
    excluded_cards,  # uint64: bits of the cards that are not in the deck
    samples,
    t,  # RankTables
    rng,  # uint64 [1] INOUT
    hands,  # uint8 [players, 2] scratch
    pots,  # PotShares INOUT
):
    """Sample hands of several ranges and a runout, and split a pot among them, `samples` times; return the draws made.

    Deals in which hands share cards are rejected and drawn again.
    """
    players = len(hands)
    draws = 0
    done = 0
    while done < samples and draws < 1000 * (samples + 1000):
        draws += 1
        base, base_mask, dead = board_keys(t, board, len(board))
        dead |= excluded_cards
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
        split_pot(hands, base, base_mask, t, 1.0, pots)
        done += 1
    return draws


@kernel
def sum_over_next_cards(
    street_tables,  # IndexTables of a street
    next_tables,  # IndexTables of the next street, which deals one more card
    first,  # process canonical hands first, first + 1, … of this street
    width,  # cards per deal on this street
    workspace,  # NextCardWorkspace
    known,  # StrengthFeatures of the next street's hands
    out,  # StrengthFeatures OUT
):
    """Average E[HS] and E[HS²] of each hand over all next cards, and sum the histograms."""
    deal = workspace.deal
    for i in range(len(out.mean)):
        unindex_deal(street_tables, first + i, workspace.suits, workspace.colex, deal, 0)
        dead = np.uint64(0)
        for k in range(width):
            dead |= np.uint64(1) << np.uint64(deal[k])
        cards = list_free_cards(dead, workspace.left)
        out.mean[i] = 0.0
        out.square[i] = 0.0
        for c in range(cards):
            deal[width] = workspace.left[c]
            j = index_deal(next_tables, deal, 0)
            out.mean[i] += known.mean[j]
            out.square[i] += known.square[j]
            for b in range(known.histogram.shape[1]):
                out.histogram[i, b] += known.histogram[j, b]
        out.mean[i] /= cards
        out.square[i] /= cards
