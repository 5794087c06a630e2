"""Compiled best response to a blueprint in the real game: betting × boards, hands as vectors.

A street is walked once for each of its boards: down with the opponent's reach, up with the responder's values. Vectors run
over the hands that the board leaves. What goes on to the next street is an *exit*; it gathers what the boards that follow are
worth. Boards that differ in the names of suits alone are walked once: values are gathered for one of them, times how many
there are, and then averaged over the permutations that keep the board before.

The last street is walked in another way (`_last_street_kernels`): what is said of items here is about the streets before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import bucket_at, number_of
from riverboat.cards._kernels.isomorphism import close, deal, start, take
from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.equity._kernels.sweep import meets, sort_by_strength, weigh
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import LANES, load, prefetch, same, store, transpose
from riverboat.core.arrays import Array
from riverboat.evaluation.best_response._kernels.last_street import (
    BoardHands,
    LastRoom,
    bring_back,
    lay_out_entries,
    walk_last,
)

OWN, FOLLOW, OTHER, FOLD, EXIT = 0, 1, 2, 3, 4
DOWN, BOARDS, UP = 0, 1, 2
U = np.uint64
L = U(LANES)
ONE = np.uint64(1)
FRESH, SPENT = -1, -2  # instead of the first card of a deal: none was made yet; none is left
MOST_DEALT = 8


class Items(NamedTuple):
    """The betting as some players see it, street after street, each street player after player, parents before children.

    At its decisions a player takes the best move for each hand (OWN) or follows the strategy (FOLLOW); OTHER are those of its
    opponent.
    """

    at: Array  # int64 [streets]: items of street s are at[s] … at[s + 1] - 1; a game of one street has its roots, as exits
    root: Array  # int64 [players]: items of the root
    kind: Array  # int8 [items]
    first: Array  # int64 [items]: the first child, at decisions
    count: Array  # type: ignore[assignment]  # int64 [items]: moves
    slot: Array  # int64 [items]: where its moves are in a row of the table
    reach: Array  # int64 [items]: vector of the opponent's reach; children of own decisions share it
    entry: Array  # int64 [items]: exit of the street before, -1 where a move of the street leads here
    pay: Array  # float64 [items]: what the responder wins after a fold


class Cards(NamedTuple):
    """Hands, boards and permutations of suits."""

    hands: Array  # uint8 [hands, 2]: cards; the second is 52 where there is one
    flat: Array  # uint8 [hands · hole]: the same
    mask: Array  # uint64 [hands]: a bit for each card
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: and of their masks
    deck: Array  # uint8 [cards]
    card_maps: Array  # uint8 [permutations, 52]
    hand_maps: Array  # int32 [permutations, hands]
    dealt: Array  # int64 [streets]: cards that come to the board with each street
    shown: Array  # int64 [streets]: cards on it then
    chance: Array  # float64 [streets]: of one deal to a street, given two hands
    deals: Array  # float64 [streets]: how many there are where nobody holds any
    ranks: RankTables
    hole: int


class Room(NamedTuple):
    """Room for one walk."""

    reach: Array  # float64 [vectors, stride]: hands, and what is missing to a multiple of sixteen
    dead: Array  # bool [vectors]: whether it is all zeros; values there are not computed, and not read
    value: Array  # float64 [items + 1, stride]
    spare: Array  # float64 [hands]
    hand: Array  # int32 [streets, hands]: the hands that the board leaves; on the last street from weak to strong
    place: Array  # int32 [streets, hands]: where each is in that list
    source: Array  # int32 [streets, hands]: where each is in the list of the street before
    live: Array  # int64 [streets]: how many there are
    bucket: Array  # int64 [streets, hands], as in the list
    strength: Array  # uint16 [hands]: of hands, not places
    rank: Array  # uint16 [hands]: the same by place in the list of the last street
    first: Array  # uint8 [streets, hands]: cards of the hands, as in the list
    second: Array  # uint8 [streets, hands]
    digits: Array  # int64 [257]
    lanes: Array  # float64 [stride · 16]: reach at sixteen folds, side by side
    worth: Array  # float64 [stride · 16]: their values
    sums: Array  # float64 [CARDS · 16]: reach of the hands with a card
    lane_reach: Array  # uint64 [16]: where the reach at a fold begins
    lane_value: Array  # uint64 [16]: where its values go
    lane_pay: Array  # float64 [16]: what it pays
    board: Array  # uint8 [8]
    chosen: Array  # int64 [streets, MOST_DEALT]: places in the deck of the cards dealt to a street
    taken: Array  # uint64 [streets]: cards of the board
    group: Array  # int64 [streets]: a bit for each permutation that keeps all deals so far
    times: Array  # float64 [streets]: boards that this one stands for, given the one before
    public: Array  # int64 [streets]: the public bucket, where there are any
    walked: Array  # int64 [streets]: boards, for the record
    last: LastRoom


# --- boards -----------------------------------------------------------------------------------


@part
def bits(group):
    """How many permutations there are."""
    ones = 0
    while group:
        group &= group - 1
        ones += 1
    return ones


@part
def image(card_maps, g, mask):
    """Where a permutation takes a set of cards."""
    turned = U(0)
    for c in range(52):
        if (mask >> U(c)) & ONE:
            turned |= ONE << U(card_maps[g, c])
    return turned


@part
def step(chosen, count, size):
    """The next `count` of `size` things, in `chosen`; whether there is one."""
    if chosen[0] == SPENT:
        return False
    if chosen[0] == FRESH:
        for k in range(count):
            chosen[k] = k
        if count == 0:
            chosen[0] = SPENT
        return True
    k = count - 1
    while k >= 0 and chosen[k] == size - count + k:
        k -= 1
    if k < 0:
        chosen[0] = SPENT
        return False
    chosen[k] += 1
    for j in range(k + 1, count):
        chosen[j] = chosen[j - 1] + 1
    return True


@part
def next_deal(cards, s, room):
    """Put the next deal to street s on the board, one for each class; whether there is one."""
    chosen, count, before = room.chosen[s], cards.dealt[s], room.taken[s - 1]
    while step(chosen, count, len(cards.deck)):
        mask = U(0)
        for k in range(count):
            mask |= ONE << U(cards.deck[chosen[k]])
        if mask & before:
            continue
        least, kept, group = True, np.int64(0), room.group[s - 1]
        for g in range(len(cards.card_maps)):
            if (group >> g) & 1:
                other = image(cards.card_maps, g, mask)
                if other < mask:
                    least = False
                    break
                if other == mask:
                    kept |= np.int64(1) << g
        if not least:
            continue
        for k in range(count):
            room.board[cards.shown[s - 1] + k] = cards.deck[chosen[k]]
        room.taken[s] = before | mask
        room.group[s] = kept
        room.times[s] = bits(group) // bits(kept)
        return True
    return False


@part
def given_deal(cards, s, boards, b, room):
    """Put the only deal to street s that is wanted on the board: it stands for all of them."""
    if room.chosen[s, 0] == SPENT:
        return False
    room.chosen[s, 0] = SPENT
    room.taken[s] = room.taken[s - 1]
    for k in range(cards.shown[s - 1], cards.shown[s]):
        room.board[k] = boards[b, k]
        room.taken[s] |= ONE << U(boards[b, k])
    room.group[s], room.times[s] = 1, cards.deals[s]
    return True


@kernel
def list_deals(cards, room, out, times, groups):
    """All deals to the second street: cards, how many each stands for, and the permutations that keep it. How many."""
    listed = 0
    room.chosen[1, 0] = FRESH
    while next_deal(cards, 1, room):
        if listed < len(out):
            for k in range(cards.dealt[1]):
                out[listed, k] = room.board[k]
            times[listed] = room.times[1]
            groups[listed] = room.group[1]
        listed += 1
    return listed


# --- hands ------------------------------------------------------------------------------------


@part
def rank_hands(cards, last, live, room):
    """Sort the hands of the last street from weak to strong."""
    t, hand, strength = cards.ranks, room.hand[last], room.strength
    key, mask = START, U(0)
    size = cards.shown[last]
    for k in range(size):
        key += t.key[room.board[k]]
        mask += t.mask[room.board[k]]
    flushes = size + cards.hole >= 5
    for i in range(live):
        h = hand[i]
        if flushes:
            strength[h] = ranked(key + cards.key[h], mask + cards.suits[h], t.offset, t.value, t.flush)
        else:
            strength[h] = plain_value(key + cards.key[h], t.offset, t.value)
    sort_by_strength(hand, live, strength, room.source[last], room.digits)


@part
def find_buckets(look, cards, s, live, room):
    """The bucket of every hand on the board of street s."""
    t, board, shown = look.numbering, room.board, cards.shown
    layer = np.int64(0)
    room.public[s] = room.public[s - 1] if s else np.int64(-1)
    if look.public.size and s:
        dealt = take(t, 0, (0, 0, 0), board, 0, shown[s])
        whole = close(t, start(), dealt, shown[s])
        if shown[s] == look.decides:
            room.public[s] = np.int64(look.public[number_of(look, whole, look.flop)])
        street = look.streets[s]
        if street.layer.size:
            layer = np.int64(street.layer[number_of(look, whole, look.board[s]), room.public[s]])
    labels = look.streets[s].labels
    for k in range(live):  # all numbers first: the tables are large, and loads from memory overlap
        h = np.int64(room.hand[s, k])
        held = deal(t, start(), cards.flat, h * cards.hole, cards.hole)
        if shown[s]:
            held = close(t, held, take(t, held[0], (0, 0, 0), board, 0, shown[s]), shown[s])
        number = number_of(look, held, look.hand[s])
        room.bucket[s, k] = number
        prefetch(labels, U(layer * labels.shape[1] + number))
    for k in range(live):
        parent = room.bucket[s - 1, room.source[s, k]] if s else np.int64(0)
        room.bucket[s, k] = bucket_at(look, s, layer, room.bucket[s, k], parent)


@part
def lay_out_hands(look, cards, s, room):
    """Which hands the board of street s leaves, in what order, and their buckets."""
    hand, live = room.hand[s], 0
    if s == 0:
        for h in range(len(cards.mask)):
            hand[h] = h
        live = len(cards.mask)
    else:
        for k in range(room.live[s - 1]):
            h = room.hand[s - 1, k]
            if cards.mask[h] & room.taken[s] == U(0):
                hand[live] = h
                live += 1
    room.live[s] = live
    if s == len(cards.shown) - 1:
        rank_hands(cards, s, live, room)
    for k in range(live):
        room.place[s, hand[k]] = k
        room.source[s, k] = room.place[s - 1, hand[k]] if s else k
        room.first[s, k] = cards.hands[hand[k], 0]
        room.second[s, k] = cards.hands[hand[k], 1]
        room.rank[k] = room.strength[hand[k]]
    find_buckets(look, cards, s, live, room)


# --- folds ------------------------------------------------------------------------------------


@part
def settle(cards, s, live, room):
    """Pay the sixteen folds of a batch."""
    two, first, second = cards.hole == 2, room.first[s], room.second[s]
    reach, sums, worth = room.lanes, room.sums, room.worth
    for h in range(U(0), U(live), L):
        transpose(room.reach, room.lane_reach, reach, h * L, h)
    total = weigh(cards.deck, first, second, two, live, reach, sums, same(sums, np.float64(0)))
    pay = load(room.lane_pay, U(0))
    for k in range(live):
        store(worth, U(k) * L, meets(first, second, two, k, reach, sums, total) * pay)
    for h in range(U(0), U(live), L):
        transpose(worth, h * L, room.value, room.lane_value, h)


@part
def settle_all(items, cards, s, room):
    """Pay the folds of a street that are reached, sixteen at a time; empty lanes write to a row that nobody reads."""
    stride, beyond, lane = room.reach.shape[1], len(items.kind), 0
    for item in range(items.at[s], items.at[s + 1]):
        vector = items.reach[item]
        if items.kind[item] == FOLD and not room.dead[vector]:
            room.lane_reach[lane] = vector * stride
            room.lane_value[lane] = item * stride
            room.lane_pay[lane] = items.pay[item]
            lane += 1
        if lane == LANES or (lane > 0 and item == items.at[s + 1] - 1):
            for empty in range(lane, LANES):
                room.lane_reach[empty] = room.lane_reach[0]
                room.lane_value[empty] = beyond * stride
            settle(cards, s, room.live[s], room)
            lane = 0


# --- the walk of a street ---------------------------------------------------------------------


@part
def spread(items, table, stride, s, item, room):
    """The opponent's reach after each of its moves."""
    first, moves, slot = items.first[item], items.count[item], items.slot[item]
    reach, bucket = room.reach[items.reach[item]], room.bucket[s]
    for a in range(moves):
        room.dead[items.reach[first + a]] = True
    if room.dead[items.reach[item]]:
        return
    for k in range(room.live[s]):
        x = reach[k]
        at = U(bucket[k] * stride + slot)
        total = np.float64(0)
        for a in range(moves):
            total += np.float64(table[at + U(a)])
        scale = x / total if total > 0 else np.float64(0)
        rest = np.float64(0) if total > 0 else x / moves
        for a in range(moves):
            share = np.float64(table[at + U(a)]) * scale + rest
            vector = items.reach[first + a]
            room.reach[vector, k] = share
            if share > 0:
                room.dead[vector] = False


