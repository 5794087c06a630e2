"""Kernels of best responses in the full game: betting × boards, with vectors of hands (Johanson et al. 2011).

A street is evaluated once for each of its boards: the opponent's reach goes down, the responder's values go up.
Vectors contain the hands that the board does not block. A node that continues on the next street is a *street end*;
it sums the values of the boards that follow. Boards that differ only in suits are evaluated once: values are
multiplied by the number of such boards and averaged over the suit permutations that keep the previous board.

The last street has its own kernels (`last_street`); items are nodes of the streets before it. `list_boards_below`
lists the boards below one of the second street, as input for a GPU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import bucket_at, canonical_index
from riverboat.cards._kernels.isomorphism import add_cards, deal_round, empty_deal, finish_round
from riverboat.cards._kernels.ranking import next_combination
from riverboat.cards.equity._kernels.showdown_values import (
    BatchShowdownHands,
    compatible_reach,
    rank_live_hands,
    sort_by_strength,
    sum_reach,
)
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import SIMD_WIDTH, broadcast, load, prefetch, store, transpose
from riverboat.core.arrays import Array
from riverboat.evaluation.best_response._kernels.last_street import (
    LastStreetWorkspace,
    evaluate_last_street,
    hands_of_board,
    load_entry_reach,
    store_entry_values,
)

MAXIMIZE, FOLLOW_STRATEGY, OPPONENT, FOLD, STREET_END = 0, 1, 2, 3, 4
PHASE_DOWN, PHASE_BOARDS, PHASE_UP = 0, 1, 2
U = np.uint64
L = U(SIMD_WIDTH)
ONE = np.uint64(1)
NOT_STARTED, EXHAUSTED = -1, -2  # in place of the first card of a deal: before the first deal; after the last
MAX_DEALT = 8


class BettingItems(NamedTuple):
    """Betting as some players see it: street by street, on each street player by player, parents before children.

    At its own decisions a player takes the best action of each hand (MAXIMIZE) or follows a strategy
    (FOLLOW_STRATEGY); OPPONENT marks decisions of the opponent.
    """

    at: Array  # int64 [streets]: items of street s are at[s] … at[s + 1] - 1; a one-street game has its roots only
    root: Array  # int64 [players]: item of the root
    kind: Array  # int8 [items]
    first: Array  # int64 [items]: first child of a decision
    count: Array  # type: ignore[assignment]  # int64 [items]: number of actions
    slot: Array  # int64 [items]: first action in a row of the table
    reach: Array  # int64 [items]: index of the vector of the opponent's reach; children of own decisions share it
    entry: Array  # int64 [items]: street end of the previous street that leads here; -1: none
    pay: Array  # float64 [items]: payoff of the responder after a fold


class ResponseCards(NamedTuple):
    """Hands, boards and suit permutations of the game."""

    held: BatchShowdownHands
    flat: Array  # uint8 [hands · hole]: cards of the hands
    card_maps: Array  # uint8 [permutations, 52]
    hand_maps: Array  # int32 [permutations, hands]
    dealt: Array  # int64 [streets]: board cards dealt on each street
    shown: Array  # int64 [streets]: board cards so far
    chance: Array  # float64 [streets]: probability of one deal to a street, given two hands
    deals: Array  # float64 [streets]: number of deals to a street if no hands are dealt
    hole: int  # cards of a hand


class ResponseWorkspace(NamedTuple):
    """Scratch memory of one traversal. Hands of a street are a list of `live` positions."""

    reach: Array  # float64 [vectors, stride]: by position, padded to a multiple of sixteen
    dead: Array  # bool [vectors]: whether all reach is zero; values there are neither computed nor read
    value: Array  # float64 [items + 1, stride]: counterfactual values, by position; the last row is a dummy
    scratch: Array  # float64 [hands]
    hand: Array  # int32 [streets, hands]: unblocked hands; on the last street in order of strength
    place: Array  # int32 [streets, hands]: position of each hand
    source: Array  # int32 [streets, hands]: position on the previous street
    live: Array  # int64 [streets]: number of unblocked hands
    bucket: Array  # int64 [streets, hands]: by position
    strength: Array  # uint16 [hands]: by hand
    rank: Array  # uint16 [hands]: strength by position on the last street
    first: Array  # uint8 [streets, hands]: first card, by position
    second: Array  # uint8 [streets, hands]: second card, by position
    digits: Array  # int64 [257]: counters of the radix sort
    fold_reach: Array  # float64 [stride · 16]: reach at sixteen folds, interleaved
    fold_values: Array  # float64 [stride · 16]: their values
    sums: Array  # float64 [NUM_CARDS · 16]: reach of the hands that contain a card
    fold_reach_offset: Array  # uint64 [16]: offset of the reach at a fold
    fold_value_offset: Array  # uint64 [16]: offset of its values
    fold_payoff: Array  # float64 [16]: payoff of a fold
    board: Array  # uint8 [8]
    chosen: Array  # int64 [streets, MAX_DEALT]: deck positions of the cards dealt on a street
    board_mask: Array  # uint64 [streets]: board cards as bits
    group: Array  # int64 [streets]: a bit for each suit permutation that keeps all deals so far
    multiplicity: Array  # float64 [streets]: isomorphic boards, given the previous board
    public: Array  # int64 [streets]: public bucket, if the abstraction has any
    boards_visited: Array  # int64 [streets]: counter
    last: LastStreetWorkspace


# --- Boards ---


@inline
def popcount(group):
    """Count the permutations of a group, which are its bits."""
    ones = 0
    while group:
        group &= group - 1
        ones += 1
    return ones


@inline
def permute_cards(card_maps, g, mask):
    """Return the image of a set of cards under a suit permutation."""
    image = U(0)
    for c in range(52):
        if (mask >> U(c)) & ONE:
            image |= ONE << U(card_maps[g, c])
    return image


@inline
def next_choice(chosen, count, size):
    """Advance `chosen` to the next combination of `count` of `size` elements; return whether there is one."""
    if chosen[0] == NOT_STARTED:
        for k in range(count):
            chosen[k] = k
        if count == 0:
            chosen[0] = EXHAUSTED
        return True
    if chosen[0] == EXHAUSTED or not next_combination(chosen, count, size):
        chosen[0] = EXHAUSTED
        return False
    return True


@inline
def put_board(cards, boards, b, s, workspace):
    """Put board b of a list on the board of the workspace, up to the cards of street s."""
    workspace.board_mask[s] = U(0)
    for k in range(cards.shown[s]):
        workspace.board[k] = boards[b, k]
        workspace.board_mask[s] |= ONE << U(boards[b, k])


@inline
def next_deal(cards, s, workspace):
    """Put the next deal to street s on the board, one per class under suit isomorphism; return whether there is one."""
    chosen, count, before = workspace.chosen[s], cards.dealt[s], workspace.board_mask[s - 1]
    while next_choice(chosen, count, len(cards.held.deck)):
        mask = U(0)
        for k in range(count):
            mask |= ONE << U(cards.held.deck[chosen[k]])
        if mask & before:
            continue
        is_canonical, stabilizer, group = True, np.int64(0), workspace.group[s - 1]
        for g in range(len(cards.card_maps)):
            if (group >> g) & 1:
                image = permute_cards(cards.card_maps, g, mask)
                if image < mask:
                    is_canonical = False
                    break
                if image == mask:
                    stabilizer |= np.int64(1) << g
        if not is_canonical:
            continue
        for k in range(count):
            workspace.board[cards.shown[s - 1] + k] = cards.held.deck[chosen[k]]
        workspace.board_mask[s] = before | mask
        workspace.group[s] = stabilizer
        workspace.multiplicity[s] = popcount(group) // popcount(stabilizer)
        return True
    return False


@inline
def fixed_deal(cards, s, boards, b, workspace):
    """Put the deal to street s of given board b on the board; return whether it was not dealt before.

    The one deal represents all deals to the street: its multiplicity is their number.
    """
    if workspace.chosen[s, 0] == EXHAUSTED:
        return False
    workspace.chosen[s, 0] = EXHAUSTED
    put_board(cards, boards, b, s, workspace)
    workspace.group[s], workspace.multiplicity[s] = 1, cards.deals[s]
    return True


@kernel
def list_deals(cards, workspace, out, multiplicity, groups):
    """List the deals to the second street up to suit isomorphism; return their number.

    Writes their cards, the numbers of isomorphic boards and the groups of suit permutations that keep them, as far as
    the arrays have room.
    """
    listed = 0
    workspace.chosen[1, 0] = NOT_STARTED
    while next_deal(cards, 1, workspace):
        if listed < len(out):
            for k in range(cards.dealt[1]):
                out[listed, k] = workspace.board[k]
            multiplicity[listed] = workspace.multiplicity[1]
            groups[listed] = workspace.group[1]
        listed += 1
    return listed


# --- Hands ---


@inline
def find_buckets(lookup, cards, s, live, workspace):
    """Look up the buckets of all unblocked hands on the board of street s."""
    t, board, shown = lookup.numbering, workspace.board, cards.shown
    layer = np.int64(0)
    workspace.public[s] = workspace.public[s - 1] if s else np.int64(-1)
    if lookup.public.size and s:
        dealt = add_cards(t, 0, (0, 0, 0), board, 0, shown[s])
        public_deal = finish_round(t, empty_deal(), dealt, shown[s])
        if shown[s] == lookup.decides:
            workspace.public[s] = np.int64(lookup.public[canonical_index(lookup, public_deal, lookup.flop)])
        street = lookup.streets[s]
        if street.layer.size:
            layer = np.int64(street.layer[canonical_index(lookup, public_deal, lookup.board[s]), workspace.public[s]])
    labels = lookup.streets[s].labels
    for k in range(live):  # indices first: the tables are large, and prefetches overlap
        h = np.int64(workspace.hand[s, k])
        deal = deal_round(t, empty_deal(), cards.flat, h * cards.hole, cards.hole)
        if shown[s]:
            deal = finish_round(t, deal, add_cards(t, deal[0], (0, 0, 0), board, 0, shown[s]), shown[s])
        index = canonical_index(lookup, deal, lookup.hand[s])
        workspace.bucket[s, k] = index
        prefetch(labels, U(layer * labels.shape[1] + index))
    for k in range(live):
        parent = workspace.bucket[s - 1, workspace.source[s, k]] if s else np.int64(0)
        workspace.bucket[s, k] = bucket_at(lookup, s, layer, workspace.bucket[s, k], parent)


@inline
def lay_out_hands(lookup, cards, s, workspace):
    """List the unblocked hands of the board of street s with their cards, positions on the previous street and buckets.

    On the last street they are in order of strength.
    """
    held, hand, live = cards.held, workspace.hand[s], 0
    if s == len(cards.shown) - 1:
        live = rank_live_hands(held, workspace.board, cards.shown[s], hand, workspace.strength)
        sort_by_strength(hand, live, workspace.strength, workspace.source[s], workspace.digits)
    else:
        for h in range(len(held.mask)):
            if held.mask[h] & workspace.board_mask[s] == U(0):
                hand[live] = h
                live += 1
    workspace.live[s] = live
    for k in range(live):
        workspace.place[s, hand[k]] = k
        workspace.source[s, k] = workspace.place[s - 1, hand[k]] if s else k
        workspace.first[s, k], workspace.second[s, k] = held.first[hand[k]], held.second[hand[k]]
        workspace.rank[k] = workspace.strength[hand[k]]
    find_buckets(lookup, cards, s, live, workspace)


# --- Folds ---


@inline
def evaluate_fold_batch(cards, s, live, workspace):
    """Compute the values of sixteen fold nodes: payoff times compatible reach of the opponent, for each hand."""
    two, first, second = cards.held.two, workspace.first[s], workspace.second[s]
    reach, sums, values = workspace.fold_reach, workspace.sums, workspace.fold_values
    for h in range(U(0), U(live), L):
        transpose(workspace.reach, workspace.fold_reach_offset, reach, h * L, h)
    total = sum_reach(cards.held.deck, first, second, two, live, reach, sums, broadcast(sums, np.float64(0)))
    pay = load(workspace.fold_payoff, U(0))
    for k in range(live):
        store(values, U(k) * L, compatible_reach(first, second, two, k, reach, sums, total) * pay)
    for h in range(U(0), U(live), L):
        transpose(values, h * L, workspace.value, workspace.fold_value_offset, h)


@inline
def evaluate_folds(items, cards, s, workspace):
    """Compute the values of the reached folds of a street, sixteen at a time; unused lanes write to a dummy row."""
    stride, dummy_row, lane = workspace.reach.shape[1], len(items.kind), 0
    for item in range(items.at[s], items.at[s + 1]):
        vector = items.reach[item]
        if items.kind[item] == FOLD and not workspace.dead[vector]:
            workspace.fold_reach_offset[lane] = vector * stride
            workspace.fold_value_offset[lane] = item * stride
            workspace.fold_payoff[lane] = items.pay[item]
            lane += 1
        if lane == SIMD_WIDTH or (lane > 0 and item == items.at[s + 1] - 1):
            for empty in range(lane, SIMD_WIDTH):
                workspace.fold_reach_offset[empty] = workspace.fold_reach_offset[0]
                workspace.fold_value_offset[empty] = dummy_row * stride
            evaluate_fold_batch(cards, s, workspace.live[s], workspace)
            lane = 0


# --- Traversal of a street ---


@inline
def propagate_opponent_reach(items, table, stride, s, item, workspace):
    """Compute the opponent's reach after each of its actions at one of its decisions."""
    first, num_actions, slot = items.first[item], items.count[item], items.slot[item]
    reach, bucket = workspace.reach[items.reach[item]], workspace.bucket[s]
    for a in range(num_actions):
        workspace.dead[items.reach[first + a]] = True
    if workspace.dead[items.reach[item]]:
        return
    for k in range(workspace.live[s]):
        x = reach[k]
        at = U(bucket[k] * stride + slot)
        total = np.float64(0)
        for a in range(num_actions):
            total += np.float64(table[at + U(a)])
        scale = x / total if total > 0 else np.float64(0)
        uniform = np.float64(0) if total > 0 else x / num_actions
        for a in range(num_actions):
            child_reach = np.float64(table[at + U(a)]) * scale + uniform
            vector = items.reach[first + a]
            workspace.reach[vector, k] = child_reach
            if child_reach > 0:
                workspace.dead[vector] = False


