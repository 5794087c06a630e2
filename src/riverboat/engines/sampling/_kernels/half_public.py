"""Compiled public chance sampling with one vector (Johanson et al. 2012, Algorithm 1): OPCS and SPCS over tree × buckets.

The board and one seat's hand are drawn, and the betting is walked with all hands of the other seat as a vector. In
opponent-public sampling (OPCS) the traverser has the vector and the opponent the one hand; in self-public sampling (SPCS) it
is the other way round. Each seat traverses once an iteration, with a hand of its own drawing.

A terminal weighs a hand of the vector by its probability given the board there and the drawn hand; the probability of the
drawn hand is how often it is drawn. So on average both add the same as `_public_chance_kernels`, whose order of hands and
numbers of buckets they use.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.engines.sampling._kernels.cell import average_at, regret_at, set_average, set_regret
from riverboat.engines.sampling._kernels.deal import deal_cards, draw
from riverboat.engines.sampling._kernels.external import OVER, SHOWDOWN, STREET, matched
from riverboat.engines.sampling._kernels.public_chance import cell_of, decision_at, find_buckets, noise_of, order_hands

U = np.uint64
# In a frame, the vector stands at 0, and what belongs to the drawn hand at 1, in its first place.
MANY, ONE = 0, 1


@part
def free_hands(hands, b, one, two, free):
    """Which hands the drawn one leaves, 1 or 0 by place, and the place of the drawn one."""
    place, taken = 0, np.uint64(0)
    taken |= U(1) << U(one[0])
    if two:
        taken |= U(1) << U(one[1])
    for i in range(b.live[0]):
        h = b.order[i]
        free[i] = 1.0 if hands.mask[h] & taken == U(0) else 0.0
        if hands.mask[h] == taken:
            place = i
    return place


@part
def settle_one(game, hands, b, node, place, many, own_all, f, d):
    """What a terminal is worth to the vector of seat `many` (own_all), or to the drawn hand."""
    word, last = np.int64(game.nodes[4 * node]), len(hands.shown) - 1
    pay = np.float64(game.pay[4 * node + 3])
    reach, value, free = f.reach[d, MANY], f.value[d, MANY], f.beats
    if word & SHOWDOWN:
        live, rank = b.live[last], np.int64(b.rank[place])
        stake = pay * hands.pair[last] / hands.hand[last]
        if own_all:
            stake *= f.reach[d, ONE, 0]
            for i in range(live):
                better = np.int64(b.rank[i]) - rank
                value[i] = stake * free[i] * ((better > 0) - (better < 0))
            return
        total = 0.0
        for i in range(live):
            better = rank - np.int64(b.rank[i])
            total += reach[i] * ((better > 0) - (better < 0))
        f.value[d, ONE, 0] = stake * total
        return
    street = word & STREET
    won = pay * hands.pair[street] / hands.hand[street] * (1 - 2 * many)
    if own_all:
        won *= f.reach[d, ONE, 0]
        for i in range(b.live[street]):
            value[i] = won * free[i]
        return
    total = 0.0
    for i in range(b.live[street]):
        total += reach[i]
    f.value[d, ONE, 0] = -won * total


@part
def begin_many(game, cells, hands, b, key, share, at_node, learns, f, d):
    """Strategies of the vector at its decision, and what they add to its averages."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    zero, held = np.float32(0), f.held
    for j in range(b.kinds[street]):
        held[j] = 0
        for a in range(count):
            f.worth[d, a, j] = 0
    for i in range(b.live[street]):
        held[b.member[street, i]] += f.reach[d, MANY, i]
    for j in range(b.kinds[street]):
        at = cell_of(game, b, node, street, j)
        scale, rest = matched(cells, at, count)
        for a in range(count):
            f.sigma[d, a, j] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        if learns and held[j] > 0:
            weight, noise = held[j] * hands.pair[street] / hands.hand[street] * share, noise_of(key, node, j, 0)
            for a in range(count):
                cell = at + U(count + a)
                set_average(cells, cell, average_at(cells, cell) + weight * f.sigma[d, a, j], noise)