@part
def walk_down(items, cards, side, s, room):
    """Reach of all items of a street, and values of its folds. Deals are due where some exit is reached."""
    live, onward = room.live[s], False
    table, stride = side.tables[s], side.stride[s]
    for item in range(items.at[s], items.at[s + 1]):
        vector, kind = items.reach[item], items.kind[item]
        if items.entry[item] >= 0:
            source = items.reach[items.entry[item]]
            room.dead[vector] = True
            if not room.dead[source]:
                for k in range(live):
                    x = room.reach[source, room.source[s, k]]
                    room.reach[vector, k] = x
                    if x > 0:
                        room.dead[vector] = False
        if kind == OTHER:
            spread(items, table, stride, s, item, room)
        elif kind == EXIT and not room.dead[vector]:
            onward = True
            for k in range(live):
                room.value[item, k] = 0
    settle_all(items, cards, s, room)
    room.chosen[s + 1, 0] = FRESH if onward else SPENT


@part
def walk_up(items, side, s, room):
    """Values of all decisions of a street."""
    live, value, bucket = room.live[s], room.value, room.bucket[s]
    table, stride = side.tables[s], side.stride[s]
    for item in range(items.at[s + 1] - 1, items.at[s] - 1, -1):
        kind = items.kind[item]
        if kind > OTHER or room.dead[items.reach[item]]:
            continue
        first, moves, slot = items.first[item], items.count[item], items.slot[item]
        if kind == OTHER:
            for k in range(live):
                value[item, k] = 0
            for child in range(first, first + moves):
                if not room.dead[items.reach[child]]:
                    for k in range(live):
                        value[item, k] += value[child, k]
            continue
        if kind == OWN:  # what it may reach, all of its moves may
            for k in range(live):
                value[item, k] = value[first, k]
            for child in range(first + 1, first + moves):
                for k in range(live):
                    value[item, k] = max(value[item, k], value[child, k])
            continue
        for k in range(live):
            at = U(bucket[k] * stride + slot)
            total, mean, plain = np.float64(0), np.float64(0), np.float64(0)
            for a in range(moves):
                weight = np.float64(table[at + U(a)])
                total += weight
                mean += weight * value[first + a, k]
                plain += value[first + a, k]
            value[item, k] = mean / total if total > 0 else plain / moves


