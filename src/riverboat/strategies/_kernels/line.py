"""Kernels that follow a real line in a blueprint's tree by action translation.

The real betting state and the abstract node advance together. Each real action maps to one abstract action:

- A call is a call. A fold ends the hand.
- An opponent's raise is translated to one of the two neighboring abstract bets. Sizes are fractions of the pot after
  the call, each of its own pot; a check or call has size 0. All-in is all-in if the tree has it.
- One's own raise is the abstract raise whose realization is nearest to it.

Where the two games diverge:

- READ_AS_CALL: a raise is translated to a check or call that ends the round. The player calls it and continues after
  the abstract call.
- BEYOND_MENU: the menu has no further raise. The player does not raise again in this round and folds as often as at its
  last decision; when the next round is dealt, it continues after the abstract call.
- A bet was translated to all-in and called, while real chips are left. The player continues after the largest bet of
  the menu that is not all-in.
- Where the tree has no suitable node (OFF_TREE), the player acts by the strength of its hand and the price of a call.

So a position is a node and the translation status of the last raise. Each real action leads to one position, or, if an
opponent's bet lies between two sizes, to one of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random_bits
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels import apply_action_and_deal, initial_state, raise_bounds
from riverboat.games.holdem.action_tree import CALL as CALL_KIND
from riverboat.games.holdem.action_tree import FOLD as FOLD_KIND
from riverboat.games.holdem.action_tree import RAISE as RAISE_KIND
from riverboat.games.holdem.actions import CALL, FOLD

DET_ARITH, RAND_ARITH, DET_GEO, RAND_GEO_1, RAND_GEO_2, DET_PSHAR, RAND_PSHAR = range(7)
SIZE_TOLERANCE = 1e-9  # as in `abstraction.actions.translation`
MAX_ALL_IN_STRETCH = 2  # max ratio of an all-in, in pot fractions, between the real and the abstract pot
OFF_TREE = -1  # instead of a node
ON_TREE, BEYOND_MENU, READ_AS_CALL = 0, 1, 2  # translation status of the last raise of a round
TRANSLATION_STREAM, ACTION_STREAM, AMOUNT_STREAM = 0, 1, 2  # streams of random numbers at one position of a line
NUM_STREAMS = 4
U = np.uint64
SEED_SALT = U(0x6A09E667F3BCC909)  # separates a player's random numbers from the cards of a match with the same seed


class ActionTreeArrays(NamedTuple):
    """Arrays of an `ActionTree`; `moves` is the number of actions at each node (`ActionTree.count`)."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    moves: Array  # int8 [nodes]
    parent: Array  # int32 [nodes]
    kind: Array  # int8 [nodes]
    total: Array  # int32 [nodes]
    spent: Array  # int32 [nodes, 2]
    slot: Array  # int32 [nodes]


class BetTranslation(NamedTuple):
    """Parameters of action translation."""

    mapping: int  # DET_ARITH …
    ties_low: bool  # a bet at the threshold of a deterministic mapping maps to the lower neighbor
    stack: int  # the shorter stack: the most that can be lost


# --- random numbers ---------------------------------------------------------------------------


@inline
def uniform_draw(seed, hand, position, stream):
    """Return a uniform random number in [0, 1), determined by seed, hand number, position in the line and stream."""
    bits = random_bits(random_bits(U(seed) ^ SEED_SALT, U(hand)), U(NUM_STREAMS * position + stream))
    return np.float64(bits >> U(11)) * (1.0 / 9007199254740992.0)


# --- translation ------------------------------------------------------------------------------


@inline
def translation_probability(mapping, ties_low, a, b, x):
    """Return the probability that a bet of size x is translated to size a instead of size b, for a < x < b.

    Sizes are fractions of the pot; `abstraction.actions.translation` has the mappings.
    """
    if x <= a + SIZE_TOLERANCE:
        return 1.0
    if x >= b - SIZE_TOLERANCE:
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
    return 1.0 if x < threshold + (SIZE_TOLERANCE if ties_low else -SIZE_TOLERANCE) else 0.0


@kernel
def translation_probabilities(mapping, ties_low, a, b, x, out):
    """Compute `translation_probability` of many bets. float64 [n] each"""
    for i in range(len(out)):
        out[i] = translation_probability(mapping, ties_low, a[i], b[i], x[i])