@part
def begin_one(game, cells, b, key, share, at_node, j, learns, f, d):
    """The same for the drawn hand, whose bucket has number j on this board."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    zero, at, own = np.float32(0), cell_of(game, b, node, street, j), f.reach[d, ONE, 0]
    scale, rest = matched(cells, at, count)
    noise = noise_of(key, node, j, 0)
    for a in range(count):
        f.sigma[d, a, 0] = max(regret_at(cells, at + U(a)), zero) * scale + rest
        f.worth[d, a, 0] = 0
        if learns and own > 0:
            cell = at + U(count + a)
            set_average(cells, cell, average_at(cells, cell) + np.float64(own * f.sigma[d, a, 0]) * share, noise)


@part
def send_on(b, street, mine, a, live, f, d):
    """Reach after a move, in the next frame; whether there is any. `mine`: the move is the vector's."""
    some = f.reach[d, ONE, 0] * (np.float32(1) if mine else f.sigma[d, a, 0])
    f.reach[d + 1, ONE, 0] = some
    for i in range(live):
        x = f.reach[d, MANY, i]
        if mine:
            x *= f.sigma[d, a, b.member[street, i]]
        f.reach[d + 1, MANY, i] = x
        some += x
    return some > 0


@part
def gather_one(b, street, mine, own_all, a, live, f, d):
    """Values of a move's child go to the decision."""
    if own_all:
        for i in range(live):
            x = f.value[d + 1, MANY, i]
            if mine:
                j = b.member[street, i]
                f.worth[d, a, j] += x
                x *= f.sigma[d, a, j]
            f.value[d, MANY, i] += x
        return
    x = f.value[d + 1, ONE, 0]
    f.worth[d, a, 0] = x
    f.value[d, ONE, 0] += x if mine else f.sigma[d, a, 0] * x


@part
def learn_one(game, cells, b, key, at_node, j, k, f, d):
    """Regrets of a decision with the bucket of number j on this board, whose sums stand at k in the frame."""
    node, street, count = at_node.node, at_node.street, at_node.moves
    at, noise, mean = cell_of(game, b, node, street, j), noise_of(key, node, j, 1), np.float64(0)
    for a in range(count):
        mean += f.sigma[d, a, k] * f.worth[d, a, k]
    for a in range(count):
        cell = at + U(a)
        set_regret(cells, cell, regret_at(cells, cell) + np.float32(f.worth[d, a, k] - mean), noise)


@kernel
def walk_half(game, cells, hands, b, key, share, place, many, own_all, f):
    """All moves of a vector of seat `many` and of one hand of the other; the vector learns (own_all), or the hand.

    Returns the decisions visited, times the hands there.
    """
    last, d, visited = len(hands.shown) - 1, 0, 0
    f.node[0], f.move[0] = 0, 0
    f.reach[0, ONE, 0] = 1
    for i in range(b.live[0]):
        f.reach[0, MANY, i] = f.beats[i]
    while True:
        at, a = decision_at(game, f.node[d]), f.move[d]
        street, count = at.street, at.moves
        mine, j = at.seat == many, b.member[street, place]
        if a == 0:
            f.value[d, ONE, 0] = 0
            for i in range(b.live[street]):
                f.value[d, MANY, i] = 0
            if mine:
                begin_many(game, cells, hands, b, key, share, at, own_all, f, d)
            else:
                begin_one(game, cells, b, key, share, at, j, not own_all, f, d)
            visited += b.live[street] if mine else 1
        if a == count:
            if mine and own_all:
                for k in range(b.kinds[street]):
                    learn_one(game, cells, b, key, at, k, k, f, d)
            elif not mine and not own_all:
                learn_one(game, cells, b, key, at, j, 0, f, d)
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
            if not send_on(b, street, mine, a, live, f, d):
                continue  # worth nothing to anybody
            if below & OVER == 0:
                d += 1
                f.node[d], f.move[d] = child, 0
                continue
            settle_one(game, hands, b, child, place, many, own_all, f, d + 1)
        gather_one(b, at.street, at.seat == many, own_all, a, live, f, d)


@kernel
def train_half(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals: of boards
    share,  # what one hand adds to an average
    own_all,  # whether traversers have the vector (OPCS) or the drawn hand (SPCS)
    hands,  # Hands
    b,  # Board
    f,  # HandFrames
    tally,  # Tally INOUT: decisions visited, times the hands there
):
    """OPCS or SPCS, two walks a board, written to the table at once: threads race."""
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            return
        for i in range(start, min(start + BLOCK, deals.end)):
            key = draw(deals.seed, i)
            taken, tries = deal_cards(game.deck, key, U(0), 0, b.cards, game.hole, game.board)
            order_hands(game, hands, b)
            find_buckets(game, look, hands, b)
            for me in range(2):
                _, tries = deal_cards(game.deck, key, taken, tries, b.drawn, 0, game.hole)
                place = free_hands(hands, b, b.drawn, game.hole == 2, f.beats)
                many = me if own_all else 1 - me
                tally.decisions[0] += walk_half(game, cells, hands, b, key, share, place, many, own_all, f)
                if own_all:
                    for k in range(b.live[0]):
                        tally.payoff[me] += f.value[0, MANY, k]
                else:
                    tally.payoff[me] += f.value[0, ONE, 0]
