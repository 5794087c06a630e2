"""Compiled public chance sampling over betting tree × buckets (Johanson et al. 2012, Algorithm 1).

PCS has vectors of hands for both seats, OPCS and SPCS for one seat. The board is sampled, and the betting is traversed
once with the vectors. Hands have one order for the whole board: first those that the full board does not block, from weak
to strong, then those that the last street blocks, then those that the street before blocks. So the possible hands of any
street are the first ones, and nothing moves between streets.

Hands of one bucket share a strategy: it is computed once for each bucket on the board, and the values of its hands are
summed before they are added to the table.

A terminal weights a pair of hands by its probability given the board there: 1 / (pairs that this board does not block). A
showdown is evaluated on the full board, also after an all-in on an earlier street. The last section packs boards for
training on a GPU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK, bucket_at, locate_labels
from riverboat.cards._kernels.ranking import INITIAL_KEY, hand_rank, rank_without_flush
from riverboat.cards.equity._kernels.showdown_values import compatible_reach, showdown_wins, sort_by_strength, sum_reach
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random_bits
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import average_at, regret_at, set_average, set_regret
from riverboat.engines.sampling._kernels.deal import deal_cards, low_bits
from riverboat.engines.sampling._kernels.external import (
    COUNT_SHIFT,
    FIRST_NODE_DRAW,
    SHOWDOWN_BIT,
    STREET_MASK,
    TERMINAL_BIT,
    regret_matching_scale,
)

U = np.uint64
ONE_BIT = np.uint64(1)
NO_CARD = 52
NONE = np.int64(-1)


class DeckHands(NamedTuple):
    """All hands of the deck, and their probabilities."""

    cards: Array  # uint8 [hands, 2]: the second is NO_CARD for one-card hands
    mask: Array  # uint64 [hands]: bit mask of the cards
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: sums of suit masks
    shown: Array  # int64 [streets]: board cards
    pair: Array  # float64 [streets]: probability of a pair of hands, given the board
    hand: Array  # float64 [streets]: probability of one hand


class BoardWorkspace(NamedTuple):
    """Memory of a board and its hands. A position is an index in the order above."""

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
    """A decision node."""

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
        if game.hole + game.board >= 5:
            b.strength[h] = hand_rank(
                key + hands.key[h], suits + hands.suits[h], game.ranks.offset, game.ranks.value, game.ranks.flush
            )
        else:
            b.strength[h] = rank_without_flush(key + hands.key[h], game.ranks.offset, game.ranks.value)
    sort_by_strength(b.order, b.live[last], b.strength, b.spare, b.digits)
    for i in range(used):
        b.first[i] = hands.cards[b.order[i], 0]
        b.second[i] = hands.cards[b.order[i], 1]
        b.rank[i] = b.strength[b.order[i]]


@inline
def number_board_bucket(b, s, i, bucket):
    """Assign a bucket its index on this board and record it for the hand at a position."""
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
    """Find the buckets of all hands on all streets that do not block them."""
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
    num_streets = streets  # of the hands before live[num_streets - 1]; later hands have fewer streets
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
def fold_values(deck, b, two, live, pay, reach, out):
    """Compute the values after a fold: the pay-off times the compatible reach."""
    total = sum_reach(deck, b.first, b.second, two, live, reach, b.sums, 0.0)
    for k in range(live):
        out[k] = pay * compatible_reach(b.first, b.second, two, k, reach, b.sums, total)


@inline
def showdown_values(deck, b, two, live, stake, reach, beats, out):
    """Compute the values of a showdown: the stake times the reach of weaker minus stronger hands."""
    total = showdown_wins(deck, b.first, b.second, b.rank, two, live, reach, b.sums, beats, 0.0)
    for k in range(live):
        out[k] = stake * (beats[k] - compatible_reach(b.first, b.second, two, k, reach, b.sums, total))


@inline
def terminal_values(game, hands, b, node, f, d):
    """Compute the values of a terminal for all hands of both seats, in frame d."""
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay, two = np.float64(game.pay[4 * node + 3]), game.hole == 2
    if word & SHOWDOWN_BIT:
        stake = pay * hands.pair[last]
        for seat in range(2):
            showdown_values(game.deck, b, two, b.live[last], stake, f.reach[d, 1 - seat], f.beats, f.value[d, seat])
        return
    street = word & STREET_MASK
    for seat in range(2):
        payoff = pay * hands.pair[street] * (1 - 2 * seat)
        fold_values(game.deck, b, two, b.live[street], payoff, f.reach[d, 1 - seat], f.value[d, seat])


# --- decisions --------------------------------------------------------------------------------


@inline
def decision_cell(game, b, node, street, j):
    """Return the first cell of a decision for a bucket of the board."""
    return U(game.base[street] + b.bucket[street, j] * game.width[street] + game.nodes[4 * node + 2])


@inline
def rounding_bits(key, node, j, what):
    """Return 32 random bits for a bucket of a decision: for its averages (0) or its regrets (1)."""
    return low_bits(random_bits(key, U(FIRST_NODE_DRAW) + (U(node) << U(12) | U(j) << U(1) | U(what))))


@inline
def decision_at(game, node):
    """Return the decision at a node."""
    word = np.int64(game.nodes[4 * node])
    return BettingDecision(
        node, np.int64(game.nodes[4 * node + 1]), word & STREET_MASK, word >> 2 & 1, word >> COUNT_SHIFT
    )


@inline
def begin_decision(game, cells, hands, b, key, share, at_node, seat, f, d):
    """Compute the strategies at a decision and update its averages. `seat`: index of the actor's reach."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    zero, live, held = np.float32(0), b.live[street], f.held
    for j in range(b.kinds[street]):
        held[j] = 0
        for a in range(count):
            f.worth[d, a, j] = 0
    for i in range(live):
        held[b.member[street, i]] += f.reach[d, seat, i]
        f.value[d, 0, i] = 0
        f.value[d, 1, i] = 0
    for j in range(b.kinds[street]):
        at = decision_cell(game, b, node, street, j)
        scale, rest = regret_matching_scale(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        if held[j] > 0:
            weight, noise = held[j] * hands.hand[street] * share, rounding_bits(key, node, j, 0)
            for a in range(count):
                cell = at + U(count + a)
                set_average(cells, cell, average_at(cells, cell) + weight * f.sigma[d, a, j], noise)


@inline
def send_reach(b, street, seat, a, live, f, d):
    """Write the reach after an action to the next frame; return whether any hand reaches it."""
    total = np.float32(0)
    for i in range(live):
        x = f.reach[d, seat, i] * f.sigma[d, a, b.member[street, i]]
        y = f.reach[d, 1 - seat, i]
        f.reach[d + 1, seat, i] = x
        f.reach[d + 1, 1 - seat, i] = y
        total += x + y
    return total > 0


@inline
def gather_values(b, street, seat, a, live, f, d):
    """Add the values of an action's child, in the next frame, to the decision.

    The first `live` hands are possible there.
    """
    for i in range(live):
        j, x = b.member[street, i], f.value[d + 1, seat, i]
        f.value[d, seat, i] += f.sigma[d, a, j] * x
        f.worth[d, a, j] += x
        f.value[d, 1 - seat, i] += f.value[d + 1, 1 - seat, i]


@inline
def update_regrets(game, cells, b, key, node, street, count, f, d):
    """Update the regrets of a decision, one sum for each bucket."""
    for j in range(b.kinds[street]):
        at, noise, mean = decision_cell(game, b, node, street, j), rounding_bits(key, node, j, 1), np.float64(0)
        for a in range(count):
            mean += f.sigma[d, a, j] * f.worth[d, a, j]
        for a in range(count):
            cell = at + U(a)
            set_regret(cells, cell, regret_at(cells, cell) + np.float32(f.worth[d, a, j] - mean), noise)


# --- traversal --------------------------------------------------------------------------------


@kernel
def traverse_board(game, cells, hands, b, key, share, f):
    """Traverse one board with all hands and update both seats. Return the number of visited decisions times hands."""
    last, d, visited = len(hands.shown) - 1, 0, 0
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        node, street, seat, count = at.node, at.street, at.seat, at.moves
        if a == 0:
            begin_decision(game, cells, hands, b, key, share, at, seat, f, d)
            visited += b.live[street]
        if a == count:
            update_regrets(game, cells, b, key, node, street, count, f, d)
            if d == 0:
                return visited
            d -= 1  # its values are added to the action that led here
            live = b.live[street]
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
        else:
            f.move[d] = a + 1
            child = at.first + a
            child_word = np.int64(game.nodes[4 * child])
            live = b.live[last] if child_word & SHOWDOWN_BIT else b.live[child_word & STREET_MASK]
            if not send_reach(b, street, seat, a, live, f, d):
                continue  # the values are zero
            if child_word & TERMINAL_BIT == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            terminal_values(game, hands, b, child, f, d + 1)
        gather_values(b, at.street, at.seat, a, live, f, d)


@kernel
def train_public_chance(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange of boards
    share,  # increment of an average by one hand
    hands,  # DeckHands
    b,  # BoardWorkspace
    f,  # HandFrames
    tally,  # SamplingTally INOUT: visited decisions times hands
):
    """Run public chance sampling, one traversal for each board, with immediate updates of the table: threads race."""
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + LOOKUP_BLOCK, deals.end)):
            key = random_bits(deals.seed, i)
            deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            order_hands(game, hands, b)
            find_buckets(game, look, hands, b)
            tally.decisions[0] += traverse_board(game, cells, hands, b, key, share, f)
            for k in range(b.live[0]):
                tally.payoff[0] += f.value[0, 0, k]
                tally.payoff[1] += f.value[0, 1, k]


