"""Compiled look-up of buckets, features of single hands, and loops of perfect-recall percentile buckets.

Other loops call `look_up_block` for a block of deals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.isomorphism import (
    IndexTables,
    add_cards,
    deal_index_in_joined_tables,
    deal_round,
    empty_deal,
    finish_round,
)
from riverboat.cards._kernels.ranking import board_keys, hand_rank
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

STREETS = 4
LOOKUP_BLOCK = 64  # deals whose table entries are requested together, so that memory loads overlap


class StreetLookup(NamedTuple):
    """Look-up tables of one street. An empty array means that its step is skipped."""

    labels: Array  # uint16 or int32 [layers, hands]: buckets, or values to be cut; empty: the index is the bucket
    layer: Array  # uint8 [boards, public buckets]: layer of labels of a board for a public bucket
    cuts: Array  # same type as labels, [parents, n - 1]: smallest values of parts 1, 2, … of a parent's n parts


class BucketLookup(NamedTuple):
    """Look-up tables of all streets, from preflop on. There are always STREETS of them, so that loops compile once."""

    streets: tuple[StreetLookup, ...]  # streets that the game does not have are empty
    numbering: IndexTables  # index tables of hands and boards, joined
    hand: Array  # int64 [streets, 2]: offsets of a street's hands in `numbering`
    board: Array  # int64 [streets, 2]: offsets of a street's boards
    flop: Array  # int64 [2]: offsets of the boards that determine the public bucket
    public: Array  # int32 [those boards]: public buckets; may be empty
    shown: Array  # int64 [streets]: number of board cards
    hole: int
    decides: int  # number of board cards that determine the public bucket


@inline
def canonical_index(lookup, state, at):
    """Return the canonical index of a deal by its state; `at` holds the offsets of its tables in `numbering`."""
    return deal_index_in_joined_tables(lookup.numbering, state, at[0], at[1])


@inline
def round_index(lookup, state, round_cards, count, at):
    """Return the canonical index of a deal after another round: `count` cards that `add_cards` has collected."""
    return canonical_index(lookup, finish_round(lookup.numbering, state, round_cards, count), at)


@inline
def count_cuts_below(cuts, value):
    """Count the cuts at or below a value. The number of steps is constant, so no branch is mispredicted."""
    low, length = np.int64(0), np.int64(len(cuts))
    while length > 1:
        half = length >> 1
        low += half * np.int64(cuts[low + half - 1] <= value)
        length -= half
    return low + np.int64(length == 1 and cuts[low] <= value)


@inline
def bucket_at(lookup, r, layer, number, parent):
    """Return the bucket of a hand by its layer and index on street r; `parent` is its bucket on the previous street."""
    street = lookup.streets[r]
    if street.labels.size == 0:
        return number
    value = np.int64(street.labels[layer, number])
    if street.cuts.size == 0:
        return value
    family = parent if len(street.cuts) > 1 else np.int64(0)
    return family * (street.cuts.shape[1] + 1) + count_cuts_below(street.cuts[family], value)


@inline
def locate_labels(
    lookup,  # BucketLookup
    cards,  # uint8, flat: hole cards of all players and the board, from offset `at`
    at,
    players,
    streets,  # number of streets that the board has reached
    layers,  # int64 [streets] OUT
    numbers,  # int64 [players, streets] OUT
):
    """Compute the layer of labels of a deal's board and the canonical index of each hand, for every street.

    Boards are unordered: on every street the board is one round of cards, which accumulate.
    """
    t, hole = lookup.numbering, lookup.hole
    board = at + players * hole
    if lookup.public.size:
        public = np.int64(-1)
        dealt = (0, 0, 0)
        for r in range(1, streets):
            street = lookup.streets[r]
            dealt = add_cards(t, 0, dealt, cards, board + lookup.shown[r - 1], lookup.shown[r] - lookup.shown[r - 1])
            if lookup.shown[r] == lookup.decides:
                public = np.int64(lookup.public[round_index(lookup, empty_deal(), dealt, lookup.shown[r], lookup.flop)])
            layers[r] = 0
            if len(street.labels) > 1:
                number = round_index(lookup, empty_deal(), dealt, lookup.shown[r], lookup.board[r])
                layers[r] = street.layer[number, public]
    for p in range(players):
        held = deal_round(t, empty_deal(), cards, at + p * hole, hole)
        numbers[p, 0] = canonical_index(lookup, held, lookup.hand[0])
        dealt = (0, 0, 0)
        for r in range(1, streets):
            begin = lookup.shown[r - 1]
            dealt = add_cards(t, held[0], dealt, cards, board + begin, lookup.shown[r] - begin)
            numbers[p, r] = round_index(lookup, held, dealt, lookup.shown[r], lookup.hand[r])


@inline
def look_up_block(
    lookup,  # BucketLookup
    cards,  # uint8 [deals · (players · hole + board)], flat
    begin,  # deals begin to end - 1, at most LOOKUP_BLOCK
    end,
    players,
    layers,  # int64 [LOOKUP_BLOCK, streets] scratch
    numbers,  # int64 [LOOKUP_BLOCK, players, streets] scratch
    out,  # int32 [deals, players, streets] OUT
):
    """Look up the buckets of a block of deals: first all indices, then the tables, so that memory loads overlap."""
    streets = out.shape[2]
    width = players * lookup.hole + lookup.shown[streets - 1]
    for k in range(end - begin):
        locate_labels(lookup, cards, (begin + k) * width, players, streets, layers[k], numbers[k])
    for k in range(end - begin):
        for p in range(players):
            bucket = np.int64(0)
            for r in range(streets):
                bucket = bucket_at(lookup, r, layers[k, r], numbers[k, p, r], bucket)
                out[begin + k, p, r] = bucket


@kernel
def look_up_buckets(lookup, cards, players, layers, numbers, out):
    """Look up the buckets of many deals, as in `look_up_block`."""
    for begin in range(0, len(out), LOOKUP_BLOCK):
        look_up_block(lookup, cards, begin, min(begin + LOOKUP_BLOCK, len(out)), players, layers, numbers, out)


# --- buckets computed from centroids: features of one hand, nearest centroid --------------------------

SUM_TOLERANCE = np.float32(1e-3)  # bound on the rounding error of row sums


@kernel
def river_group_equities(
    deals,  # uint8 [n, 7]: hole cards and board
    t,  # RankTables of seven cards
    group,  # int8 [1326]: group of each opponent hand
    double_wins,  # float64 [groups] scratch: 2 wins + ties
    opponent_counts,  # float64 [groups] scratch: number of opponent hands
    out,  # float64 [n, groups] OUT
):
    """Compute the river equity of hands against each OCHS group; against all hands if a group is fully blocked."""
    for i in range(len(deals)):
        cards = deals[i]
        board, board_mask, dead = board_keys(t, cards[2:], 5)
        for c in range(2):
            dead |= np.uint64(1) << np.uint64(cards[c])
        key = board + t.key[cards[0]] + t.key[cards[1]]
        rank = hand_rank(key, board_mask + t.mask[cards[0]] + t.mask[cards[1]], t.offset, t.value, t.flush)
        double_wins[:] = 0.0
        opponent_counts[:] = 0.0
        for b in range(52):
            if (dead >> np.uint64(b)) & np.uint64(1):
                continue
            high, mask = board + t.key[b], board_mask + t.mask[b]
            for a in range(b):
                if (dead >> np.uint64(a)) & np.uint64(1) == 0:
                    opponent_rank = hand_rank(high + t.key[a], mask + t.mask[a], t.offset, t.value, t.flush)
                    g = group[b * (b - 1) // 2 + a]
                    opponent_counts[g] += 1.0
                    double_wins[g] += np.float64(rank > opponent_rank) + np.float64(rank >= opponent_rank)
        for g in range(len(opponent_counts)):
            if opponent_counts[g] > 0:
                out[i, g] = double_wins[g] / (2.0 * opponent_counts[g])
            else:
                out[i, g] = double_wins.sum() / (2.0 * opponent_counts.sum())


@kernel
def nearest_centroid(
    rows,  # float32 [n, width]
    centres,  # float32 [k, width], sorted by their sums
    sums,  # float32 [k] ascending
    centroid_index,  # int32 [k]: index of each centroid
    emd,  # L1 distance of rows, else L2
    out,  # int32 [n] OUT: nearest centroid, the lowest index in a tie
):
    """Find the nearest centroid of each row.

    Sums of rows differ by no more than their L1 distance, which bounds the search.
    """
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
            gap = min(below, above) - SUM_TOLERANCE
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
            if d < best or (d == best and centroid_index[c] < label):
                best, label = d, centroid_index[c]
        out[i] = label


# --- perfect-recall percentile buckets ----------------------------------------------------------------


class DealOrders(NamedTuple):
    """Some boards, and for each order in which their cards may have been dealt, the board of the previous street."""

    live: Array  # int16 [boards, live hands]: hands that a board does not block
    value: Array  # uint16 [boards, live hands]: their values
    row: Array  # int32 [boards, orders]: row of the previous board in its deal order, in tables of sequences
    turn: Array  # int8 [boards, orders]: permutation of the suits that makes the previous board canonical


@kernel
def extend_sequences(
    deal_orders,  # DealOrders
    previous_sequences,  # uint16 or int32 [rows, hands]: sequences on the previous street
    hand_maps,  # int32 [permutations of the suits, hands]: image of a hand
    cuts,  # uint16 [sequences, n - 1]: smallest values of parts 1, 2, …
    out,  # same type [boards · orders, hands] OUT
):
    """Compute the bucket sequence of every hand, board and deal order: previous sequence · n + part on this street."""
    count, n = deal_orders.row.shape[1], cuts.shape[1] + 1
    for b in range(len(deal_orders.live)):
        for w in range(count):
            previous, hand_map = previous_sequences[deal_orders.row[b, w]], hand_maps[deal_orders.turn[b, w]]
            for i in range(deal_orders.live.shape[1]):
                h = deal_orders.live[b, i]
                sequence = np.int64(previous[hand_map[h]])
                out[b * count + w, h] = sequence * n + count_cuts_below(cuts[sequence], deal_orders.value[b, i])


@kernel
def count_values(
    deal_orders,  # DealOrders
    previous_sequences,  # uint16 or int32 [rows, hands]
    hand_maps,  # int32 [permutations of the suits, hands]
    board_counts,  # int64 [boards]: number of boards that each represents
    counts,  # int64 [sequences, values] INOUT
):
    """Count how often each value occurs in each previous bucket sequence, over all deals of some boards."""
    for b in range(len(deal_orders.live)):
        weight = board_counts[b]
        for w in range(deal_orders.row.shape[1]):
            previous, hand_map = previous_sequences[deal_orders.row[b, w]], hand_maps[deal_orders.turn[b, w]]
            for i in range(deal_orders.live.shape[1]):
                counts[previous[hand_map[deal_orders.live[b, i]]], deal_orders.value[b, i]] += weight


# --- buckets after each possible next card: work that boards share is done once ----------------------

U = np.uint64


@inline
def board_layer(lookup, street, board, shown, deck, c):
    """Return the layer of labels of a board with card c of the deck dealt next."""
    if lookup.public.size == 0 or len(lookup.streets[street].labels) <= 1:
        return np.int64(0)
    t = lookup.numbering
    flop = add_cards(t, 0, (0, 0, 0), board, 0, min(lookup.decides, shown))
    if lookup.decides > shown:
        flop = add_cards(t, 0, flop, deck, c, 1)
    public = np.int64(lookup.public[round_index(lookup, empty_deal(), flop, lookup.decides, lookup.flop)])
    full_board = add_cards(t, 0, add_cards(t, 0, (0, 0, 0), board, 0, shown), deck, c, 1)
    number = round_index(lookup, empty_deal(), full_board, shown + 1, lookup.board[street])
    return np.int64(lookup.streets[street].layer[number, public])


@kernel
def next_buckets(
    lookup,  # BucketLookup
    hands,  # uint8 [hands, hole]
    deck,  # uint8 [cards]
    street,  # the street of the next card
    boards,  # uint8 [boards, board cards]
    previous_buckets,  # int32 [boards, hands]: buckets on the previous street
    layers,  # int64 [cards] scratch
    out,  # int32 [boards, cards, hands] OUT: 0 where a card is dealt twice
):
    """Look up the buckets of all hands on boards with each card of the deck dealt next."""
    t, hole, shown = lookup.numbering, hands.shape[1], boards.shape[1]
    for b in range(len(boards)):
        board_mask = U(0)
        for k in range(shown):
            board_mask |= U(1) << U(boards[b, k])
        for c in range(len(deck)):
            if (board_mask >> U(deck[c])) & U(1) == 0:
                layers[c] = board_layer(lookup, street, boards[b], shown, deck, c)
        for h in range(len(hands)):
            out[b, :, h] = 0
            held_mask = U(0)
            for k in range(hole):
                held_mask |= U(1) << U(hands[h, k])
            if held_mask & board_mask:
                continue
            dead = board_mask | held_mask
            held = deal_round(t, empty_deal(), hands[h], 0, hole)
            board_dealt = add_cards(t, held[0], (0, 0, 0), boards[b], 0, shown)
            for c in range(len(deck)):
                if (dead >> U(deck[c])) & U(1) == 0:
                    dealt = add_cards(t, held[0], board_dealt, deck, c, 1)
                    number = round_index(lookup, held, dealt, shown + 1, lookup.hand[street])
                    out[b, c, h] = bucket_at(lookup, street, layers[c], number, np.int64(previous_buckets[b, h]))
