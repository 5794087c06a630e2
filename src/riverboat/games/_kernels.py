"""Compiled loops over trees of betting."""

from __future__ import annotations

from riverboat.jit import kernel


@kernel
def unroll(
    start,  # int64 [states]: where the moves of a state begin
    moves,  # int8 [states]: how many there are; 0: the hand is over
    target,  # int32 [edges]: the state after each move
    edge_kind,  # int8 [edges]
    edge_total,  # int32 [edges]
    stack,  # int32 [room]: scratch
    state,  # int32 [nodes] OUT: the state of each node
    first,  # int32 [nodes] OUT
    parent,  # int32 [nodes] OUT
    kind,  # int8 [nodes] OUT
    total,  # int32 [nodes] OUT
):
    """Write a graph of states, the first of them the root, as a tree; the number of nodes.

    Children lie side by side, and all that is below the first of them comes before what is below the second.
    """
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
        count = moves[here]
        if count == 0:
            first[node] = -1
            continue
        first[node] = end
        begin = start[here]
        for a in range(count):
            child = end + a
            state[child] = target[begin + a]
            parent[child] = node
            kind[child] = edge_kind[begin + a]
            total[child] = edge_total[begin + a]
            stack[top + count - 1 - a] = child
        top += count
        end += count
    return end
