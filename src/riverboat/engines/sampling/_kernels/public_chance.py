"""Compiled traversals of one board over betting tree × buckets: public chance sampling and CFR-BR.

Public chance sampling (Johanson et al. 2012, Algorithm 1) has vectors of hands for both seats (PCS), or for one seat
against a sampled hand of the other (OPCS: the vector learns; SPCS: the sampled hand learns). The board is sampled, and
the betting is traversed once. Hands have one order for the whole board: first those that the full board does not block,
from weak to strong, then those that the last street blocks, then those that the street before blocks. So the possible
hands of any street are the first ones, and nothing moves between streets.

CFR-BR (Johanson, Bard, Burch & Bowling 2012) updates a seat with a card abstraction against an unabstracted opponent.
On the last street, where no chance is left, that opponent plays a best response to the seat's current strategy; before,
it uses regret matching for each hand without buckets. First the opponent is traversed, whose best actions are stored,
then the seat.

All of them share one frame, `traverse_board`, with two sides. Hands of one bucket share a strategy: it is computed once
for each bucket on the board, and the values of its hands are summed before they are added to the table.

A terminal weights a pair of hands by its probability given the board there: 1 / (pairs that this board does not block).
A showdown is evaluated on the full board, also after an all-in on an earlier street. The last section packs boards for
training on a GPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK, bucket_at, locate_labels
from riverboat.cards._kernels.ranking import INITIAL_KEY, rank_by_keys
from riverboat.cards.equity._kernels.showdown_values import compatible_reach, showdown_wins, sort_by_strength, sum_reach
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random_bits
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import (
    action_probability,
    average_at,
    regret_at,
    regret_matching_scale,
    set_average,
    set_regret,
)
from riverboat.engines.sampling._kernels.deal import deal_cards, low_bits
from riverboat.engines.sampling._kernels.external import (
    COUNT_SHIFT,
    FIRST_NODE_DRAW,
    SHOWDOWN_BIT,
    STREET_MASK,
    TERMINAL_BIT,
)

U, V = np.uint64, np.uint32
ONE_BIT = np.uint64(1)
NO_CARD = 52
NONE = np.int64(-1)
PCS, OPCS, SPCS, CFR_BR = range(4)  # traversals
ALL_HANDS = np.int64(-1)
TIE_MARGIN = 1e-4  # chips times reach: actions of a best response that differ by less count as equal


class DeckHands(NamedTuple):
    """All hands of the deck, and their probabilities."""

    cards: Array  # uint8 [hands, 2]: the second is NO_CARD for one-card hands
    mask: Array  # uint64 [hands]: bit mask of the cards
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: sums of suit masks
    shown: Array  # int64 [streets]: board cards
    pair: Array  # float64 [streets]: probability of a pair of hands, given the board of a street
    hand: Array  # float64 [streets]: probability of one hand


class BoardWorkspace(NamedTuple):
    """Memory of a board and its hands. A position is an index in the order of hands (see the module's text)."""

    cards: Array  # uint8 [hole + board cards]: a hand and the board, for look-ups
    drawn: Array  # uint8 [2]: the sampled hand of OPCS and SPCS
    order: Array  # int32 [hands]: hand by position
    spare: Array  # int32 [hands] scratch
    first: Array  # uint8 [hands]: cards of the hand, by position
    second: Array  # uint8 [hands]
    strength: Array  # uint16 [hands], by hand
    rank: Array  # uint16 [hands]: strength by position
    live: Array  # int64 [streets]: hands that the board does not block
    member: Array  # int32 [streets, hands]: index of its bucket on this board, by position
    bucket: Array  # int64 [streets, hands]: those buckets
    kinds: Array  # int64 [streets]: number of buckets on this board
    known: Array  # int64 [streets, power of two]: hash table of buckets; NONE if free
    number: Array  # int32 [same]: their indices on this board
    digits: Array  # int64 [257]
    place: Array  # int64 [streets, hands]: bucket by position
    layers: Array  # int64 [LOOKUP_BLOCK, streets]
    numbers: Array  # int64 [LOOKUP_BLOCK, 1, streets]
    sums: Array  # float64 [53]: by card; zero at NO_CARD


class BettingDecision(NamedTuple):
    """Decision node of the betting tree, unpacked from `SamplingGame.nodes`."""

    node: int
    first: int  # its first child
    street: int
    seat: int
    moves: int


class HandFrames(NamedTuple):
    """Memory of a traversal: one frame for each level of the tree, with vectors over hands."""

    node: Array  # int64 [levels]
    move: Array  # int64 [levels]: next action
    reach: Array  # float32 [levels, 2, hands]: reach of each seat
    value: Array  # float32 [levels, 2, hands]: values of each seat, times the probability of the pairs
    sigma: Array  # float32 [levels, actions, hands]: strategies by bucket
    worth: Array  # float64 [levels, actions, hands]: values of the actions, summed over the hands of a bucket
    held: Array  # float64 [hands]: reach of a bucket's hands
    beats: Array  # float64 [hands]
    best: Array  # int8 [nodes, hands]: CFR-BR's best actions, by position on the board; else empty
    margin: float  # TIE_MARGIN in the unit of the tables' payoffs


class TraversalPlayer(NamedTuple):
    """A player of CFR-BR: a table of strategies by bucket, and a board with those buckets."""

    game: Any  # SamplingGame, with the layout of the table
    look: Any  # BucketLookup
    cells: Array  # float32 or uint16 [cells + 1] INOUT
    board: BoardWorkspace


class TraversalSide(NamedTuple):
    """A seat in a traversal, with all its hands or a sampled one, and its buckets on the board."""

    seat: int
    hand: int  # position of the sampled hand, or ALL_HANDS
    responds: bool  # whether it plays a best response on the last street
    cells: Array  # float32 or uint16 [cells + 1] INOUT
    base: Array  # int64 [streets]: first cell of a street's rows
    member: Array  # int32 [streets, hands], see `BoardWorkspace`
    bucket: Array  # int64 [streets, hands]
    kinds: Array  # int64 [streets]


# --- boards -----------------------------------------------------------------------------------


@inline
def order_hands(game, hands, b):
    """Order the hands of a board, and rank those that the full board does not block."""
    last, used = len(hands.shown) - 1, 0
    key, suits, next_mask = INITIAL_KEY, U(0), U(0)
    for c in range(game.hole, game.hole + game.board):
        key += game.ranks.key[b.cards[c]]
        suits += game.ranks.mask[b.cards[c]]
    for s in range(last, -1, -1):
        board_mask = U(0)  # board mask of this street; `next_mask` is that of the next
        for c in range(game.hole, game.hole + hands.shown[s]):
            board_mask |= ONE_BIT << U(b.cards[c])
        for h in range(len(hands.mask)):
            if hands.mask[h] & board_mask == U(0) and (s == last or hands.mask[h] & next_mask != U(0)):
                b.order[used] = h
                used += 1
        b.live[s] = used
        next_mask = board_mask
    for i in range(b.live[last]):
        h = b.order[i]
        b.strength[h] = rank_by_keys(game.ranks, key + hands.key[h], suits + hands.suits[h], game.hole + game.board)
    sort_by_strength(b.order, b.live[last], b.strength, b.spare, b.digits)
    for i in range(used):
        b.first[i] = hands.cards[b.order[i], 0]
        b.second[i] = hands.cards[b.order[i], 1]
        b.rank[i] = b.strength[b.order[i]]


@inline
def number_board_bucket(b, s, i, bucket):
    """Number a bucket among those of this board on street s, and record the number for the hand at position i."""
    mask = U(b.known.shape[1] - 1)
    at = (U(bucket) * U(0x9E3779B97F4A7C15)) >> U(40) & mask
    while b.known[s, at] != NONE and b.known[s, at] != bucket:
        at = (at + ONE_BIT) & mask
    if b.known[s, at] == NONE:
        b.known[s, at] = bucket
        b.number[s, at] = b.kinds[s]
        b.bucket[s, b.kinds[s]] = bucket
        b.kinds[s] += 1
    b.member[s, i] = b.number[s, at]


@inline
def find_buckets(game, look, hands, b):
    """Look up the bucket of each hand on each street whose board does not block it, and number them on the board."""
    direct, streets = game.direct, len(hands.shown)
    mask, seen = np.int64(0), game.hole
    for s in range(streets):
        b.kinds[s] = 0
        for k in range(b.known.shape[1]):
            b.known[s, k] = NONE
        if len(direct.bucket) > 0:
            for c in range(seen, game.hole + hands.shown[s]):
                mask |= np.int64(1) << np.int64(direct.place[b.cards[c]])
            seen = game.hole + hands.shown[s]
            row = direct.start[s] + np.int64(direct.board[U(mask)]) * direct.hands
            for i in range(b.live[s]):
                number_board_bucket(b, s, i, np.int64(direct.bucket[U(row + b.order[i])]))
    if len(direct.bucket) > 0:
        return
    num_streets = streets  # the hands before live[num_streets - 1] have this many streets, later ones fewer
    for begin in range(0, b.live[0], LOOKUP_BLOCK):
        end, alive = min(begin + LOOKUP_BLOCK, b.live[0]), num_streets
        for i in range(begin, end):  # all indices first, so that memory loads overlap
            while i >= b.live[alive - 1]:
                alive -= 1
            b.cards[0] = b.first[i]
            if game.hole == 2:
                b.cards[1] = b.second[i]
            locate_labels(look, b.cards, 0, 1, alive, b.layers[i - begin], b.numbers[i - begin])
            for s in range(alive):
                labels = look.streets[s].labels
                prefetch(labels, U(b.layers[i - begin, s] * labels.shape[1] + b.numbers[i - begin, 0, s]))
        for i in range(begin, end):
            while i >= b.live[num_streets - 1]:
                num_streets -= 1
            bucket = np.int64(0)
            for s in range(num_streets):
                bucket = np.int64(bucket_at(look, s, b.layers[i - begin, s], b.numbers[i - begin, 0, s], bucket))
                b.place[s, i] = bucket
    for s in range(streets):
        for i in range(b.live[s]):
            number_board_bucket(b, s, i, b.place[s, i])


# --- terminals --------------------------------------------------------------------------------


@inline
def terminal_values(game, hands, b, node, seat, k, f, d):
    """Compute the values of a terminal for all hands of a seat, side k of frame d, against all hands of the other."""
    word, pay, two = np.int64(game.nodes[4 * node]), np.float64(game.pay[4 * node + 3]), game.hole == 2
    street = len(hands.shown) - 1 if word & SHOWDOWN_BIT else word & STREET_MASK
    live, pay, reach, out = b.live[street], pay * hands.pair[street], f.reach[d, 1 - k], f.value[d, k]
    if word & SHOWDOWN_BIT:  # the reach of weaker hands minus that of stronger hands
        total = showdown_wins(game.deck, b.first, b.second, b.rank, two, live, reach, b.sums, f.beats, 0.0)
        for i in range(live):
            out[i] = pay * (f.beats[i] - compatible_reach(b.first, b.second, two, i, reach, b.sums, total))
        return
    total = sum_reach(game.deck, b.first, b.second, two, live, reach, b.sums, 0.0)
    for i in range(live):
        out[i] = pay * (1 - 2 * seat) * compatible_reach(b.first, b.second, two, i, reach, b.sums, total)


@inline
def sampled_terminal_values(game, hands, b, node, mine, other, f, d):
    """Compute the values of a terminal for side 0 of frame d, where one of the sides has a sampled hand."""
    word, reach, value = np.int64(game.nodes[4 * node]), f.reach[d, 1], f.value[d, 0]
    is_showdown, hand = word & SHOWDOWN_BIT != 0, max(mine.hand, other.hand)
    street = len(hands.shown) - 1 if is_showdown else word & STREET_MASK
    live, rank = b.live[street], np.int64(b.rank[hand])
    pay = np.float64(game.pay[4 * node + 3]) * hands.pair[street] / hands.hand[street]
    if not is_showdown:
        pay *= 1 - 2 * mine.seat
    if mine.hand == ALL_HANDS:
        pay *= reach[hand]
        if not is_showdown:
            for i in range(live):
                value[i] = pay * f.beats[i]
            return
        for i in range(live):
            difference = np.int64(b.rank[i]) - rank
            value[i] = pay * f.beats[i] * ((difference > 0) - (difference < 0))
        return
    total = 0.0
    for i in range(live):
        difference = rank - np.int64(b.rank[i])
        total += reach[i] * ((difference > 0) - (difference < 0) if is_showdown else 1)
    value[hand] = pay * total


# --- decisions --------------------------------------------------------------------------------


@inline
def decision_at(game, node):
    """Unpack the decision at a node."""
    word = np.int64(game.nodes[4 * node])
    return BettingDecision(
        node, np.int64(game.nodes[4 * node + 1]), word & STREET_MASK, word >> 2 & 1, word >> COUNT_SHIFT
    )


@inline
def make_side(cells, base, b, seat, hand, responds):
    """Return a seat's side of a traversal, with its table and the buckets of board b."""
    return TraversalSide(np.int64(seat), np.int64(hand), responds, cells, base, b.member, b.bucket, b.kinds)


@inline
def responds_at(side, at):
    """Return whether a side finds or plays a best response at a decision, instead of playing its table."""
    return side.responds and at.street == len(side.kinds) - 1


@inline
def bucket_range(side, street):
    """Return the range of bucket indices on the board that a side uses: all, or that of its sampled hand."""
    if side.hand == ALL_HANDS:
        return U(0), U(side.kinds[street])
    j = U(side.member[street, side.hand])
    return j, j + ONE_BIT


@inline
def decision_cell(game, side, at, j):
    """Return the first cell of a decision for the bucket with index j on the board."""
    row = side.bucket[at.street, j] * game.width[at.street]
    return U(side.base[at.street] + row + game.nodes[4 * at.node + 2])


@inline
def rounding_bits(key, node, j, what):
    """Return 32 random bits that round the averages (what = 0) or regrets (1) of bucket j at a decision."""
    return low_bits(random_bits(key, U(FIRST_NODE_DRAW) + (U(node) << U(12) | U(j) << U(1) | U(what))))


@inline
def begin_decision(game, side, k, learns, at, live, weight, share, key, f, d):
    """Compute the strategies of side k at its decision, by bucket, and if it `learns` update its averages.

    `live`: number of possible hands; `weight`: probability of one hand of the side; `share`: increment of an average by
    one hand.
    """
    if responds_at(side, at):
        return
    cells, held = side.cells, f.held
    first, end = bucket_range(side, at.street)
    if learns:
        for j in range(first, end):
            held[j] = 0
            for a in range(at.moves):
                f.worth[d, a, j] = 0
        low, high = (np.int64(0), live) if side.hand == ALL_HANDS else (side.hand, side.hand + 1)
        for i in range(U(low), U(high)):
            held[side.member[at.street, i]] += f.reach[d, k, i]
    for j in range(first, end):
        cell = decision_cell(game, side, at, j)
        scale, rest = regret_matching_scale(cells, cell, at.moves)
        for a in range(at.moves):
            f.sigma[d, a, j] = action_probability(cells, cell + U(a), scale, rest)
        if learns and held[j] > 0:
            increment, noise = held[j] * weight * share, rounding_bits(key, at.node, j, 0)
            for a in range(at.moves):
                to = cell + U(at.moves + a)
                set_average(cells, to, average_at(cells, to) + increment * f.sigma[d, a, j], noise)


@inline
def update_regrets(game, side, at, key, f, d):
    """Update the regrets of a decision from the values of its actions, summed over the hands of each bucket."""
    if responds_at(side, at):
        return
    cells = side.cells
    first, end = bucket_range(side, at.street)
    for j in range(first, end):
        cell, noise, mean = decision_cell(game, side, at, j), rounding_bits(key, at.node, j, 1), np.float64(0)
        for a in range(at.moves):
            mean += f.sigma[d, a, j] * f.worth[d, a, j]
        for a in range(at.moves):
            to = cell + U(a)
            set_regret(cells, to, regret_at(cells, to) + np.float32(f.worth[d, a, j] - mean), noise)


@inline
def send_reach(member, k, a, acts, first, end, f, d):
    """Write the reach of side k after action a to the next frame, times the strategy if it `acts`; return its sum."""
    total = np.float32(0)
    for i in range(first, end):
        x = f.reach[d, k, i]
        if acts:
            x *= f.sigma[d, a, member[i]]
        f.reach[d + 1, k, i] = x
        total += x
    return total


@inline
def send_side_reach(side, k, at, a, live, f, d):
    """Write the reach of a side after an action to the next frame, and return the sum.

    A side that responds has found its best actions as side 0, and plays them as side 1.
    """
    member, acts, responds = side.member[at.street], at.seat == side.seat, responds_at(side, at)
    if side.hand != ALL_HANDS:
        return send_reach(member, k, a, acts, side.hand, side.hand + 1, f, d)
    if not (acts and responds and k == 1):
        return send_reach(member, k, a, acts and not responds, 0, live, f, d)
    total = np.float32(0)
    for i in range(live):
        x = f.reach[d, k, i] if f.best[at.node, i] == a else np.float32(0)
        f.reach[d + 1, k, i] = x
        total += x
    return total


@inline
def gather_values(side, k, at, a, first, end, margin, f, d):
    """Add the values of an action's child, in the next frame, to those of the decision, for hands first … end - 1.

    Where the side finds a best response, an action is chosen only if it is better than the previous ones by `margin`.
    """
    if at.seat != side.seat:
        for i in range(first, end):
            f.value[d, k, i] += f.value[d + 1, k, i]
    elif responds_at(side, at):
        for i in range(first, end):
            x = f.value[d + 1, k, i]
            if a == 0 or x > f.value[d, k, i] + margin:
                f.value[d, k, i] = x
                f.best[at.node, i] = a
    else:
        for i in range(first, end):
            j, x = side.member[at.street, i], f.value[d + 1, k, i]
            f.value[d, k, i] += f.sigma[d, a, j] * x
            f.worth[d, a, j] += x


@inline
def gather_side_values(side, k, at, a, live, margin, f, d):
    """Add the values of an action's child to the decision, for the hands of a side."""
    if side.hand == ALL_HANDS:  # loops from zero use SIMD vectors
        gather_values(side, k, at, a, 0, live, margin, f, d)
    else:
        gather_values(side, k, at, a, side.hand, side.hand + 1, margin, f, d)


# --- traversal --------------------------------------------------------------------------------


@kernel
def traverse_board(
    game,  # SamplingGame, with payoffs in units of side 0
    hands,  # DeckHands
    b,  # BoardWorkspace
    key,
    share,  # increment of an average by one hand
    mine,  # TraversalSide 0: its values are computed, and its table is updated
    other,  # TraversalSide 1
    both,  # whether side 1 learns as well
    f,  # HandFrames: `beats` has the hands that a sampled hand does not block
):
    """Traverse the betting on one board. Return the number of visited decisions times hands."""
    last, d, visited = len(hands.shown) - 1, 0, 0
    vectors, margin = mine.hand == other.hand, np.float32(f.margin * hands.pair[last])
    sides = 2 if both else 1  # sides whose values are computed
    f.node[0], f.move[0] = 0, 0
    for k in range(2):
        for i in range(b.live[0]):
            f.reach[0, k, i] = 1 if vectors else f.beats[i]
    if not vectors:
        f.reach[0, 0 if other.hand == ALL_HANDS else 1, max(mine.hand, other.hand)] = 1
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        live, k = b.live[at.street], np.int64(at.seat != mine.seat)
        actor = mine if k == 0 else other  # each function is called in one place: it is inlined and compiled once
        if a == 0:
            for side in range(sides):
                for i in range(live):
                    f.value[d, side, i] = 0
            weight = hands.hand[at.street]
            if not vectors:
                weight = hands.pair[at.street] / weight if mine.hand == ALL_HANDS else 1.0
            begin_decision(game, actor, k, k < sides, at, live, weight, share, key, f, d)
            visited += live if actor.hand == ALL_HANDS else 1
        if a == at.moves:
            if k < sides:
                update_regrets(game, actor, at, key, f, d)
            if d == 0:
                return visited
            d -= 1  # its values are added to the action that led here
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
        else:
            f.move[d] = a + 1
            child = at.first + a
            word = np.int64(game.nodes[4 * child])
            live = b.live[last] if word & SHOWDOWN_BIT else b.live[word & STREET_MASK]
            own, theirs = np.float32(0), np.float32(0)
            for side in range(2):
                own, theirs = theirs, send_side_reach(mine if side == 0 else other, side, at, a, live, f, d)
            if theirs == 0 and (own == 0 or other.responds) and not mine.responds:
                continue  # the values are zero; a responder needs a best action there as well: the first one
            if word & TERMINAL_BIT == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            if vectors:
                for side in range(sides):
                    terminal_values(game, hands, b, child, mine.seat if side == 0 else other.seat, side, f, d + 1)
            else:
                sampled_terminal_values(game, hands, b, child, mine, other, f, d + 1)
        for side in range(sides):
            gather_side_values(mine if side == 0 else other, side, at, a, live, margin, f, d)


@inline
def mark_free_hands(hands, b, one, two, free):
    """Write to `free`, by position, 1 for hands that the sampled hand does not block, else 0.

    Returns the position of the sampled hand. `one`: its cards; `two`: whether hands have two cards.
    """
    position, taken = np.int64(0), ONE_BIT << U(one[0])
    if two:
        taken |= ONE_BIT << U(one[1])
    for i in range(b.live[0]):
        h = b.order[i]
        free[i] = 1.0 if hands.mask[h] & taken == U(0) else 0.0
        if hands.mask[h] == taken:
            position = np.int64(i)
    return position


@kernel
def train_on_boards(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange of boards
    share,  # increment of an average by one hand
    traversal,  # PCS, OPCS, SPCS or CFR_BR
    hands,  # DeckHands
    b,  # BoardWorkspace
    f,  # HandFrames
    responder,  # TraversalPlayer: the unabstracted opponent of CFR-BR
    tally,  # SamplingTally INOUT: visited decisions times hands; values of each seat
):
    """Train on sampled boards, with immediate updates of the tables: threads race.

    PCS traverses a board once, OPCS and SPCS once for each seat, CFR-BR twice for each seat.
    """
    responds = traversal == CFR_BR
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + LOOKUP_BLOCK, deals.end)):
            key, visited = random_bits(deals.seed, i), 0
            taken, tries = deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            order_hands(game, hands, b)
            find_buckets(game, look, hands, b)
            if responds:
                find_buckets(responder.game, responder.look, hands, responder.board)
            for me in range(1 if traversal == PCS else 2):
                hand = ALL_HANDS
                if traversal == OPCS or traversal == SPCS:
                    _, tries = deal_cards(game.deck, key, taken, tries, b.drawn, 0, game.hole)
                    hand = mark_free_hands(hands, b, b.drawn, game.hole == 2, f.beats)
                own_hand, other_hand = (hand, ALL_HANDS) if traversal == SPCS else (ALL_HANDS, hand)
                mine = make_side(cells, game.base, b, me, own_hand, False)
                if responds:
                    other = make_side(responder.cells, responder.game.base, responder.board, 1 - me, ALL_HANDS, True)
                else:
                    other = make_side(cells, game.base, b, 1 - me, other_hand, False)
                for responding in range(1 if responds else 0, -1, -1):  # one call, so that it is compiled once
                    learner, facing, tree = mine, other, game
                    if responding:
                        learner, facing, tree = other, mine, responder.game
                    visited += traverse_board(tree, hands, b, key, share, learner, facing, traversal == PCS, f)
                for k in range(2 if traversal == PCS else 1):
                    for h in range(b.live[0]):
                        tally.payoff[me + k] += f.value[0, k, h]
            tally.decisions[0] += visited


