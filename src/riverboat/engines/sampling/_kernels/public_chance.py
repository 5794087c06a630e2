"""Compiled public chance sampling over betting tree × buckets (Johanson et al. 2012, Algorithm 1 with both vectors).

The board is drawn, and the betting is walked once with all hands of both seats as vectors. Hands stand in one order for the
whole board: those that the last street leaves, from weak to strong, then those that its cards take away, then those that the
street before takes. So the hands of any street are the first so many, and nothing moves from street to street.

Hands in one bucket play alike: strategies are worked out once for each bucket on the board, and what its hands are worth is
summed before it goes to the table.

A terminal weighs a pair of hands by its probability given the board there: 1 / (pairs that this board leaves). A showdown is
settled on the whole board, also where nobody bets any more on the streets before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK, bucket_at, places
from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.equity._kernels.sweep import meets, sort_by_strength, sweep, weigh
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import average_at, regret_at, set_average, set_regret
from riverboat.engines.sampling._kernels.deal import deal_cards, draw, low_bits
from riverboat.engines.sampling._kernels.external import COUNT_AT, FOR_NODES, OVER, SHOWDOWN, STREET, matched

U = np.uint64
ONE = np.uint64(1)
NO_CARD = 52
NONE = np.int64(-1)


class Hands(NamedTuple):
    """All hands of the deck, and how likely they are."""

    cards: Array  # uint8 [hands, 2]: the second is NO_CARD where there is one
    mask: Array  # uint64 [hands]: a bit for each card
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: and of their masks
    shown: Array  # int64 [streets]: board cards
    pair: Array  # float64 [streets]: probability of a pair of hands, given the board
    hand: Array  # float64 [streets]: of one hand


class Board(NamedTuple):
    """Room for a board and what it makes of the hands. A place is one in the order above."""

    cards: Array  # uint8 [hole + board cards]: a hand and the board, for look-ups
    drawn: Array  # uint8 [2]: one hand, where one is drawn
    order: Array  # int32 [hands]: by place
    spare: Array  # int32 [hands]
    first: Array  # uint8 [hands]: cards of the hand, by place
    second: Array  # uint8 [hands]
    strength: Array  # uint16 [hands], by hand
    rank: Array  # uint16 [hands]: strength by place
    live: Array  # int64 [streets]: hands that the board leaves
    member: Array  # int32 [streets, hands]: number of its bucket on this board, by place
    bucket: Array  # int64 [streets, hands]: those buckets
    kinds: Array  # int64 [streets]: how many they are
    known: Array  # int64 [streets, power of two]: buckets seen; NONE where free
    number: Array  # int32 [same]: and their numbers
    digits: Array  # int64 [257]
    place: Array  # int64 [streets, hands]: buckets by place
    layers: Array  # int64 [BLOCK, streets]
    numbers: Array  # int64 [BLOCK, 1, streets]
    sums: Array  # float64 [53]: by card; nothing at NO_CARD


class Decision(NamedTuple):
    """A node where somebody decides."""

    node: int
    first: int  # its first child
    street: int
    seat: int
    moves: int


class HandFrames(NamedTuple):
    """Room for the walk: one frame for each level of the tree, of vectors over hands."""

    node: Array  # int64 [levels]
    move: Array  # int64 [levels]: the next
    reach: Array  # float32 [levels, 2, hands]: of each seat
    value: Array  # float32 [levels, 2, hands]: to each seat, times the probability of the pairs
    sigma: Array  # float32 [levels, moves, hands]: strategies by bucket
    worth: Array  # float64 [levels, moves, hands]: values of the moves, summed over the hands of a bucket
    held: Array  # float64 [hands]: reach of a bucket's hands
    beats: Array  # float64 [hands]


# --- the board --------------------------------------------------------------------------------


@part
def order_hands(game, hands, b):
    """Put the hands in their order, and rank those that the whole board leaves."""
    last, used = len(hands.shown) - 1, 0
    key, suits, after = START, U(0), U(0)
    for c in range(game.hole, game.hole + game.board):
        key += game.ranks.key[b.cards[c]]
        suits += game.ranks.mask[b.cards[c]]
    for s in range(last, -1, -1):
        here = U(0)  # what lies on this street; `after` on the next
        for c in range(game.hole, game.hole + hands.shown[s]):
            here |= ONE << U(b.cards[c])
        for h in range(len(hands.mask)):
            if hands.mask[h] & here == U(0) and (s == last or hands.mask[h] & after != U(0)):
                b.order[used] = h
                used += 1
        b.live[s] = used
        after = here
    for i in range(b.live[last]):
        h = b.order[i]
        if game.hole + game.board >= 5:
            b.strength[h] = ranked(
                key + hands.key[h], suits + hands.suits[h], game.ranks.offset, game.ranks.value, game.ranks.flush
            )
        else:
            b.strength[h] = plain_value(key + hands.key[h], game.ranks.offset, game.ranks.value)
    sort_by_strength(b.order, b.live[last], b.strength, b.spare, b.digits)
    for i in range(used):
        b.first[i] = hands.cards[b.order[i], 0]
        b.second[i] = hands.cards[b.order[i], 1]
        b.rank[i] = b.strength[b.order[i]]


@part
def number_bucket(b, s, i, bucket):
    """Note the bucket of the hand at a place under its number on this board."""
    most = U(b.known.shape[1] - 1)
    at = (U(bucket) * U(0x9E3779B97F4A7C15)) >> U(40) & most
    while b.known[s, at] != NONE and b.known[s, at] != bucket:
        at = (at + ONE) & most
    if b.known[s, at] == NONE:
        b.known[s, at] = bucket
        b.number[s, at] = b.kinds[s]
        b.bucket[s, b.kinds[s]] = bucket
        b.kinds[s] += 1
    b.member[s, i] = b.number[s, at]


@part
def find_buckets(game, look, hands, b):
    """Buckets of all hands on all streets that they live to see."""
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
                number_bucket(b, s, i, np.int64(direct.bucket[U(row + b.order[i])]))
    if len(direct.bucket) > 0:
        return
    lives = streets  # of the hands up to live[lives - 1]; later ones see fewer streets
    for begin in range(0, b.live[0], BLOCK):
        end, alive = min(begin + BLOCK, b.live[0]), lives
        for i in range(begin, end):  # all places first, so that loads from memory overlap
            while i >= b.live[alive - 1]:
                alive -= 1
            b.cards[0] = b.first[i]
            if game.hole == 2:
                b.cards[1] = b.second[i]
            places(look, b.cards, 0, 1, alive, b.layers[i - begin], b.numbers[i - begin])
            for s in range(alive):
                labels = look.streets[s].labels
                prefetch(labels, U(b.layers[i - begin, s] * labels.shape[1] + b.numbers[i - begin, 0, s]))
        for i in range(begin, end):
            while i >= b.live[lives - 1]:
                lives -= 1
            bucket = np.int64(0)
            for s in range(lives):
                bucket = np.int64(bucket_at(look, s, b.layers[i - begin, s], b.numbers[i - begin, 0, s], bucket))
                b.place[s, i] = bucket
    for s in range(streets):
        for i in range(b.live[s]):
            number_bucket(b, s, i, b.place[s, i])


# --- terminals --------------------------------------------------------------------------------


@part
def settle_fold(deck, b, two, live, pay, reach, out):
    """Everybody who can be met is worth the same."""
    total = weigh(deck, b.first, b.second, two, live, reach, b.sums, 0.0)
    for k in range(live):
        out[k] = pay * meets(b.first, b.second, two, k, reach, b.sums, total)


@part
def settle_showdown(deck, b, two, live, stake, reach, beats, out):
    """What is weaker less what is stronger."""
    total = sweep(deck, b.first, b.second, b.rank, two, live, reach, b.sums, beats, 0.0)
    for k in range(live):
        out[k] = stake * (beats[k] - meets(b.first, b.second, two, k, reach, b.sums, total))


@part
def settle(game, hands, b, node, f, d):
    """What a terminal is worth to all hands of both seats, in frame d."""
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay, two = np.float64(game.pay[4 * node + 3]), game.hole == 2
    if word & SHOWDOWN:
        stake = pay * hands.pair[last]
        for seat in range(2):
            settle_showdown(game.deck, b, two, b.live[last], stake, f.reach[d, 1 - seat], f.beats, f.value[d, seat])
        return
    street = word & STREET
    for seat in range(2):
        won = pay * hands.pair[street] * (1 - 2 * seat)
        settle_fold(game.deck, b, two, b.live[street], won, f.reach[d, 1 - seat], f.value[d, seat])


# --- decisions --------------------------------------------------------------------------------


@part
def cell_of(game, b, node, street, j):
    """The first cell of a decision for a bucket of the board."""
    return U(game.base[street] + b.bucket[street, j] * game.width[street] + game.nodes[4 * node + 2])


@part
def noise_of(key, node, j, what):
    """32 random bits for the bucket of a decision: for its averages (0) or its regrets (1)."""
    return low_bits(draw(key, U(FOR_NODES) + (U(node) << U(12) | U(j) << U(1) | U(what))))


@part
def decision_at(game, node):
    """The decision at a node."""
    word = np.int64(game.nodes[4 * node])
    return Decision(node, np.int64(game.nodes[4 * node + 1]), word & STREET, word >> 2 & 1, word >> COUNT_AT)


@part
def begin(game, cells, hands, b, key, share, at_node, seat, f, d):
    """Strategies at a decision, and what they add to its averages. `seat`: whose reach is that of who decides."""
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
        at = cell_of(game, b, node, street, j)
        scale, rest = matched(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        if held[j] > 0:
            weight, noise = held[j] * hands.hand[street] * share, noise_of(key, node, j, 0)
            for a in range(count):
                cell = at + U(count + a)
                set_average(cells, cell, average_at(cells, cell) + weight * f.sigma[d, a, j], noise)


@part
def send(b, street, seat, a, live, f, d):
    """Reach after a move, in the next frame, of the hands that are left there; whether there is any."""
    some = np.float32(0)
    for i in range(live):
        x = f.reach[d, seat, i] * f.sigma[d, a, b.member[street, i]]
        y = f.reach[d, 1 - seat, i]
        f.reach[d + 1, seat, i] = x
        f.reach[d + 1, 1 - seat, i] = y
        some += x + y
    return some > 0


@part
def gather(b, street, seat, a, live, f, d):
    """Values of a move's child, in the next frame, go to the decision; `live` hands have any."""
    for i in range(live):
        j, x = b.member[street, i], f.value[d + 1, seat, i]
        f.value[d, seat, i] += f.sigma[d, a, j] * x
        f.worth[d, a, j] += x
        f.value[d, 1 - seat, i] += f.value[d + 1, 1 - seat, i]