# --- OPCS and SPCS: one vector and one sampled hand -------------------------------------------------

# Index in a frame: the vector, and the sampled hand, which uses the first element.
VECTOR, DRAWN = 0, 1


@inline
def mark_free_hands(hands, b, one, two, free):
    """Mark the hands that the sampled one does not block, 1 or 0 by position.

    Returns the position of the sampled hand.
    """
    position, taken = 0, np.uint64(0)
    taken |= U(1) << U(one[0])
    if two:
        taken |= U(1) << U(one[1])
    for i in range(b.live[0]):
        h = b.order[i]
        free[i] = 1.0 if hands.mask[h] & taken == U(0) else 0.0
        if hands.mask[h] == taken:
            position = i
    return position


@inline
def half_terminal_values(game, hands, b, node, place, vector_seat, traverser_vector, f, d):
    """Compute the values of a terminal for the vector of a seat, or for the sampled hand of the other.

    `traverser_vector`: compute those of the vector of seat `vector_seat`.
    """
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay = np.float64(game.pay[4 * node + 3])
    reach, value, free = f.reach[d, VECTOR], f.value[d, VECTOR], f.beats
    if word & SHOWDOWN_BIT:
        live, rank = b.live[last], np.int64(b.rank[place])
        stake = pay * hands.pair[last] / hands.hand[last]
        if traverser_vector:
            stake *= f.reach[d, DRAWN, 0]
            for i in range(live):
                difference = np.int64(b.rank[i]) - rank
                value[i] = stake * free[i] * ((difference > 0) - (difference < 0))
            return
        total = 0.0
        for i in range(live):
            difference = rank - np.int64(b.rank[i])
            total += reach[i] * ((difference > 0) - (difference < 0))
        f.value[d, DRAWN, 0] = stake * total
        return
    street = word & STREET_MASK
    payoff = pay * hands.pair[street] / hands.hand[street] * (1 - 2 * vector_seat)
    if traverser_vector:
        payoff *= f.reach[d, DRAWN, 0]
        for i in range(b.live[street]):
            value[i] = payoff * free[i]
        return
    total = 0.0
    for i in range(b.live[street]):
        total += reach[i]
    f.value[d, DRAWN, 0] = -payoff * total