@inline
def highest_total(tree, node):
    """Return the larger of both players' contributions to the pot at a node, in chips of the abstract game."""
    return max(np.int64(tree.spent[node, 0]), np.int64(tree.spent[node, 1]))


@inline
def call_child(tree, node):
    """Return the child of a decision after a check or call, which is the first or second action."""
    first = np.int64(tree.first[node])
    return first if tree.kind[first] == CALL_KIND else first + 1


@kernel
def neighboring_raises(tree, translation, node, high, total):
    """Return the two children that an opponent's real raise may translate to, and the probability of the first.

    The smaller bet, perhaps a check or call, comes first. Both are the same if there is only one, and OFF_TREE if there
    is none. `total` is the total of the real raise, and `high` the largest total before it.
    """
    end = np.int64(tree.first[node]) + np.int64(tree.moves[node])
    passive = call_child(tree, node)
    if passive + 1 == end and ends_round(tree, node, passive):
        return np.int64(OFF_TREE), np.int64(OFF_TREE), 1.0
    if total >= translation.stack and tree.kind[end - 1] == RAISE_KIND and tree.total[end - 1] >= translation.stack:
        return end - 1, end - 1, 1.0
    size, unit = (total - high) / (2 * high), 2 * highest_total(tree, node)
    low, low_size = passive, 0.0
    for child in range(passive + 1, end):
        child_size = (np.int64(tree.total[child]) - highest_total(tree, node)) / unit
        if child_size > size:
            return (
                low,
                np.int64(child),
                translation_probability(translation.mapping, translation.ties_low, low_size, child_size, size),
            )
        low, low_size = np.int64(child), child_size
    return low, low, 1.0


@inline
def ends_round(tree, node, child):
    """Return whether the check or call that leads to `child` ends the betting round or the hand."""
    return tree.actor[child] < 0 or tree.street[child] != tree.street[node]


@kernel
def realize_raise(book, tree, translation, node, child, state):
    """Map the abstract raise to `child` to the same fraction of the real pot, made legal; return its total, or CALL.

    All-in stays all-in, unless it exceeds MAX_ALL_IN_STRETCH times the pot fraction that it is in the tree. If the pots
    differ, the result is never a raise by less than a big blind, nor one that leaves less than a big blind behind.
    """
    least, most = raise_bounds(book, state)
    if least > most:
        return np.int64(CALL)
    top = min(most, max(least, np.int64(translation.stack)))  # more can never be called
    high, abstract, total = max(state.spent0, state.spent1), highest_total(tree, node), np.int64(tree.total[child])
    if high == abstract or book.limit:
        return min(max(total, least), top)
    increment = np.int64(np.floor((total - abstract) / abstract * high + 0.5))
    target = min(max(high + increment, least), top)
    if top - target < book.big_blind or (total >= translation.stack and top - high <= MAX_ALL_IN_STRETCH * increment):
        target = top
    return np.int64(CALL) if target - high < book.big_blind else target


@kernel
def nearest_own_raise(book, tree, translation, node, state, total):
    """Return the child whose realization (`realize_raise`) is nearest to an own raise to a real total, or OFF_TREE."""
    nearest, error = np.int64(OFF_TREE), np.int64(0)
    for child in range(call_child(tree, node) + 1, np.int64(tree.first[node]) + np.int64(tree.moves[node])):
        distance = abs(realize_raise(book, tree, translation, node, child, state) - total)
        # Ties: the largest abstract raise for all-in, otherwise the smallest.
        if nearest == OFF_TREE or distance < error or (distance == error and total >= translation.stack):
            nearest, error = np.int64(child), distance
    return nearest


# --- lines ------------------------------------------------------------------------------------