@part
def gather(items, s, room):
    """Add the values of a board to the exits of the one before."""
    times = room.times[s]
    for item in range(items.at[s], items.at[s + 1]):
        to = items.entry[item]
        if to >= 0 and not room.dead[items.reach[item]]:
            for k in range(room.live[s]):
                room.value[to, room.source[s, k]] += times * room.value[item, k]


@part
def average_exits(items, cards, s, room):
    """What was gathered at the exits of a board, times the chance of a deal, the same for hands that suits exchange."""
    live, group, spare = room.live[s], room.group[s], room.spare
    scale = cards.chance[s + 1] / bits(group)
    for item in range(items.at[s], items.at[s + 1]):
        if items.kind[item] != EXIT or room.dead[items.reach[item]]:
            continue
        out = room.value[item]
        if group == 1:  # most boards are kept by nothing but the permutation that changes nothing
            for k in range(live):
                out[k] *= scale
            continue
        for k in range(live):
            spare[k] = 0
        for g in range(len(cards.hand_maps)):
            if (group >> g) & 1:
                for k in range(live):
                    spare[k] += out[room.place[s, cards.hand_maps[g, room.hand[s, k]]]]
        for k in range(live):
            out[k] = spare[k] * scale


@part
def end_street(items, cards, last, s, room):
    """One board of the last street."""
    hands = BoardHands(
        cards.deck,
        room.first[s],
        room.second[s],
        room.rank,
        cards.hole == 2,
        room.source[s],
        room.live[s],
        len(cards.mask),
    )
    walk_last(last, room.bucket[s], hands, room.times[s], room.last)


