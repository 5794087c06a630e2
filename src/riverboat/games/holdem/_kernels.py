"""Kernels of betting: the functions of `betting_rules` compiled for batches of tables, and the unrolling of betting
graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.games.holdem import betting_rules as rules
from riverboat.games.holdem.betting_rules import (
    DEAL_DUE,
    FOLDED,
    IN_PROGRESS,
    NOBODY,
    SHOWDOWN,
    CompactBettingRules,
    CompactBettingState,
)

__all__ = ["FOLDED", "IN_PROGRESS", "SHOWDOWN", "CompactBettingRules", "CompactBettingState"]

call_amount = inline(rules.call_amount)
raise_bounds = inline(rules.raise_bounds)
is_action_allowed = inline(rules.is_action_allowed)
apply_action = inline(rules.apply_action)
deal_street = inline(rules.deal_street)


@inline
def initial_state(book):
    """Return the state before the first action, `book.start`."""
    a = book.start
    return CompactBettingState(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])


@inline
def is_legal(book, s, action):
    """Return whether an action is legal."""
    least, most = raise_bounds(book, s)
    return s.over == IN_PROGRESS and is_action_allowed(call_amount(book, s), least, most, action)


@inline
def apply_action_and_deal(book, s, action):
    """Return the state after a legal action, and after the deal that may follow."""
    s = apply_action(book, s, action)
    return deal_street(book, s) if s.over == DEAL_DUE else s


@inline
def replay(book, actions, i, length):
    """Return the state after the first `length` actions of line i."""
    s = initial_state(book)
    for k in range(length):
        s = apply_action_and_deal(book, s, np.int64(actions[i, k]))
    return s


@kernel
def first_illegal(
    book,  # CompactBettingRules
    actions,  # int32 [n, most]
    length,  # int32 [n]
    states,  # int64 [n, STATE_FIELDS] OUT: fields of CompactBettingState
):
    """Replay lines and store their final states; return line and position of the first illegal action, or (-1, -1)."""
    for i in range(len(length)):
        s = initial_state(book)
        for k in range(length[i]):
            action = np.int64(actions[i, k])
            if not is_legal(book, s, action):
                return i, k
            s = apply_action_and_deal(book, s, action)
        store_state(s, states, i)
    return -1, -1


@inline
def store_state(s, states, i):
    """Store a CompactBettingState in row i of an array of states."""
    for k, x in enumerate(s):
        states[i, k] = x


@inline
def load_state(states, i):
    """Load the CompactBettingState of row i of an array of states."""
    a = states[i]
    return CompactBettingState(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])


@kernel
def call_and_raise_bounds(book, states, out):
    """Compute, for each state, the chips to call, and the smallest and largest total of a raise.

    int64 [n, STATE_FIELDS] -> int64 [n, 3]
    """
    for i in range(len(states)):
        s = load_state(states, i)
        out[i, 0] = call_amount(book, s)
        out[i, 1], out[i, 2] = raise_bounds(book, s)


# --- recorded hands, each with its own blinds, stacks and ante ---

SEAT, STREET, RAISES, TO_CALL, LARGER_TOTAL, AGGRESSOR, NUM_COLUMNS = 0, 1, 2, 3, 4, 5, 6


@kernel
def trace_decisions(
    book,  # CompactBettingRules of any hand of the record
    chips,  # int64 [n, 5]: blinds, stacks, ante
    actions,  # int32 [n, most]
    length,  # int32 [n]
    start,  # int64 [10] scratch: the state before the first action
    out,  # int64 [actions of all hands, NUM_COLUMNS] OUT
):
    """Record the state before every action: seat, street, raises so far, chips to call, larger total, aggressor.

    The aggressor is the seat that bet or raised last on the previous street, or NOBODY.
    """
    at = 0
    for i in range(len(length)):
        blind0, blind1, ante = chips[i, 0], chips[i, 1], chips[i, 4]
        least = max(blind0, blind1)
        start[0], start[1], start[2], start[3], start[4] = ante + blind0, ante + blind1, book.first[0], 0, 0
        start[5], start[6], start[7], start[8], start[9] = 0, max(least, 1), ante, IN_PROGRESS, NOBODY
        own = CompactBettingRules(
            book.limit, least, max(least, 1), chips[i, 2:4], book.raise_sizes, book.most_raises, book.first, book.shown, start
        )  # fmt: skip
        s = initial_state(own)
        for k in range(length[i]):
            out[at, SEAT], out[at, STREET], out[at, RAISES] = s.turn, s.street, s.raises
            out[at, TO_CALL] = call_amount(own, s)
            out[at, LARGER_TOTAL], out[at, AGGRESSOR] = max(s.spent0, s.spent1), s.led
            s = apply_action_and_deal(own, s, np.int64(actions[i, k]))
            at += 1


# --- betting graphs and trees ---


class BettingGraph(NamedTuple):
    """Graph of betting states (see `action_tree`): the edges of a state are the actions of the player to act."""

    start: Array  # int64 [states]: first edge of a state
    moves: Array  # int8 [states]: number of edges; 0 if the hand is over
    target: Array  # int32 [edges]: the state after each action
    kind: Array  # int8 [edges]: 0 fold, 1 call, 2 raise
    total: Array  # int32 [edges]: the actor's total over the whole hand, after the action


class UnrolledBetting(NamedTuple):
    """Nodes of a betting tree, as `ActionTree` stores them, each with its state in the graph."""

    state: Array  # int32 [nodes]: index of the node's state in the graph
    first: Array  # int32 [nodes]: first child; -1 at a terminal
    parent: Array  # int32 [nodes]: -1 at the root
    kind: Array  # int8 [nodes]: kind of the action that leads here; -1 at the root
    total: Array  # int32 [nodes]: total of that action; 0 at the root


@kernel
def unroll_graph(
    graph,  # BettingGraph
    stack,  # int32 [capacity] scratch
    out,  # UnrolledBetting OUT
):
    """Unroll a graph of states, whose first state is the root, into a tree; return the number of nodes.

    Children are adjacent, and the subtree of the first child precedes that of the second.
    """
    state, first, parent, kind, total = out.state, out.first, out.parent, out.kind, out.total
    state[0] = 0
    parent[0] = -1
    kind[0] = -1
    total[0] = 0
    stack[0] = 0
    top = 1
    end = 1
    while top > 0:
        top -= 1
        node = stack[top]
        here = state[node]
        count = graph.moves[here]
        if count == 0:
            first[node] = -1
            continue
        first[node] = end
        begin = graph.start[here]
        for a in range(count):
            child = end + a
            state[child] = graph.target[begin + a]
            parent[child] = node
            kind[child] = graph.kind[begin + a]
            total[child] = graph.total[begin + a]
            stack[top + count - 1 - a] = child
        top += count
        end += count
    return end
