"""Compiled following of a real line in the tree of a blueprint: which of its nodes the line is read as.

The real betting is followed beside the abstract one. Each real move is one abstract move:

- A call is a call. A fold ends the hand.
- A raise of the other player is read as one of its two neighbours by an action translation. Sizes are fractions of the
  pot once the bet faced is called, each of its own pot; a check or call is 0. All-in is all-in where the tree has it.
- A raise of one's own is the abstract raise that would be carried out as it.

Where the two games part:

- SMALL: a raise is read as a check or call that ends the round. It is called, and the player goes on behind the abstract
  call.
- BEYOND: a raise, and the menu has no more of them. The player does not raise again in this round and folds as often as at
  its last decision; when the next round is dealt, it goes on behind the abstract call.
- A bet was read as all-in and called, while real chips are left. The player goes on behind the largest bet of the menu that
  is not all-in.
- Where the tree has no such place (OFF_TREE), the player plays by the strength of its hand and the price of a call.

So a place is a node and how the last raise was read, and each real move takes it to another place, or, where the other
player's bet lies between two sizes, to one of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import draw
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels.betting import begin, span, step
from riverboat.games.holdem.action_tree import CALL as CALLS
from riverboat.games.holdem.action_tree import FOLD as FOLDS
from riverboat.games.holdem.action_tree import RAISE as RAISES
from riverboat.games.holdem.actions import CALL, FOLD

DET_ARITH, RAND_ARITH, DET_GEO, RAND_GEO_1, RAND_GEO_2, DET_PSHAR, RAND_PSHAR = range(7)
ROUNDING = 1e-9  # as in `abstraction.actions.translation`
MOST_STRETCH = 2  # by which all-in may be larger in the real pot than in the abstract one
OFF_TREE = -1  # in place of a node
IN_STEP, BEYOND, SMALL = 0, 1, 2  # how the last raise of a round was read
READING, ACTING, AMOUNT = 0, 1, 2  # random numbers of a place in a line; `STREAMS` for each place
STREAMS = 4
U = np.uint64
SALT = U(0x6A09E667F3BCC909)  # keeps a player's numbers apart from the cards of a match with the same seed


class Tree(NamedTuple):
    """What is read of an `ActionTree`."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    moves: Array  # int8 [nodes]
    parent: Array  # int32 [nodes]
    kind: Array  # int8 [nodes]
    total: Array  # int32 [nodes]
    spent: Array  # int32 [nodes, 2]
    slot: Array  # int32 [nodes]


class Reader(NamedTuple):
    """How an agent reads bets."""

    mapping: int  # DET_ARITH …
    ties_low: bool  # a bet on the threshold of a deterministic mapping is the lower neighbour
    stack: int  # of the shorter player: what can be lost at most


# --- random numbers ---------------------------------------------------------------------------


@part
def uniform(seed, hand, place, stream):
    """In [0, 1), the same whenever a player looks at this place of this hand's line."""
    bits = draw(draw(U(seed) ^ SALT, U(hand)), U(STREAMS * place + stream))
    return np.float64(bits >> U(11)) * (1.0 / 9007199254740992.0)


# --- translation ------------------------------------------------------------------------------


@part
def share(mapping, ties_low, a, b, x):
    """Probability that a bet x is read as a, where a < x < b: `abstraction.actions.translation.share`."""
    if x <= a + ROUNDING:
        return 1.0
    if x >= b - ROUNDING:
        return 0.0
    if mapping == RAND_ARITH:
        return (b - x) / (b - a)
    if mapping == RAND_GEO_1:
        return a * (b - x) / (a * (b - x) + x * (x - a))
    if mapping == RAND_GEO_2:
        return a * (b + x) * (b - x) / ((b - a) * (x * x + a * b))
    if mapping == RAND_PSHAR:
        return (b - x) * (1 + a) / ((b - a) * (1 + x))
    threshold = (a + b + 2 * a * b) / (a + b + 2)
    if mapping == DET_ARITH:
        threshold = (a + b) / 2
    elif mapping == DET_GEO:
        threshold = np.sqrt(a * b)
    return 1.0 if x < threshold + (ROUNDING if ties_low else -ROUNDING) else 0.0


@kernel
def shares(mapping, ties_low, a, b, x, out):
    """`share` of many bets. float64 [n] each"""
    for i in range(len(out)):
        out[i] = share(mapping, ties_low, a[i], b[i], x[i])


@part
def high_at(tree, node):
    """The larger of both totals."""
    return max(np.int64(tree.spent[node, 0]), np.int64(tree.spent[node, 1]))


@part
def call_child(tree, node):
    """The node after a check or call: the first or second move."""
    first = np.int64(tree.first[node])
    return first if tree.kind[first] == CALLS else first + 1


@kernel
def neighbours(tree, reader, node, high, total):
    """The nodes that a raise of the other player to `total` may be read as, the smaller bet first, and the chance of that
    one; twice the same where there is no choice, OFF_TREE where there is none at all.

    `high` is what the real player faces.
    """
    end = np.int64(tree.first[node]) + np.int64(tree.moves[node])
    passive = call_child(tree, node)
    if passive + 1 == end and ends_round(tree, node, passive):
        return np.int64(OFF_TREE), np.int64(OFF_TREE), 1.0
    if total >= reader.stack and tree.kind[end - 1] == RAISES and tree.total[end - 1] >= reader.stack:
        return end - 1, end - 1, 1.0
    size, unit = (total - high) / (2 * high), 2 * high_at(tree, node)
    low, low_size = passive, 0.0
    for child in range(passive + 1, end):
        at = (np.int64(tree.total[child]) - high_at(tree, node)) / unit
        if at > size:
            return low, np.int64(child), share(reader.mapping, reader.ties_low, low_size, at, size)
        low, low_size = np.int64(child), at
    return low, low, 1.0