@kernel
def add_by_bucket(
    ends,  # int64 [ends]: items of one street
    vector,  # int64 [items]
    room,  # Room, as a walk has left it
    s,  # the street
    out,  # float64 [ends, buckets] INOUT
):
    """Add up what the ends of a street are worth, by bucket of the responder's hand."""
    for i in range(len(ends)):
        if not room.dead[vector[ends[i]]]:
            for k in range(room.live[s]):
                out[i, room.bucket[s, k]] += room.value[ends[i], k]


class Boards(NamedTuple):
    """Boards of the second street; or of the last, each then with the one deal that leads there."""

    cards: Array  # uint8 [boards, cards]
    times: Array  # float64 [boards]: how many each stands for
    groups: Array  # int64 [boards]: the permutations that keep it


@kernel
def walk(
    items,  # Items
    last,  # LastStreet
    cards,  # Cards
    look,  # LookUp
    side,  # Side: what the opponent plays
    mine,  # Side: what is played at decisions of the kind FOLLOW
    phase,  # DOWN: lay out the first street; BOARDS: some boards of the second, with all that follow; UP: the first again
    boards,  # Boards
    room,  # Room INOUT: the exits of the first street gather what the boards are worth
):
    """One phase of a walk. Each stage has one place in the code, so that it is compiled once."""
    end, top, vector = len(cards.shown) - 1, np.int64(phase == BOARDS), items.reach
    given = phase == BOARDS and boards.cards.shape[1] > cards.dealt[top]
    if phase == DOWN:
        for item in items.root:
            room.reach[vector[item], :] = 1
            room.dead[vector[item]] = False
        room.group[0] = (np.int64(1) << len(cards.card_maps)) - 1
        room.taken[0], room.times[0] = U(0), 1
    if phase == BOARDS:
        for item in range(items.at[0], items.at[1]):
            if items.kind[item] == EXIT:
                for k in range(room.live[0]):
                    room.value[item, k] = 0
        if end == top:
            for k in range(len(room.last.gained)):
                room.last.gained[k] = 0
    for b in range(len(boards.cards) if phase == BOARDS else 1):
        if phase == BOARDS:
            room.taken[top] = U(0)
            for k in range(cards.dealt[top]):
                room.board[k] = boards.cards[b, k]
                room.taken[top] |= ONE << U(boards.cards[b, k])
            room.times[top], room.group[top] = boards.times[b], boards.groups[b]
        s, entering = top, phase != UP
        while s >= top:
            if entering:
                room.walked[s] += 1
                lay_out_hands(look, cards, s, room)
                if s < end:
                    walk_down(items, cards, side, s, room)
                if s == max(end - 1, 0):
                    lay_out_entries(last, room.reach, vector, room.dead, room.live[s], len(cards.mask), room.last)
                if s == end:
                    end_street(items, cards, last, s, room)
                if phase == DOWN:
                    break
            if s < end:
                if phase == BOARDS:
                    if next_deal(cards, s + 1, room) if not given else given_deal(cards, s + 1, boards.cards, b, room):
                        s, entering = s + 1, True
                        continue
                    if s == end - 1:
                        bring_back(last, vector, room.dead, room.live[s], len(cards.mask), room.last, room.value)
                average_exits(items, cards, s, room)
                walk_up(items, mine, s, room)
                if s > 0:
                    gather(items, s, room)
            s, entering = s - 1, False
    if (phase == BOARDS and end == top) or (phase == DOWN and end == 0):
        bring_back(last, vector, room.dead, room.live[0], len(cards.mask), room.last, room.value)
