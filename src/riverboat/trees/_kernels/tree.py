"""Compiled passes over trees in preorder. Arrays and scalars in, arrays out."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel, maker
from riverboat.games.base import CHANCE, TERMINAL, Array


@kernel
def place_blocks(
    actor,  # int8 [nodes]
    index,  # int32 [nodes]: row of the menus, chances or pay-offs
    menu_width,  # int16 [menus]
    chance_width,  # int16 [chances]
    first_outcome,  # int64 [chances]
    width,  # int16 [nodes] OUT: number of children
    data,  # int64 [nodes] OUT: first row in the table, first outcome, or pay-off
    rows,  # int64 [2] INOUT: rows of each player
):
    """Give every decision node its rows of the table."""
    for n in range(len(actor)):
        row = index[n]
        if actor[n] == TERMINAL:
            width[n] = 0
            data[n] = row
        elif actor[n] == CHANCE:
            width[n] = chance_width[row]
            data[n] = first_outcome[row]
        else:
            width[n] = menu_width[row]
            data[n] = rows[actor[n]]
            rows[actor[n]] += width[n]


@kernel
def depth(
    end,  # int32 [nodes]
    stack,  # int32 [room] scratch
):
    """Number of nodes on the longest path, or -1 where the scratch is too small to tell."""
    top = 0
    deepest = 0
    for n in range(len(end)):
        while top > 0 and n >= stack[top - 1]:
            top -= 1
        if top == len(stack):
            return -1
        stack[top] = end[n]
        top += 1
        deepest = max(deepest, top)
    return deepest


def tree_depth(end: Array) -> int:
    """Number of nodes on the longest path."""
    room = 256
    while (levels := depth(end, np.empty(room, np.int32))) < 0:
        room *= 16
    return int(levels)


@maker
def trace(
    actor,  # int8 [nodes]
    end,  # int32 [nodes]
    data,  # int64 [nodes]
    infoset,  # int32 [nodes], -1 where nobody decides
    first,  # int64 [infosets]: first sequence of an information set, in its player's numbering
    chance,  # float64 [outcomes]
    players,
):
    """Chance's probability of each node, and the last sequence of each player on the way to it."""
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


@maker
def others_reach(
    actor,  # int8 [nodes]
    end,  # int32 [nodes]
    data,  # int64 [nodes]
    chance,  # float64 [outcomes]
    strategy,  # float64 [table]
    me,
    reach,  # float64 [nodes] OUT: probability that chance and the others play to n
):
    """Multiply the probabilities of everybody but `me` along every path."""
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


@maker
def respond(
    parent,  # int32 [infosets]: sequence that leads to it
    first,  # int32 [infosets]: its first sequence
    width,  # int32 [infosets]
    value,  # float64 [sequences] INOUT: pay-off of ending there; becomes the best value from there on
    best,  # int32 [infosets] OUT: the best action
):
    """Best response in a treeplex, children before parents. The answer is value[0]."""
    for i in range(len(parent) - 1, -1, -1):
        top = value[first[i]]
        best[i] = 0
        for a in range(1, width[i]):
            if value[first[i] + a] > top:
                top = value[first[i] + a]
                best[i] = a
        value[parent[i]] += top