@inline
def propagate_reach(items, cards, opponent_strategy, s, workspace):
    """Compute the reach of all items of a street and its fold values; start dealing if a street end is reached."""
    live, continues = workspace.live[s], False
    table, stride = opponent_strategy.tables[s], opponent_strategy.stride[s]
    for item in range(items.at[s], items.at[s + 1]):
        vector, kind = items.reach[item], items.kind[item]
        if items.entry[item] >= 0:
            source = items.reach[items.entry[item]]
            workspace.dead[vector] = True
            if not workspace.dead[source]:
                for k in range(live):
                    x = workspace.reach[source, workspace.source[s, k]]
                    workspace.reach[vector, k] = x
                    if x > 0:
                        workspace.dead[vector] = False
        if kind == OPPONENT:
            propagate_opponent_reach(items, table, stride, s, item, workspace)
        elif kind == STREET_END and not workspace.dead[vector]:
            continues = True
            for k in range(live):
                workspace.value[item, k] = 0
    evaluate_folds(items, cards, s, workspace)
    workspace.chosen[s + 1, 0] = NOT_STARTED if continues else EXHAUSTED


@inline
def backup_values(items, own_strategy, s, workspace):
    """Compute the values of all decisions of a street from those of its folds and street ends."""
    live, value, bucket = workspace.live[s], workspace.value, workspace.bucket[s]
    table, stride = own_strategy.tables[s], own_strategy.stride[s]
    for item in range(items.at[s + 1] - 1, items.at[s] - 1, -1):
        kind = items.kind[item]
        if kind > OPPONENT or workspace.dead[items.reach[item]]:
            continue
        first, num_actions, slot = items.first[item], items.count[item], items.slot[item]
        if kind == OPPONENT:
            for k in range(live):
                value[item, k] = 0
            for child in range(first, first + num_actions):
                if not workspace.dead[items.reach[child]]:
                    for k in range(live):
                        value[item, k] += value[child, k]
            continue
        if kind == MAXIMIZE:  # children of own decisions share its reach, so none is dead
            for k in range(live):
                value[item, k] = value[first, k]
            for child in range(first + 1, first + num_actions):
                for k in range(live):
                    value[item, k] = max(value[item, k], value[child, k])
            continue
        for k in range(live):
            at = U(bucket[k] * stride + slot)
            total, mean, total_value = np.float64(0), np.float64(0), np.float64(0)
            for a in range(num_actions):
                weight = np.float64(table[at + U(a)])
                total += weight
                mean += weight * value[first + a, k]
                total_value += value[first + a, k]
            value[item, k] = mean / total if total > 0 else total_value / num_actions