@part
def learn(game, cells, b, key, node, street, count, f, d):
    """Regrets of a decision, one sum for each bucket."""
    for j in range(b.kinds[street]):
        at, noise, mean = cell_of(game, b, node, street, j), noise_of(key, node, j, 1), np.float64(0)
        for a in range(count):
            mean += f.sigma[d, a, j] * f.worth[d, a, j]
        for a in range(count):
            cell = at + U(a)
            set_regret(cells, cell, regret_at(cells, cell) + np.float32(f.worth[d, a, j] - mean), noise)


# --- the walk ---------------------------------------------------------------------------------


@kernel
def walk_board(game, cells, hands, b, key, share, f):
    """All moves of all hands on one board; both seats learn. Returns the decisions visited, times the hands there."""
    last, d, visited = len(hands.shown) - 1, 0, 0
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        node, street, seat, count = at.node, at.street, at.seat, at.moves
        if a == 0:
            begin(game, cells, hands, b, key, share, at, seat, f, d)
            visited += b.live[street]
        if a == count:
            learn(game, cells, b, key, node, street, count, f, d)
            if d == 0:
                return visited
            d -= 1  # and what was found goes to the move that led here
            live = b.live[street]
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
        else:
            f.move[d] = a + 1
            child = at.first + a
            below = np.int64(game.nodes[4 * child])
            live = b.live[last] if below & SHOWDOWN else b.live[below & STREET]
            if not send(b, street, seat, a, live, f, d):
                continue  # worth nothing to anybody
            if below & OVER == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            settle(game, hands, b, child, f, d + 1)
        gather(b, at.street, at.seat, a, live, f, d)


@kernel
def train_public(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals: of boards
    share,  # what one hand adds to an average
    hands,  # Hands
    b,  # Board
    f,  # HandFrames
    tally,  # Tally INOUT: decisions visited, times the hands there
):
    """Public chance sampling, one walk a board, written to the table at once: threads race."""
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + BLOCK, deals.end)):
            key = draw(deals.seed, i)
            deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            order_hands(game, hands, b)
            find_buckets(game, look, hands, b)
            tally.decisions[0] += walk_board(game, cells, hands, b, key, share, f)
            for k in range(b.live[0]):
                tally.payoff[0] += f.value[0, 0, k]
                tally.payoff[1] += f.value[0, 1, k]