@inline
def begin_vector_decision(game, cells, hands, b, key, share, at_node, update_averages, f, d):
    """Compute the strategies of the vector at its decision and, if `update_averages`, update its averages."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    zero, held = np.float32(0), f.held
    for j in range(b.kinds[street]):
        held[j] = 0
        for a in range(count):
            f.worth[d, a, j] = 0
    for i in range(b.live[street]):
        held[b.member[street, i]] += f.reach[d, VECTOR, i]
    for j in range(b.kinds[street]):
        at = decision_cell(game, b, node, street, j)
        scale, rest = regret_matching_scale(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        if update_averages and held[j] > 0:
            weight, noise = held[j] * hands.pair[street] / hands.hand[street] * share, rounding_bits(key, node, j, 0)
            for a in range(count):
                cell = at + U(count + a)
                set_average(cells, cell, average_at(cells, cell) + weight * f.sigma[d, a, j], noise)


@inline
def begin_drawn_decision(game, cells, b, key, share, at_node, j, update_averages, f, d):
    """Compute the strategy of the sampled hand, whose bucket has index j on this board.

    With `update_averages`, also update its average.
    """
    node, street, count = at_node.node, at_node.street, at_node.moves
    zero, at, own = np.float32(0), decision_cell(game, b, node, street, j), f.reach[d, DRAWN, 0]
    scale, rest = regret_matching_scale(cells, at, count)
    noise = rounding_bits(key, node, j, 0)
    for a in range(count):
        f.sigma[d, a, 0] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        f.worth[d, a, 0] = 0
        if update_averages and own > 0:
            cell = at + U(count + a)
            set_average(cells, cell, average_at(cells, cell) + np.float64(own * f.sigma[d, a, 0]) * share, noise)


@inline
def send_half_reach(b, street, mine, a, live, f, d):
    """Write the reach after an action to the next frame; return whether there is any. `mine`: the vector's seat acts."""
    total = f.reach[d, DRAWN, 0] * (np.float32(1) if mine else f.sigma[d, a, 0])
    f.reach[d + 1, DRAWN, 0] = total
    for i in range(live):
        x = f.reach[d, VECTOR, i]
        if mine:
            x *= f.sigma[d, a, b.member[street, i]]
        f.reach[d + 1, VECTOR, i] = x
        total += x
    return total > 0


