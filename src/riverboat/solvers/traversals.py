"""Traversals: which part of the tree an iteration walks. Independent of the schedule.

`full` walks everything. The public-tree samplers of Johanson et al. 2012 sample the public chance events and carry
the traverser's and the opponent's hands as vectors or draw one: `pcs` both vectors, `opcs` draws the
opponent's, `spcs` its own, `chance` both. `external` and `outcome` also sample actions (Lanctot et al. 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, unknown
from riverboat.games.base import Array
from riverboat.solvers.tabular._kernels.iterations import Blocks, Sampler
from riverboat.strategies.tabular import Tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class Traversal:
    """A row of the table of traversals."""

    name: str
    about: str
    sampled: bool = True
    public: bool = False  # needs public states and hands
    own_all: bool = True
    opp_all: bool = True


TRAVERSALS: dict[str, Traversal] = {
    t.name: t
    for t in (
        Traversal("full", "every node, all hands as vectors", sampled=False),
        Traversal("chance", "one deal and its public cards, all actions", own_all=False, opp_all=False),
        Traversal("external", "one deal, the opponent's actions sampled"),
        Traversal("outcome", "one trajectory"),
        Traversal("pcs", "public chance sampled, both players' hands as vectors", public=True),
        Traversal("opcs", "public chance and the opponent's hand sampled", public=True, opp_all=False),
        Traversal("spcs", "public chance and the own hand sampled", public=True, own_all=False),
    )
}
_ALIASES = {"cs": "chance", "es": "external", "os": "outcome", "chance_sampling": "chance"}


def parse(text: str | Traversal) -> Traversal:
    """A traversal by name."""
    if isinstance(text, Traversal):
        return text
    name = _ALIASES.get(text, text)
    if name not in TRAVERSALS:
        raise unknown("traversal", text, TRAVERSALS)
    return TRAVERSALS[name]


def check(tree: Tree, traversal: Traversal) -> None:
    """Raise where a tree lacks what a traversal needs."""
    if traversal.public and not isinstance(tree, PublicTree):
        raise InputError(
            f"{tree.name}: traversal {traversal.name!r} needs a public game (all actions seen, hands dealt at the start); "
            f"use full, chance, external or outcome"
        )


def sampler(tree: Tree, traversal: Traversal) -> Sampler:
    """Tables for drawing pairs of hands and for stepping to the k-th child, where they are needed."""
    kids = traversal.name in ("external", "outcome")
    if isinstance(tree, PublicTree) and traversal.sampled:
        joint = tree.deal.joint()
        dealt = np.ascontiguousarray(np.argwhere(joint > 0), np.int32)
        accept, alias = _alias(joint[joint > 0])
        marginal = joint.sum(axis=1), joint.sum(axis=0)
    else:
        dealt, (accept, alias) = np.zeros((1, 2), np.int32), _alias(np.ones(1))
        marginal = np.ones(1), np.ones(1)
    kid_at, children = _kids(tree) if kids else (np.zeros(0, np.int32), np.zeros(0, np.int32))
    cumulative = np.cumsum(marginal[0]), np.cumsum(marginal[1])
    vectors = traversal.own_all, traversal.opp_all
    return Sampler(accept, alias, dealt, marginal, cumulative, tree.total, *vectors, kid_at, children)


def blocks(tree: Tree) -> tuple[Blocks, ...]:
    """The information sets of each player; empty ones where no blocks are shared."""
    if not isinstance(tree, HistoryTree) or not tree.shared:
        nothing = Blocks(np.zeros(0, np.int64), np.zeros(0, np.int32))
        return (nothing,) * tree.players
    mine = [np.flatnonzero(tree.owner == p) for p in range(tree.players)]
    return tuple(Blocks(tree.offsets[i], tree.widths[i]) for i in mine)


def _alias(probability: Array) -> tuple[Array, Array]:
    """Walker's alias table: draw from any discrete distribution in O(1)."""
    count = len(probability)
    scaled = probability * (count / probability.sum())
    alias = np.arange(count, dtype=np.int32)
    small = [i for i in range(count) if scaled[i] < 1]
    large = [i for i in range(count) if scaled[i] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    scaled[small + large] = 1.0  # what rounding has left over
    return scaled, alias


def _kids(tree: Tree) -> tuple[Array, Array]:
    """Children of every node, one list after the other."""
    width, end = tree.nodes.width.astype(np.int64), tree.nodes.end
    first = np.concatenate([[0], np.cumsum(width)[:-1]]).astype(np.int32)
    children = np.zeros(max(int(width.sum()), 1), np.int32)
    # Siblings follow one another: the next one starts where this one ends.
    child = np.arange(len(width)) + 1
    for k in range(int(width.max())):
        has = np.flatnonzero(width > k)
        children[first[has] + k] = child[has]
        child[has] = end[child[has]] if len(has) else child[has]
    return first, children
