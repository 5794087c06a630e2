"""Compiled loops over trees of betting."""

from __future__ import annotations

from typing import NamedTuple

from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array


class Graph(NamedTuple):
    """States, and the moves between them."""

    start: Array  # int64 [states]: where the moves of a state begin
    moves: Array  # int8 [states]: how many there are; 0: the hand is over
    target: Array  # int32 [edges]: the state after each move
    kind: Array  # int8 [edges]
    total: Array  # int32 [edges]


class Unrolled(NamedTuple):
    """The nodes of a tree."""

    state: Array  # int32 [nodes]: of the graph
    first: Array  # int32 [nodes]
    parent: Array  # int32 [nodes]
    kind: Array  # int8 [nodes]
    total: Array  # int32 [nodes]


@kernel
def unroll(
    graph,  # Graph
    stack,  # int32 [room]: scratch
    out,  # Unrolled OUT
):
    """Write a graph of states, the first of them the root, as a tree; the number of nodes.

    Children lie side by side, and all that is below the first of them comes before what is below the second.
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