@inline
def gather_street_ends(items, s, workspace):
    """Add the values of a board, times its multiplicity, to the street ends of the previous board."""
    multiplicity = workspace.multiplicity[s]
    for item in range(items.at[s], items.at[s + 1]):
        end = items.entry[item]
        if end >= 0 and not workspace.dead[items.reach[item]]:
            for k in range(workspace.live[s]):
                workspace.value[end, workspace.source[s, k]] += multiplicity * workspace.value[item, k]


@inline
def average_street_ends(items, cards, s, workspace):
    """Scale the summed values of street ends by the probability of a deal, and average them over suit permutations.

    The permutations are those that keep the board; so boards that were not visited, being isomorphic, are included.
    """
    live, group, scratch = workspace.live[s], workspace.group[s], workspace.scratch
    scale = cards.chance[s + 1] / popcount(group)
    for item in range(items.at[s], items.at[s + 1]):
        if items.kind[item] != STREET_END or workspace.dead[items.reach[item]]:
            continue
        out = workspace.value[item]
        if group == 1:  # most boards have only the identity
            for k in range(live):
                out[k] *= scale
            continue
        for k in range(live):
            scratch[k] = 0
        for g in range(len(cards.hand_maps)):
            if (group >> g) & 1:
                for k in range(live):
                    scratch[k] += out[workspace.place[s, cards.hand_maps[g, workspace.hand[s, k]]]]
        for k in range(live):
            out[k] = scratch[k] * scale


