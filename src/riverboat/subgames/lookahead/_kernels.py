"""Expected payoffs of all pairs of hands, by one pass over a subtree from its last node to its root."""

from __future__ import annotations

from riverboat.compiled.jit import kernel
from riverboat.games.base import TERMINAL
from riverboat.solvers.tabular._kernels.iterations import terminal_payoff


@kernel
def link_nodes(
    nodes,  # TreeNodes
    parent,  # int32 [nodes] OUT: -1 at the root
    row,  # int64 [nodes] OUT: table row, or chance outcome, of the action that leads to a node
    depth,  # int32 [nodes] OUT: number of edges from the root
):
    """Compute the parent, the action and the depth of every node."""
    parent[0], row[0], depth[0] = -1, -1, 0
    for n in range(len(nodes.actor)):
        if nodes.actor[n] == TERMINAL:
            continue
        child = n + 1
        for k in range(nodes.width[n]):
            parent[child], row[child], depth[child] = n, nodes.data[n] + k, depth[n] + 1
            child = nodes.end[child]


@kernel
def pair_values(
    nodes,  # TreeNodes
    side,  # PlayerArrays of player 0
    parent,  # int32 [nodes]
    row,  # int64 [nodes]
    depth,  # int32 [nodes]
    first,  # float64 [rows, hands of player 0]: strategy of player 0
    second,  # float64 [rows, hands of player 1]
    root,
    sums,  # float64 [levels, hands of player 0, hands of player 1] scratch, zero before and after
    values,  # float64 [hands of player 0, hands of player 1] OUT
):
    """Compute player 0's expected payoff from a node on, for each pair of hands.

    Level d of `sums` collects the values of the children whose parent has not been reached yet. Every subtree comes
    before its root in reverse preorder, so one level for each depth suffices.
    """
    for n in range(nodes.end[root] - 1, root - 1, -1):
        level, actor = depth[n] - depth[root], 3  # 3: the root of the subtree has no parent in it
        if n != root:
            actor = nodes.actor[parent[n]]
        at = row[n]
        for h in range(values.shape[0]):
            for j in range(values.shape[1]):
                if nodes.actor[n] == TERMINAL:
                    value = terminal_payoff(side, nodes.data[n], h, j)
                else:
                    value = sums[level + 1, h, j]
                    sums[level + 1, h, j] = 0.0
                if actor == 0:
                    sums[level, h, j] += first[at, h] * value
                elif actor == 1:
                    sums[level, h, j] += second[at, j] * value
                elif actor == 3:
                    values[h, j] = value
                else:
                    sums[level, h, j] += side.chance[at] * side.live[at, h] * side.live_opp[at, j] * value


@kernel
def history_values(
    nodes,  # TreeNodes
    chance,  # float64 [outcomes]
    probabilities,  # float64 [table]
    payoffs,  # float64 [payoffs]: of player 0
    values,  # float64 [nodes] OUT
):
    """Compute player 0's expected payoff at every node of a history tree, from the last node to the first."""
    for n in range(len(values) - 1, -1, -1):
        if nodes.actor[n] == TERMINAL:
            values[n] = payoffs[nodes.data[n]]
            continue
        values[n] = 0.0
        child = n + 1
        for k in range(nodes.width[n]):
            at = nodes.data[n] + k
            values[n] += (probabilities[at] if nodes.actor[n] >= 0 else chance[at]) * values[child]
            child = nodes.end[child]
