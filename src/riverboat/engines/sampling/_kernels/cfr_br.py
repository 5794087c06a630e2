"""Compiled CFR-BR over betting tree × buckets (Johanson, Bard, Burch & Bowling 2012), one board at a time.

A seat that sees buckets learns against one that sees its cards: on the last street, where no chance is left, that opponent
plays its best response to what the seat plays now, and before it learns by regret matching, hand by hand, without buckets.
Each is walked as a vector of hands on the board (`_public_chance_kernels`): first the opponent, who notes its best moves,
then the seat. `reach[·, 0]` is that of the player whose walk it is, `reach[·, 1]` that of the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import regret_at
from riverboat.engines.sampling._kernels.deal import deal_cards, draw
from riverboat.engines.sampling._kernels.external import OVER, SHOWDOWN, STREET, matched
from riverboat.engines.sampling._kernels.public_chance import (
    begin,
    cell_of,
    decision_at,
    find_buckets,
    learn,
    order_hands,
    settle_fold,
    settle_showdown,
)

U = np.uint64
MARGIN = 1e-4  # chips times reach: moves that differ by less are alike
RESPOND, LEARN = 0, 1  # whose walk it is: that of the one who sees its cards, or of the seat that sees buckets


class Learner(NamedTuple):
    """One of the two: the seat that sees buckets, or the one who sees its cards."""

    game: Any  # Game, with its table
    look: Any  # LookUp
    cells: Array  # float32 or uint16 [cells + 1] INOUT
    board: Any  # Board, with its buckets


class Responder(NamedTuple):
    """The one who sees its cards, and what it answers with on the last street."""

    learner: Learner
    best: Array  # int8 [nodes, hands] scratch: moves, by place on the board


@part
def strategies(other, at_node, f, d):
    """What the other plays at its decision, by bucket."""
    game, cells, b = other.game, other.cells, other.board
    node, street, count = at_node.node, at_node.street, at_node.moves
    for j in range(b.kinds[street]):
        at = cell_of(game, b, node, street, j)
        scale, rest = matched(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), np.float32(0)) * scale + rest


@part
def send_one(b, other, at_node, a, own, noted, live, best, f, d):
    """Reach after a move, in the next frame; whether the other gets there with any hand."""
    street, node = at_node.street, at_node.node
    some = np.float32(0)
    for i in range(live):
        x, y = f.reach[d, 0, i], f.reach[d, 1, i]
        if own:
            if not noted:
                x *= f.sigma[d, a, b.member[street, i]]
        elif noted:
            y = y if best[node, i] == a else np.float32(0)
        else:
            y *= f.sigma[d, a, other.member[street, i]]
        f.reach[d + 1, 0, i] = x
        f.reach[d + 1, 1, i] = y
        some += y
    return some > 0


@part
def gather_one(b, at_node, a, own, noted, live, margin, best, f, d):
    """Values of a move's child, in the next frame, go to the decision. The first move is best, unless one is worth more."""
    street, node = at_node.street, at_node.node
    for i in range(live):
        x = f.value[d + 1, 0, i]
        if not own:
            f.value[d, 0, i] += x
        elif not noted:
            j = b.member[street, i]
            f.value[d, 0, i] += f.sigma[d, a, j] * x
            f.worth[d, a, j] += x
        elif a == 0 or x > f.value[d, 0, i] + margin:
            f.value[d, 0, i] = x
            best[node, i] = a


@part
def settle_one(game, hands, b, node, me, f, d):
    """What a terminal is worth to one seat, in frame d."""
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay, two = np.float64(game.pay[4 * node + 3]), game.hole == 2
    if word & SHOWDOWN:
        stake = pay * hands.pair[last]
        settle_showdown(game.deck, b, two, b.live[last], stake, f.reach[d, 1], f.beats, f.value[d, 0])
    else:
        street = word & STREET
        won = pay * hands.pair[street] * (1 - 2 * me)
        settle_fold(game.deck, b, two, b.live[street], won, f.reach[d, 1], f.value[d, 0])


@kernel
def walk_seat(
    mine,  # Learner: whose walk it is
    other,  # Learner: the other
    hands,  # Hands
    key,
    share,
    me,  # the seat
    mode,  # RESPOND: best moves on the last street are noted; LEARN: the other plays those
    best,  # int8 [nodes, hands] INOUT: by place on the board
    f,  # HandFrames
):
    """All moves of all hands of one seat on one board. Returns the decisions visited, times the hands there."""
    game, cells, b = mine.game, mine.cells, mine.board
    last, d, visited = len(hands.shown) - 1, 0, 0
    margin = np.float32(MARGIN * hands.pair[last])
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        street, count = at.street, at.moves
        own = at.seat == me
        noted = street == last and own == (mode == RESPOND)  # a decision of the one who sees its cards
        if a == 0:
            visited += b.live[street]
            if own and not noted:  # `begin` reads the reach of a seat by its number, and clears both values
                begin(game, cells, hands, b, key, share, at, 0, f, d)
            else:
                if not noted:
                    strategies(other, at, f, d)
                for i in range(b.live[street]):
                    f.value[d, 0, i] = 0
        if a == count:
            if own and not noted:
                learn(game, cells, b, key, at.node, street, count, f, d)
            if d == 0:
                return visited
            live = b.live[street]
            d -= 1  # and what was found goes to the move that led here
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
            own = at.seat == me
            noted = at.street == last and own == (mode == RESPOND)
        else:
            f.move[d] = a + 1
            child = at.first + a
            below = np.int64(game.nodes[4 * child])
            live = b.live[last] if below & SHOWDOWN else b.live[below & STREET]
            reached = send_one(b, other.board, at, a, own, noted, live, best, f, d)
            if not reached and mode == LEARN:
                continue  # worth nothing; who answers best has an answer there too: the first move
            if below & OVER == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            settle_one(game, hands, b, child, me, f, d + 1)
        gather_one(b, at, a, own, noted, live, margin, best, f, d)


@kernel
def train_cfr_br(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals: of boards
    share,  # what one hand adds to an average
    hands,  # Hands
    b,  # Board
    f,  # HandFrames
    responder,  # Responder
    tally,  # Tally INOUT: decisions visited, times the hands there; what each seat won with its buckets
):
    """CFR-BR, four walks a board, written to the tables at once: threads race."""
    mine, other, best = Learner(game, look, cells, b), responder.learner, responder.best
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + BLOCK, deals.end)):
            key = draw(deals.seed, i)
            deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            for c in range(len(b.cards)):
                other.board.cards[c] = b.cards[c]
            order_hands(game, hands, b)
            order_hands(game, hands, other.board)
            find_buckets(game, look, hands, b)
            find_buckets(other.game, other.look, hands, other.board)
            for me in range(2):
                for mode in range(2):
                    if mode == RESPOND:
                        tally.decisions[0] += walk_seat(other, mine, hands, key, share, 1 - me, mode, best, f)
                    else:
                        tally.decisions[0] += walk_seat(mine, other, hands, key, share, me, mode, best, f)
                for k in range(b.live[0]):
                    tally.payoff[me] += f.value[0, 0, k]
