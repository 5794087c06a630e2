"""Compiled play of a blueprint in the real game: which node of its tree a real line is read as, and what is played there.

The real betting is followed beside the abstract one. Each real move is one abstract move:

- A call is a call. A fold ends the hand.
- A raise of the other player is read as one of its two neighbours by an action translation. Sizes are fractions of the
  pot once the bet faced is called, each of its own pot; a check or call is 0. All-in is all-in where the tree has it.
- A raise of one's own is the abstract raise that would be carried out as it.

Where the two games part:

- SMALL: a raise is read as a check or call that ends the round. It is called, and the agent goes on behind the abstract call.
- BEYOND: a raise, and the menu has no more of them. The agent does not raise again in this round and folds as often as at its
  last decision; when the next round is dealt, it goes on behind the abstract call.
- A bet was read as all-in and called, while real chips are left. The agent goes on behind the largest bet of the menu that
  is not all-in.
- Where the tree has no such place, the agent plays by the strength of its hand and the price of a call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.agents._kernels import ACTING, READING, strength, uniform, worth_a_call
from riverboat.arrays import Array
from riverboat.games._betting_kernels import begin, price, read, span, step, write
from riverboat.games.action_tree import CALL as CALLS
from riverboat.games.action_tree import FOLD as FOLDS
from riverboat.games.action_tree import RAISE as RAISES
from riverboat.games.moves import CALL, FOLD
from riverboat.jit import kernel, part

DET_ARITH, RAND_ARITH, DET_GEO, RAND_GEO_1, RAND_GEO_2, DET_PSHAR, RAND_PSHAR = range(7)
ROUNDING = 1e-9  # as in `abstraction.translation`
MOST_STRETCH = 2  # by which all-in may be larger in the real pot than in the abstract one
OFF_TREE = -1  # in place of a node
IN_STEP, BEYOND, SMALL = 0, 1, 2  # how the last raise of a round was read
FOLD_COLUMN, CALL_COLUMN, FIRST_RAISE = 0, 1, 2  # columns of rows of probabilities


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


class Place(NamedTuple):
    """Where a table stands for an agent."""

    node: int  # its decision, or where it goes on (SMALL); OFF_TREE where it plays by strength and price
    off: int  # IN_STEP, BEYOND or SMALL
    own: int  # moves that the agent has made


# --- translation ------------------------------------------------------------------------------


@part
def share(mapping, ties_low, a, b, x):
    """Probability that a bet x is read as a, where a < x < b: `abstraction.translation.share`."""
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
def read_raise(tree, reader, node, high, total, x):
    """The node that a raise of the other player to `total` is read as, by a random number x; OFF_TREE where there is none.

    `high` is what the real player faces.
    """
    end = np.int64(tree.first[node]) + np.int64(tree.moves[node])
    passive = call_child(tree, node)
    if passive + 1 == end and ends_round(tree, node, passive):
        return np.int64(OFF_TREE)
    if total >= reader.stack and tree.kind[end - 1] == RAISES and tree.total[end - 1] >= reader.stack:
        return end - 1
    size, unit = (total - high) / (2 * high), 2 * high_at(tree, node)
    low, low_size = passive, 0.0
    for child in range(passive + 1, end):
        at = (np.int64(tree.total[child]) - high_at(tree, node)) / unit
        if at > size:
            return low if x < share(reader.mapping, reader.ties_low, low_size, at, size) else np.int64(child)
        low, low_size = np.int64(child), at
    return low


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
    found, error = np.int64(OFF_TREE), np.int64(0)
    for child in range(call_child(tree, node) + 1, np.int64(tree.first[node]) + np.int64(tree.moves[node])):
        distance = abs(carry_out(book, tree, reader, node, child, s) - total)
        # Of several that come out alike: all-in is the largest, the least raise the smallest.
        if found == OFF_TREE or distance < error or (distance == error and total >= reader.stack):
            found, error = np.int64(child), distance
    return found


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


@kernel
def follow(book, tree, reader, seed, hand, seat, moves, i, length):
    """Where the agent stands after line i, and the real state."""
    s, node = begin(book), np.int64(0)
    off, own = np.int64(IN_STEP), np.int64(0)
    for k in range(length):
        move, mine, street = np.int64(moves[i, k]), s.turn == seat, s.street
        own += mine
        if node == OFF_TREE or off == BEYOND:
            pass  # until the next round
        elif off == SMALL:
            if move != CALL:  # one more raise
                node, off = np.int64(tree.parent[node]), np.int64(BEYOND)
        elif move == CALL:
            node = call_child(tree, node)
        else:
            if mine:
                after = own_raise(book, tree, reader, node, s, move)
            else:
                x = uniform(seed, hand, k, READING)
                after = read_raise(tree, reader, node, max(s.spent0, s.spent1), move, x)
            if after == OFF_TREE:
                off = np.int64(BEYOND)
            else:
                if tree.kind[after] == CALLS and ends_round(tree, node, after):
                    off = np.int64(SMALL)
                node = after
        s = step(book, s, move)
        if s.street != street:
            off = np.int64(IN_STEP)
            if node != OFF_TREE:
                node = catch_up(tree, node, s.street)
    if off == BEYOND:
        if tree.actor[node] != seat:
            node = np.int64(tree.parent[node])  # one's own last decision, in the same round
        if tree.actor[node] != seat or tree.street[node] != s.street or tree.kind[tree.first[node]] != FOLDS:
            node = np.int64(OFF_TREE)
    return Place(node, off, own), s


# --- rows -------------------------------------------------------------------------------------


@part
def by_strength(book, cards, hole, board, i, s, rows):
    """Call or fold by strength and price: what is done off the tree."""
    strong = strength(cards.deck, cards.ranks[s.street], hole, board, i, book.shown[s.street])
    calls = price(book, s) == 0 or worth_a_call(book, s, strong)
    rows[i, CALL_COLUMN if calls else FOLD_COLUMN] = 1.0


class Seen(NamedTuple):
    """Arrays of `Views`."""

    hand: Array
    seat: Array
    hole: Array
    board: Array
    moves: Array
    length: Array


class Stand(NamedTuple):
    """Where the tables stand."""

    states: Array  # int64 [n, 9]: the real betting, as `games._betting_kernels.State`
    node: Array  # int32 [n]: the agent's decision in the tree; OFF_TREE (-1) where there is none
    off: Array  # int8 [n]: IN_STEP, BEYOND or SMALL
    own: Array  # int32 [n]: moves that the agent has made


@kernel
def stand(
    book,  # Book
    tree,  # Tree
    reader,  # Reader
    seed,  # uint64
    seen,  # Seen
    out,  # Stand OUT
):
    """Follow the lines of all tables."""
    for i in range(len(seen.length)):
        seat, length = np.int64(seen.seat[i]), np.int64(seen.length[i])
        place, s = follow(book, tree, reader, seed, seen.hand[i], seat, seen.moves, i, length)
        out.node[i], out.off[i], out.own[i] = place.node, place.off, place.own
        write(s, out.states, i)


@kernel
def choose(
    book,  # Book
    tree,  # Tree
    reader,  # Reader
    cards,  # Cards
    tables,  # by street: weights [buckets, moves of the street]
    buckets,  # int32 [n]
    seen,  # Seen
    at,  # Stand
    rows,  # float64 [n, 2 + most raises] OUT: probabilities of fold, call and each raise of the tree
    played,  # int32 [n, 2 + most raises] OUT: the real moves for them
):
    """Probabilities of moves, and what they are in the real game."""
    for i in range(len(buckets)):
        s, node = read(at.states, i), np.int64(at.node[i])
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0
            played[i, k] = CALL
        if price(book, s) > 0:
            played[i, FOLD_COLUMN] = FOLD  # else the fold of another price is a check
        if at.off[i] == SMALL:
            rows[i, CALL_COLUMN] = 1.0
            continue
        if node == OFF_TREE:
            by_strength(book, cards, seen.hole, seen.board, i, s, rows)
            continue
        first, count, slot = np.int64(tree.first[node]), np.int64(tree.moves[node]), np.int64(tree.slot[node])
        table, total = tables[s.street], 0.0
        for a in range(count):
            total += np.float64(table[buckets[i], slot + a])
        raises = FIRST_RAISE
        for a in range(count):
            p = np.float64(table[buckets[i], slot + a]) / total if total > 0 else 1.0 / count
            kind = tree.kind[first + a]
            if kind == FOLDS:
                rows[i, FOLD_COLUMN] = p
            elif kind == CALLS:
                rows[i, CALL_COLUMN] = p
            else:
                rows[i, raises] = p
                if at.off[i] == IN_STEP:
                    played[i, raises] = carry_out(book, tree, reader, node, first + a, s)
                raises += 1


@kernel
def sample(
    seed,  # uint64
    hand,  # int64 [n]
    length,  # int32 [n]
    rows,  # float64 [n, columns]
    played,  # int32 [n, columns]
    out,  # int32 [n] OUT
):
    """Draw a move from each row."""
    for i in range(len(out)):
        left = uniform(seed, hand[i], length[i], ACTING)
        for k in range(rows.shape[1]):
            if rows[i, k] > 0:
                out[i] = played[i, k]  # the last with any, where rounding leaves something
                left -= rows[i, k]
                if left < 0:
                    break