@kernel
def add_by_bucket(
    ends,  # int64 [ends]: items of one street
    vector,  # int64 [items]
    workspace,  # ResponseWorkspace after a traversal
    s,  # the street
    out,  # float64 [ends, buckets] INOUT
):
    """Add the values at the ends of a street to the sums by bucket of the responder's hand."""
    for i in range(len(ends)):
        if not workspace.dead[vector[ends[i]]]:
            for k in range(workspace.live[s]):
                out[i, workspace.bucket[s, k]] += workspace.value[ends[i], k]


class ResponseBoards(NamedTuple):
    """Boards of the second street; or complete boards, each with a single deal on every street."""

    cards: Array  # uint8 [boards, cards]
    multiplicity: Array  # float64 [boards]: isomorphic boards
    groups: Array  # int64 [boards]: suit permutations that keep the board


@kernel
def run_phase(
    items,  # BettingItems
    last,  # LastStreet
    cards,  # ResponseCards
    lookup,  # bucket tables
    opponent_strategy,  # StrategyTables of the opponent
    own_strategy,  # StrategyTables for FOLLOW_STRATEGY decisions
    phase,  # DOWN: reach of the first street; BOARDS: boards of the second street and below; UP: values of the first
    boards,  # ResponseBoards
    workspace,  # ResponseWorkspace INOUT: street ends of the first street sum the values of the boards
):
    """Run one phase of a traversal. Each stage is called from one place only, so that it is compiled once."""
    end, top, num_hands = len(cards.shown) - 1, np.int64(phase == PHASE_BOARDS), len(cards.held.mask)
    vector, dead, inner = items.reach, workspace.dead, workspace.last
    is_fixed = phase == PHASE_BOARDS and boards.cards.shape[1] > cards.dealt[top]
    if phase == PHASE_DOWN:
        for item in items.root:
            workspace.reach[vector[item], :] = 1
            dead[vector[item]] = False
        workspace.group[0] = (np.int64(1) << len(cards.card_maps)) - 1
        workspace.board_mask[0], workspace.multiplicity[0] = U(0), 1
    if phase == PHASE_BOARDS:
        for item in range(items.at[0], items.at[1]):
            if items.kind[item] == STREET_END:
                for k in range(workspace.live[0]):
                    workspace.value[item, k] = 0
        if end == top:
            for k in range(len(inner.gained)):
                inner.gained[k] = 0
    for b in range(len(boards.cards) if phase == PHASE_BOARDS else 1):
        if phase == PHASE_BOARDS:
            put_board(cards, boards.cards, b, top, workspace)
            workspace.multiplicity[top], workspace.group[top] = boards.multiplicity[b], boards.groups[b]
        s, entering = top, phase != PHASE_UP
        while s >= top:
            if entering:
                workspace.boards_visited[s] += 1
                lay_out_hands(lookup, cards, s, workspace)
                if s < end:
                    propagate_reach(items, cards, opponent_strategy, s, workspace)
                if s == max(end - 1, 0):
                    load_entry_reach(last, workspace.reach, vector, dead, workspace.live[s], num_hands, inner)
                if s == end:
                    hands = hands_of_board(cards, workspace)
                    evaluate_last_street(last, hands, workspace.multiplicity[s], workspace.last)
                if phase == PHASE_DOWN:
                    break
            if s < end:
                if phase == PHASE_BOARDS:
                    if is_fixed:
                        entering = fixed_deal(cards, s + 1, boards.cards, b, workspace)
                    else:
                        entering = next_deal(cards, s + 1, workspace)
                    if entering:
                        s += 1
                        continue
                    if s == end - 1:
                        store_entry_values(last, vector, dead, workspace.live[s], num_hands, inner, workspace.value)
                average_street_ends(items, cards, s, workspace)
                backup_values(items, own_strategy, s, workspace)
                if s > 0:
                    gather_street_ends(items, s, workspace)
            s, entering = s - 1, False
    if (phase == PHASE_BOARDS and end == top) or (phase == PHASE_DOWN and end == 0):
        store_entry_values(last, vector, dead, workspace.live[0], num_hands, inner, workspace.value)


