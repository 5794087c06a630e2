"""Compiled passes over trees in preorder, and the arrays that describe such trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import allocating_kernel
from riverboat.games.base import CHANCE, TERMINAL, Array


def tree_depth(end: Array) -> int:
    """Return the number of nodes on the longest path. `end`: end of each node's subtree, in preorder."""
    closed = np.cumsum(np.bincount(end, minlength=len(end)))[: len(end)]  # subtrees that end at or before each node
    return int((np.arange(1, len(end) + 1) - closed).max())


@allocating_kernel
def trace_sequences(
    actor,  # int8 [nodes]
    end,  # int32 [nodes]
    data,  # int64 [nodes]
    infoset,  # int32 [nodes], -1 except at decisions
    first,  # int64 [infosets]: first sequence of an information set, in the numbering of its player
    chance,  # float64 [outcomes]
    players,
):
    """Compute the chance probability of each node and each player's last sequence (own action) before it.

    Returns float64 [nodes] and int32 [nodes, players]; sequence 0 is the empty one.
    """
    nodes = len(actor)
    reach = np.ones(nodes)
    last = np.zeros((nodes, players), np.int32)
    for n in range(nodes):
        if actor[n] == TERMINAL:
            continue
        child = n + 1
        k = 0
        while child < end[n]:
            reach[child] = reach[n]
            last[child] = last[n]
            if actor[n] == CHANCE:
                reach[child] *= chance[data[n] + k]
            else:
                last[child, actor[n]] = first[infoset[n]] + k
            k += 1
            child = end[child]
    return reach, last


@allocating_kernel
def opponents_reach(
    actor,  # int8 [nodes]
    end,  # int32 [nodes]
    data,  # int64 [nodes]
    chance,  # float64 [outcomes]
    strategy,  # float64 [table]
    me,
    reach,  # float64 [nodes] OUT: reach probability of chance and the other players
):
    """Compute the reach probability of every node without the contribution of player `me`."""
    reach[0] = 1.0
    for n in range(len(actor)):
        if actor[n] == TERMINAL:
            continue
        child = n + 1
        k = 0
        while child < end[n]:
            p = 1.0
            if actor[n] == CHANCE:
                p = chance[data[n] + k]
            elif actor[n] != me:
                p = strategy[data[n] + k]
            reach[child] = reach[n] * p
            k += 1
            child = end[child]


@allocating_kernel
def treeplex_best_response(
    parent,  # int32 [infosets]: parent sequence
    first,  # int32 [infosets]: first sequence
    width,  # int32 [infosets]
    value,  # float64 [sequences] INOUT: expected payoff at the terminals of a sequence; becomes its best-response value
    best,  # int32 [infosets] OUT: the best action
):
    """Compute a best response in a treeplex (sequence form), children before parents; `value[0]` becomes its value."""
    for i in range(len(parent) - 1, -1, -1):
        top = value[first[i]]
        best[i] = 0
        for a in range(1, width[i]):
            if value[first[i] + a] > top:
                top = value[first[i] + a]
                best[i] = a
        value[parent[i]] += top


# --- arrays of a tree -------------------------------------------------------------------------

CONSTANT_PAYOFF, COMPARE_PAYOFF, MATRIX_PAYOFF = 0, 1, 2
SUM_TOLERANCE = 1e-9  # tolerance of sums of payoffs; relative for sums above one


def constant_sum_of(sums: Array) -> float | None:
    """Return the common value of all sums of payoffs, or None if they differ."""
    low, high = float(sums.min()), float(sums.max())
    if high - low > SUM_TOLERANCE * max(1.0, abs(low), abs(high)):
        return None
    return 0.0 if abs(high) <= SUM_TOLERANCE and abs(low) <= SUM_TOLERANCE else (low + high) / 2


class TreeNodes(NamedTuple):
    """Nodes of a tree in preorder: the first child of n is n + 1, its subtree is n … end[n] - 1."""

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]
    width: Array  # int16 [nodes]: number of children
    data: Array  # int64 [nodes]: decision: first row in the table; chance: first outcome; terminal: payoff


class PlayerArrays(NamedTuple):
    """Deal, payoffs and chance outcomes for one player."""

    weight: Array  # float64 [own hands]: deal weights
    weight_opp: Array  # float64 [opponent hands]
    share: Array  # float64 [own hands]: weight / total; a hand's values times this are counterfactual values
    exclude: Array  # int32 [own hands, k]: opponent hands that exclude it, padded with -1
    kind: Array  # int8 [payoffs]: CONSTANT, COMPARE or MATRIX
    pay: Array  # float64 [payoffs, 3]: for a win, a tie, a loss
    row: Array  # int32 [payoffs]: row of the next four (COMPARE) or of matrix (MATRIX)
    order: Array  # int32 [rows, opponent hands]: the opponent's hands from weak to strong
    place: Array  # int32 [rows, opponent hands]: position of each hand in that order
    below: Array  # int32 [rows, own hands]: number of opponent hands that the hand beats
    upto: Array  # int32 [rows, own hands]: number that it beats or ties
    matrix: Array  # float64 [rows, own hands, opponent hands]
    chance: Array  # float64 [outcomes]: probability given a pair of hands that allows it
    live: Array  # float64 [outcomes, own hands]: 1, or 0 where the outcome makes the hand impossible
    live_opp: Array  # float64 [outcomes, opponent hands]