@inline
def gather_half_values(b, street, mine, own_all, a, live, f, d):
    """Add the values of an action's child to the decision."""
    if own_all:
        for i in range(live):
            x = f.value[d + 1, VECTOR, i]
            if mine:
                j = b.member[street, i]
                f.worth[d, a, j] += x
                x *= f.sigma[d, a, j]
            f.value[d, VECTOR, i] += x
        return
    x = f.value[d + 1, DRAWN, 0]
    f.worth[d, a, 0] = x
    f.value[d, DRAWN, 0] += x if mine else f.sigma[d, a, 0] * x


@inline
def update_bucket_regrets(game, cells, b, key, at_node, j, k, f, d):
    """Update the regrets of a decision for the bucket with index j on this board, whose sums are at k in the frame."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    at, noise, mean = decision_cell(game, b, node, street, j), rounding_bits(key, node, j, 1), np.float64(0)
    for a in range(count):
        mean += f.sigma[d, a, k] * f.worth[d, a, k]
    for a in range(count):
        cell = at + U(a)
        set_regret(cells, cell, regret_at(cells, cell) + np.float32(f.worth[d, a, k] - mean), noise)


@kernel
def traverse_half(game, cells, hands, b, key, share, place, vector_seat, traverser_vector, f):
    """Traverse a board with a vector of seat `vector_seat` and one hand of the other seat.

    `traverser_vector` updates the vector's seat, else the other. Returns the number of visited decisions times hands.
    """
    last, d, visited = len(hands.shown) - 1, 0, 0
    f.node[0], f.move[0] = 0, 0
    f.reach[0, DRAWN, 0] = 1
    for i in range(b.live[0]):
        f.reach[0, VECTOR, i] = f.beats[i]
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        street, count = at.street, at.moves
        vector_acts, j = at.seat == vector_seat, b.member[street, place]
        if a == 0:
            f.value[d, DRAWN, 0] = 0
            for i in range(b.live[street]):
                f.value[d, VECTOR, i] = 0
            if vector_acts:
                begin_vector_decision(game, cells, hands, b, key, share, at, traverser_vector, f, d)
            else:
                begin_drawn_decision(game, cells, b, key, share, at, j, not traverser_vector, f, d)
            visited += b.live[street] if vector_acts else 1
        if a == count:
            if vector_acts and traverser_vector:
                for k in range(b.kinds[street]):
                    update_bucket_regrets(game, cells, b, key, at, k, k, f, d)
            elif not vector_acts and not traverser_vector:
                update_bucket_regrets(game, cells, b, key, at, j, 0, f, d)
            if d == 0:
                return visited
            d -= 1  # its values are added to the action that led here
            live = b.live[street]
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
        else:
            f.move[d] = a + 1
            child = at.first + a
            child_word = np.int64(game.nodes[4 * child])
            live = b.live[last] if child_word & SHOWDOWN_BIT else b.live[child_word & STREET_MASK]
            if not send_half_reach(b, street, vector_acts, a, live, f, d):
                continue  # the values are zero
            if child_word & TERMINAL_BIT == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            half_terminal_values(game, hands, b, child, place, vector_seat, traverser_vector, f, d + 1)
        gather_half_values(b, at.street, at.seat == vector_seat, traverser_vector, a, live, f, d)


@kernel
def train_half_public(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange of boards
    share,  # increment of an average by one hand
    traverser_vector,  # whether the traverser has the vector (OPCS) or the sampled hand (SPCS)
    hands,  # DeckHands
    b,  # BoardWorkspace
    f,  # HandFrames
    tally,  # SamplingTally INOUT: visited decisions times hands
):
    """Run OPCS or SPCS, two traversals for each board, with immediate updates of the table: threads race."""
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + LOOKUP_BLOCK, deals.end)):
            key = random_bits(deals.seed, i)
            taken, tries = deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            order_hands(game, hands, b)
            find_buckets(game, look, hands, b)
            for me in range(2):
                _, tries = deal_cards(game.deck, key, taken, tries, b.drawn, 0, game.hole)
                place = mark_free_hands(hands, b, b.drawn, game.hole == 2, f.beats)
                vector_seat = me if traverser_vector else 1 - me
                tally.decisions[0] += traverse_half(
                    game, cells, hands, b, key, share, place, vector_seat, traverser_vector, f
                )
                if traverser_vector:
                    for k in range(b.live[0]):
                        tally.payoff[me] += f.value[0, VECTOR, k]
                else:
                    tally.payoff[me] += f.value[0, DRAWN, 0]


# --- packed boards for training on a GPU: hands from weak to strong, and grouped by bucket ------------

U, V = np.uint64, np.uint32
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
    """Pack boards begin … end - 1 of a run, which threads take in turn."""
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
