"""How much better a move must have done before an answer leaves its blueprint for it.

Sampled values of moves are noisy, and in deep pots the noise is large: an answer that takes the best of several noisy sums
takes many that were lucky, and a best response to a blueprint in its own abstract game loses to it. So moves begin behind
those of the blueprint, by some standard deviations of what luck alone makes of them. What is really better gains on it in
proportion to the visits, luck by their square root: in the end the handicap is nothing.

A standard deviation is that of what is won behind a move, times the root of how often its decision was visited, as if hands
of the two players did not depend on each other: an estimate, good enough for a bound. How many of them is a matter of what to
expect: who plays as the blueprint does gives nothing to win, and who plays otherwise in half of all decisions gives so much
that luck matters less than leaving it (`distance`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.opponents.models.bucket_statistics import bucket_chances, bucket_dealt


@lru_cache(maxsize=4)
def levels(tree: ActionTree) -> tuple[Array, ...]:
    """Nodes by how many moves lead there, from none on."""
    out, nodes = [], np.zeros(1, np.int64)
    while len(nodes):
        out.append(nodes)
        nodes = _children(tree, nodes)[1]
    return tuple(out)


def _children(tree: ActionTree, nodes: Array) -> tuple[Array, Array]:
    """Of each move at some nodes: which of them it is made at, and where it leads. int64 [moves] each"""
    count = np.where(tree.actor[nodes] >= 0, tree.count[nodes], 0).astype(np.int64)
    row = np.repeat(np.arange(len(nodes)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, tree.first[nodes[row]] + within


def _walk(
    tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...], seat: int
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Decisions by street and level with the weights of a player's buckets there, then what follows and the weights there.

    int64 [n], float64 [n, buckets], int64 [moves], float64 [moves, buckets of the same street]
    """
    first, steps = bucket_chances(cards, tree.rules.rounds)
    entries: list[list[tuple[Array, Array]]] = [[] for _ in range(tree.rules.rounds)]
    entries[0].append((np.zeros(1, np.int64), first[None]))
    for street, entered in enumerate(entries):
        if not entered:
            continue
        nodes, weights = (np.concatenate(parts) for parts in zip(*entered, strict=True))
        while len(nodes):
            row, child = _children(tree, nodes)
            at = nodes[row]
            made = weights[row]
            mine = np.flatnonzero(tree.actor[at] == seat)
            made[mine] *= tables[street][:, tree.slot[at[mine]] + child[mine] - tree.first[at[mine]]].T
            yield nodes, weights, child, made
            on = np.where(tree.actor[child] >= 0, tree.street[child], -1)
            for later in np.unique(on[on > street]).tolist():
                some = np.flatnonzero(on == later)
                dealt = made[some]
                for s in range(street, later):
                    dealt = dealt @ steps[s]
                entries[later].append((child[some], dealt))
            here = on == street
            nodes, weights = child[here], made[here]


def reaches(tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...], seat: int) -> Array:
    """How likely a player is to make its moves to each node, over all of its hands. float64 [nodes]"""
    out = np.zeros(len(tree))
    out[0] = 1.0
    for _, _, child, made in _walk(tree, cards, tables, seat):
        out[child] = made.sum(axis=1)
    return out


def distance(
    tree: ActionTree,
    cards: CardAbstraction,
    plain: tuple[Array, ...],
    played: tuple[Array, ...],
    seat: int,
    other: Array,
) -> float:
    """In which share of its decisions a player does otherwise than the blueprint, by total variation, from 0 to 1.

    `other` are `reaches` of its opponent.
    """
    apart = [np.abs(one - two) / 2 for one, two in zip(played, plain, strict=True)]
    total = differs = 0.0
    for nodes, weights, _, _ in _walk(tree, cards, played, seat):
        mine = np.flatnonzero(tree.actor[nodes] == seat)
        for node, weight in zip(nodes[mine].tolist(), weights[mine], strict=True):
            at, often = int(tree.slot[node]), weight * other[node]
            differs += float(often @ apart[int(tree.street[node])][:, at : at + int(tree.count[node])].sum(axis=1))
            total += float(often.sum())
    return differs / total if total > 0 else 0.0


def handicaps(
    tree: ActionTree, cards: CardAbstraction, plain: tuple[Array, ...], own: Array, other: Array, seat: int
) -> tuple[Array, ...]:
    """What regrets of a seat's moves begin with, in standard deviations after one iteration: above zero for the moves of the
    blueprint, below for others. By street, float32 [buckets, moves of the street]; other seats' columns mean nothing.

    `own` and `other` are `reaches` of the seat and of its opponent.
    """
    deviation = _deviations(tree, np.where(np.arange(2) == seat, own[:, None], other[:, None]))
    out = []
    for street, dealt in enumerate(bucket_dealt(cards, tree.rules.rounds)):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        row, child = _children(tree, nodes)
        shares, apart = plain[street], deviation[child]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        mean = np.add.reduceat(shares * apart, first, axis=1)[:, row] if len(row) else shares
        visits = np.sqrt(dealt[:, None] * other[nodes[row]])
        out.append((visits * (shares * mean - (1 - shares) * apart)).astype(np.float32))
    return tuple(out)


def _deviations(tree: ActionTree, reach: Array) -> Array:
    """The root mean square of what is won behind each node, by `reach` of both seats. float64 [nodes]"""
    nodes, up = np.arange(1, len(tree)), tree.parent[1:].astype(np.int64)
    before = reach[up, tree.actor[up]]
    often = np.ones(len(tree))
    often[1:] = np.where(before > 0, reach[nodes, tree.actor[up]] / np.where(before > 0, before, 1), 1 / tree.count[up])
    square = np.where(tree.actor < 0, tree.pay.astype(np.float64) ** 2, 0.0)
    for level in reversed(levels(tree)[1:]):
        np.add.at(square, tree.parent[level], often[level] * square[level])
    return np.sqrt(square)
