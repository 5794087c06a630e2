"""Compiled CFR-BR over betting tree × buckets (Johanson, Bard, Burch & Bowling 2012), one board at a time.

A seat with a card abstraction updates against an unabstracted opponent. On the last street, where no chance is left, that
opponent plays a best response to the seat's current strategy; before, it uses regret matching for each hand without
buckets. Each is traversed as a vector of hands on the board (`riverboat.engines.sampling._kernels.public_chance`): first
the opponent, whose best actions are stored, then the seat. `reach[·, 0]` is the reach of the player of the traversal,
`reach[·, 1]` that of the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import regret_at
from riverboat.engines.sampling._kernels.deal import deal_cards, random_bits
from riverboat.engines.sampling._kernels.external import SHOWDOWN_BIT, STREET_MASK, TERMINAL_BIT, regret_matching_scale
from riverboat.engines.sampling._kernels.public_chance import (
    begin_decision,
    decision_at,
    decision_cell,
    find_buckets,
    fold_values,
    order_hands,
    showdown_values,
    update_regrets,
)

U = np.uint64
TIE_MARGIN = 1e-4  # chips times reach: actions that differ by less count as equal
RESPOND, UPDATE = 0, 1  # player of the traversal: the unabstracted responder, or the seat with buckets


class CfrBrPlayer(NamedTuple):
    """One of the two players: the seat with buckets, or the unabstracted responder."""

    game: Any  # SamplingGame, with its table
    look: Any  # BucketLookup
    cells: Array  # float32 or uint16 [cells + 1] INOUT
    board: Any  # BoardWorkspace, with its buckets


class CfrBrResponder(NamedTuple):
    """The unabstracted responder, and its best actions on the last street."""

    learner: CfrBrPlayer
    best: Array  # int8 [nodes, hands] scratch: actions, by position on the board


@inline
def opponent_strategies(other, at_node, f, d):
    """Compute the other player's strategy at its decision, by bucket."""
    game, cells, b = other.game, other.cells, other.board
    node, street, count = at_node.node, at_node.street, at_node.moves
    for j in range(b.kinds[street]):
        at = decision_cell(game, b, node, street, j)
        scale, rest = regret_matching_scale(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), np.float32(0)) * scale + rest


@inline
def send_seat_reach(b, other, at_node, a, own, noted, live, best, f, d):
    """Write the reach after an action to the next frame; return whether the other player reaches it with any hand."""
    street, node = at_node.street, at_node.node
    total = np.float32(0)
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
        total += y
    return total > 0


@inline
def gather_seat_values(b, at_node, a, own, noted, live, margin, best, f, d):
    """Add the values of an action's child, in the next frame, to the decision.

    At the responder's decisions the first action is best unless another one is better by the margin.
    """
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


@inline
def seat_terminal_values(game, hands, b, node, me, f, d):
    """Compute the values of a terminal for one seat, in frame d."""
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay, two = np.float64(game.pay[4 * node + 3]), game.hole == 2
    if word & SHOWDOWN_BIT:
        stake = pay * hands.pair[last]
        showdown_values(game.deck, b, two, b.live[last], stake, f.reach[d, 1], f.beats, f.value[d, 0])
    else:
        street = word & STREET_MASK
        payoff = pay * hands.pair[street] * (1 - 2 * me)
        fold_values(game.deck, b, two, b.live[street], payoff, f.reach[d, 1], f.value[d, 0])


@kernel
def traverse_seat(
    mine,  # CfrBrPlayer of the traversal
    other,  # CfrBrPlayer: the other player
    hands,  # DeckHands
    key,
    share,
    me,  # the seat
    mode,  # RESPOND: best actions on the last street are stored; UPDATE: the other player plays them
    best,  # int8 [nodes, hands] INOUT: best actions, by position on the board
    f,  # HandFrames
):
    """Traverse one board with all hands of one seat. Return the number of visited decisions times hands."""
    game, cells, b = mine.game, mine.cells, mine.board
    last, d, visited = len(hands.shown) - 1, 0, 0
    margin = np.float32(TIE_MARGIN * hands.pair[last])
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        street, count = at.street, at.moves
        own = at.seat == me
        responder_node = street == last and own == (mode == RESPOND)  # a decision of the responder
        if a == 0:
            visited += b.live[street]
            if (
                own and not responder_node
            ):  # `begin_decision` reads the reach of a seat by its index, and clears both values
                begin_decision(game, cells, hands, b, key, share, at, 0, f, d)
            else:
                if not responder_node:
                    opponent_strategies(other, at, f, d)
                for i in range(b.live[street]):
                    f.value[d, 0, i] = 0
        if a == count:
            if own and not responder_node:
                update_regrets(game, cells, b, key, at.node, street, count, f, d)
            if d == 0:
                return visited
            live = b.live[street]
            d -= 1  # its values are added to the action that led here
            a, at = f.move[d] - 1, decision_at(game, f.node[d])
            own = at.seat == me
            responder_node = at.street == last and own == (mode == RESPOND)
        else:
            f.move[d] = a + 1
            child = at.first + a
            child_word = np.int64(game.nodes[4 * child])
            live = b.live[last] if child_word & SHOWDOWN_BIT else b.live[child_word & STREET_MASK]
            reached = send_seat_reach(b, other.board, at, a, own, responder_node, live, best, f, d)
            if not reached and mode == UPDATE:
                continue  # the value is zero; a responder needs a best action there as well: the first one
            if child_word & TERMINAL_BIT == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            seat_terminal_values(game, hands, b, child, me, f, d + 1)
        gather_seat_values(b, at, a, own, responder_node, live, margin, best, f, d)


@kernel
def train_cfr_br(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange of boards
    share,  # increment of an average by one hand
    hands,  # DeckHands
    b,  # BoardWorkspace
    f,  # HandFrames
    responder,  # CfrBrResponder
    tally,  # SamplingTally INOUT: visited decisions times hands; values of each seat with its buckets
):
    """Run CFR-BR, four traversals for each board, with immediate updates of the tables: threads race."""
    mine, other, best = CfrBrPlayer(game, look, cells, b), responder.learner, responder.best
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + LOOKUP_BLOCK, deals.end)):
            key = random_bits(deals.seed, i)
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
                        tally.decisions[0] += traverse_seat(other, mine, hands, key, share, 1 - me, mode, best, f)
                    else:
                        tally.decisions[0] += traverse_seat(mine, other, hands, key, share, me, mode, best, f)
                for k in range(b.live[0]):
                    tally.payoff[me] += f.value[0, 0, k]