@kernel
def advance_to_street(tree, node, street):
    """Return the decision where a newly dealt street begins; open abstract betting is closed by calls.

    If that ends the abstract game by a called all-in, the next smaller bet counts instead; OFF_TREE if there is none.
    """
    while tree.actor[node] >= 0 and tree.street[node] < street:
        node = call_child(tree, node)
    if tree.actor[node] >= 0:
        return node
    bet = np.int64(tree.parent[node])  # the all-in that was called
    if tree.kind[bet] != RAISE_KIND:
        return np.int64(OFF_TREE)
    smaller = bet - 1  # siblings are adjacent, raises ascending
    while tree.kind[smaller] == RAISE_KIND and tree.parent[smaller] == tree.parent[bet]:
        child = call_child(tree, smaller)
        if tree.actor[child] >= 0:
            return child
        smaller -= 1
    return np.int64(OFF_TREE)


class TranslatedStep(NamedTuple):
    """Successor positions (node and translation status) of a real action: two alternatives, or the same one twice."""

    node: int
    off: int  # ON_TREE, BEYOND_MENU or READ_AS_CALL
    other_node: int
    other_off: int
    chance: float  # probability of the first


@kernel
def advance(book, tree, translation, node, tree_status, state, move, own_move):
    """Return the successor positions in the tree of a real action, by translation unless it is an `own_move`.

    `move` is the real action, and `state` the real state before it.
    """
    node, tree_status = np.int64(node), np.int64(tree_status)
    if move == FOLD or node == OFF_TREE or tree_status == BEYOND_MENU:
        return TranslatedStep(node, tree_status, node, tree_status, 1.0)  # until the next round, or for good
    if tree_status == READ_AS_CALL:
        if move != CALL:  # a further raise
            node, tree_status = np.int64(tree.parent[node]), np.int64(BEYOND_MENU)
        return TranslatedStep(node, tree_status, node, tree_status, 1.0)
    if move == CALL:
        child = call_child(tree, node)
        return TranslatedStep(child, tree_status, child, tree_status, 1.0)
    if own_move:
        low = nearest_own_raise(book, tree, translation, node, state, move)
        high, probability = low, 1.0
    else:
        low, high, probability = neighboring_raises(tree, translation, node, max(state.spent0, state.spent1), move)
    if low == OFF_TREE:
        return TranslatedStep(node, np.int64(BEYOND_MENU), node, np.int64(BEYOND_MENU), 1.0)
    reads_small = tree.kind[low] == CALL_KIND and ends_round(tree, node, low)
    # Only the smaller of the two can be a call.
    return TranslatedStep(low, np.int64(READ_AS_CALL if reads_small else ON_TREE), high, np.int64(ON_TREE), probability)


@inline
def advance_on_deal(tree, node, tree_status, previous_street, street):
    """Return the node and the translation status after an action and, if the street has changed, the deal."""
    if street == previous_street:
        return node, tree_status
    return (node if node == OFF_TREE else advance_to_street(tree, node, street)), np.int64(ON_TREE)


@inline
def decision_node(tree, node, tree_status, seat, street):
    """Return the tree decision whose strategy a seat uses at a position; OFF_TREE if strength and pot odds decide."""
    if tree_status != BEYOND_MENU or node == OFF_TREE:
        return node
    if tree.actor[node] != seat:
        node = np.int64(tree.parent[node])  # the player's last decision, in the same round
    if node < 0 or tree.actor[node] != seat or tree.street[node] != street or tree.kind[tree.first[node]] != FOLD_KIND:
        return np.int64(OFF_TREE)
    return node


@kernel
def follow_line(book, tree, translation, seed, hand, seat, moves, i, length):
    """Follow line i for a seat: return its decision in the tree and the translation status after the line.

    Also returns the number of its own actions, and the real state. Random translations depend on seed and hand number.
    """
    state, node, tree_status, num_own_moves = initial_state(book), np.int64(0), np.int64(ON_TREE), np.int64(0)
    for k in range(length):
        move, street = np.int64(moves[i, k]), state.street
        num_own_moves += state.turn == seat
        step = advance(book, tree, translation, node, tree_status, state, move, state.turn == seat)
        if step.chance >= 1.0 or uniform_draw(seed, hand, k, TRANSLATION_STREAM) < step.chance:
            node, tree_status = step.node, step.off
        else:
            node, tree_status = step.other_node, step.other_off
        state = apply_action_and_deal(book, state, move)
        node, tree_status = advance_on_deal(tree, node, tree_status, street, state.street)
    return decision_node(tree, node, tree_status, seat, state.street), tree_status, num_own_moves, state