@part
def ends_round(tree, node, child):
    """Whether a call leads to the next round or to the end of the hand."""
    return tree.actor[child] < 0 or tree.street[child] != tree.street[node]


@kernel
def carry_out(book, tree, reader, node, child, s):
    """The real move for an abstract raise: the same share of the real pot, made legal. All-in is all-in, unless that were
    more than MOST_STRETCH times the share of the pot that it is in the tree.

    Where the pots differ it is never a raise by less than a big blind, nor one that leaves less than that behind.
    """
    least, most = span(book, s)
    if least > most:
        return np.int64(CALL)
    top = min(most, max(least, np.int64(reader.stack)))  # what is above can never be called
    high, abstract, total = max(s.spent0, s.spent1), high_at(tree, node), np.int64(tree.total[child])
    if high == abstract or book.limit:
        return min(max(total, least), top)
    by = np.int64(np.floor((total - abstract) / abstract * high + 0.5))
    wanted = min(max(high + by, least), top)
    if top - wanted < book.big_blind or (total >= reader.stack and top - high <= MOST_STRETCH * by):
        wanted = top
    return np.int64(CALL) if wanted - high < book.big_blind else wanted


@kernel
def own_raise(book, tree, reader, node, s, total):
    """The node of one's own raise to a real total: the abstract raise that comes out nearest; OFF_TREE without raises."""
    nearest, error = np.int64(OFF_TREE), np.int64(0)
    for child in range(call_child(tree, node) + 1, np.int64(tree.first[node]) + np.int64(tree.moves[node])):
        distance = abs(carry_out(book, tree, reader, node, child, s) - total)
        # Of several that come out alike: all-in is the largest, the least raise the smallest.
        if nearest == OFF_TREE or distance < error or (distance == error and total >= reader.stack):
            nearest, error = np.int64(child), distance
    return nearest


# --- the line ---------------------------------------------------------------------------------


@kernel
def catch_up(tree, node, street):
    """The node of the agent's game when a round is dealt: behind the call; OFF_TREE where that game is over for good."""
    while tree.actor[node] >= 0 and tree.street[node] < street:
        node = call_child(tree, node)
    if tree.actor[node] >= 0:
        return node
    bet = np.int64(tree.parent[node])  # what was called: all-in
    if tree.kind[bet] != RAISES:
        return np.int64(OFF_TREE)
    smaller = bet - 1  # moves lie side by side, raises upwards
    while tree.kind[smaller] == RAISES and tree.parent[smaller] == tree.parent[bet]:
        after = call_child(tree, smaller)
        if tree.actor[after] >= 0:
            return after
        smaller -= 1
    return np.int64(OFF_TREE)


class Step(NamedTuple):
    """Where a move leads: to one of two places, or to one, which then stands twice."""

    node: int
    off: int
    other_node: int
    other_off: int
    chance: float  # of the first


@kernel
def onward(book, tree, reader, node, off, s, move, mine):
    """The places behind a real move at a place; s is the real state before it."""
    node, off = np.int64(node), np.int64(off)
    if move == FOLD or node == OFF_TREE or off == BEYOND:
        return Step(node, off, node, off, 1.0)  # until the next round, or for good
    if off == SMALL:
        if move != CALL:  # one more raise
            node, off = np.int64(tree.parent[node]), np.int64(BEYOND)
        return Step(node, off, node, off, 1.0)
    if move == CALL:
        after = call_child(tree, node)
        return Step(after, off, after, off, 1.0)
    if mine:
        low = own_raise(book, tree, reader, node, s, move)
        high, chance = low, 1.0
    else:
        low, high, chance = neighbours(tree, reader, node, max(s.spent0, s.spent1), move)
    if low == OFF_TREE:
        return Step(node, np.int64(BEYOND), node, np.int64(BEYOND), 1.0)
    reads_small = tree.kind[low] == CALLS and ends_round(tree, node, low)
    # Only the smaller of two is ever a call.
    return Step(low, np.int64(SMALL if reads_small else IN_STEP), high, np.int64(IN_STEP), chance)


@part
def dealt(tree, node, off, before, street):
    """The place once the round that may follow a move is dealt."""
    if street == before:
        return node, off
    return (node if node == OFF_TREE else catch_up(tree, node, street)), np.int64(IN_STEP)


@part
def decision(tree, node, off, seat, street):
    """The decision whose row is played at a place; OFF_TREE where strength and price decide."""
    if off != BEYOND or node == OFF_TREE:
        return node
    if tree.actor[node] != seat:
        node = np.int64(tree.parent[node])  # one's own last decision, in the same round
    if node < 0 or tree.actor[node] != seat or tree.street[node] != street or tree.kind[tree.first[node]] != FOLDS:
        return np.int64(OFF_TREE)
    return node


@kernel
def follow(book, tree, reader, seed, hand, seat, moves, i, length):
    """The decision of a player after line i of a hand, how its last raise was read, its moves so far, and the real state."""
    s, node, off, own = begin(book), np.int64(0), np.int64(IN_STEP), np.int64(0)
    for k in range(length):
        move, street = np.int64(moves[i, k]), s.street
        own += s.turn == seat
        ways = onward(book, tree, reader, node, off, s, move, s.turn == seat)
        if ways.chance >= 1.0 or uniform(seed, hand, k, READING) < ways.chance:
            node, off = ways.node, ways.off
        else:
            node, off = ways.other_node, ways.other_off
        s = step(book, s, move)
        node, off = dealt(tree, node, off, street, s.street)
    return decision(tree, node, off, seat, s.street), off, own, s