# --- packed boards for training on a GPU: hands from weak to strong, and grouped by bucket ------------

CARD_BITS, TIE, BUCKET, RUN = 6, 12, 13, 16  # as in `riverboat.engines.cuda._kernels.public_chance`


class PackedBoardArrays(NamedTuple):
    """Packed boards, see `riverboat.engines.cuda._kernels.public_chance`, with the offsets of each street."""

    seen: Array  # uint32
    by_bucket: Array  # int32
    run: Array  # int32
    at: Array  # int64 [streets]
    run_at: Array  # int64 [streets]
    runs: Array  # int64 [streets]: runs of a board
    first: Array  # int32 [hands + 1] scratch of a thread


@kernel
def pack_boards(game, look, hands, b, deals, out):
    """Deal boards deals.begin … deals.end - 1 of a run and pack them for the GPU; threads take boards in turn."""
    last = len(hands.shown) - 1
    while True:
        number = fetch_add(deals.turn)
        if deals.begin + number >= deals.end:
            return
        deal_cards(game.deck, random_bits(deals.seed, deals.begin + number), U(0), 0, b.cards, game.hole, game.board)
        order_hands(game, hands, b)
        find_buckets(game, look, hands, b)
        for s in range(last + 1):
            live, kinds = b.live[s], b.kinds[s]
            at = out.at[s] + number * live
            for j in range(kinds + 1):
                out.first[j] = 0
            for i in range(live):
                bucket, tie = b.bucket[s, b.member[s, i]], i + 1 >= b.live[last] or b.rank[i + 1] != b.rank[i]
                packed = V(b.first[i]) | V(b.second[i]) << V(CARD_BITS) | V(tie) << V(TIE) | V(bucket) << V(BUCKET)
                out.seen[at + i] = packed
                out.first[b.member[s, i] + 1] += 1
            r, to = (out.run_at[s] + number * out.runs[s]) * 3, 0
            for j in range(kinds):
                count, begin = out.first[j + 1], to
                out.first[j] = to
                to += count
                while begin < to:
                    out.run[r], out.run[r + 1], out.run[r + 2] = begin, min(RUN, to - begin), b.bucket[s, j]
                    r, begin = r + 3, begin + RUN
            end = (out.run_at[s] + (number + 1) * out.runs[s]) * 3
            while r < end:
                out.run[r + 1] = 0
                r += 3
            for i in range(live):
                j = b.member[s, i]
                out.by_bucket[at + out.first[j]] = i
                out.first[j] += 1