# --- Boards below one of the second street, for a GPU ---

# A packed hand: its cards, its position on the previous street, and whether it is the last of the hands of equal
# strength.
CARD_BITS, PLACE_BITS = 6, 11
PLACE_OFFSET, TIE_OFFSET = 2 * CARD_BITS, 2 * CARD_BITS + PLACE_BITS


class DealtBoards(NamedTuple):
    """Boards of one street in order of traversal: boards that follow one board are consecutive."""

    hand: Array  # uint16 [boards · live]: unblocked hands; on the last street in order of strength
    place: Array  # int16 [boards · hands]: position of each hand; -1 if blocked
    bucket: Array  # int32 [boards · live]
    packed: Array  # uint32 [boards · live]: packed hands, see above
    first: Array  # int32 [boards + 1]: first child board on the next street
    parent: Array  # int32 [boards]: board of the previous street
    multiplicity: Array  # float64 [boards]: isomorphic boards
    group: Array  # int64 [boards]: a bit for each suit permutation that keeps the board


@kernel
def list_boards_below(
    cards,  # ResponseCards
    lookup,  # bucket tables
    boards,  # ResponseBoards: one of the second street
    workspace,  # ResponseWorkspace INOUT
    dealt,  # DealtBoards of each street; the first is not used OUT
    count,  # int64 [streets]: boards of each street OUT
):
    """List one board of the second street and all boards below it, up to suit isomorphism, with hands and buckets."""
    end, hands = len(cards.shown) - 1, len(cards.held.mask)
    put_board(cards, boards.cards, 0, 1, workspace)
    workspace.multiplicity[1], workspace.group[1] = boards.multiplicity[0], boards.groups[0]
    count[:] = 0
    s, entering = 1, True
    while s >= 1:
        if entering:
            workspace.boards_visited[s] += 1
            lay_out_hands(lookup, cards, s, workspace)
            out, b, live = dealt[s], count[s], workspace.live[s]
            for h in range(hands):
                out.place[b * hands + h] = -1
            for k in range(live):
                h = workspace.hand[s, k]
                tie = np.uint32(k + 1 == live or workspace.rank[k + 1] != workspace.rank[k])
                held = np.uint32(workspace.first[s, k]) | np.uint32(workspace.second[s, k]) << np.uint32(CARD_BITS)
                source = np.uint32(workspace.source[s, k]) << np.uint32(PLACE_OFFSET)
                out.packed[b * live + k] = held | source | tie << np.uint32(TIE_OFFSET)
                out.hand[b * live + k], out.place[b * hands + h] = h, k
                out.bucket[b * live + k] = workspace.bucket[s, k]
            out.parent[b] = count[s - 1] - 1 if s > 1 else 0
            out.multiplicity[b], out.group[b] = workspace.multiplicity[s], workspace.group[s]
            count[s] += 1
            if s < end:
                out.first[b] = count[s + 1]
                workspace.chosen[s + 1, 0] = NOT_STARTED
        if s < end and next_deal(cards, s + 1, workspace):
            s, entering = s + 1, True
            continue
        if s < end:
            dealt[s].first[count[s]] = count[s + 1]
        s, entering = s - 1, False
