"""Depth-limited solving of history games, from the root: hidden actions, and no public states.

A leaf is a history. The opponent's choice of a continuation is one for all histories that it cannot tell apart: those below
which it has an information set in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.subgames.lookahead._kernels import history_values
from riverboat.trees.history import HistoryTree, HistoryTreeBuilder


class LimitedHistories(NamedTuple):
    """A history tree that ends at leaves, where a player chooses its continuation."""

    tree: HistoryTree
    origin: Array  # int64 [table]: index in the table of the whole tree, -1 at the choices of leaves
    leaves: tuple[str, ...]  # labels of the actions and outcomes that lead to each leaf


def limited_histories(
    tree: HistoryTree, depth: int | None, chooser: int, profiles: Sequence[Array]
) -> LimitedHistories:
    """Cut a history tree after some actions of the players.

    `profiles`: float64 [table] for each continuation of the `chooser`, with both players' play after the leaves.
    """
    nodes = tree.nodes
    leaves = _leaf_nodes(tree, depth)
    inside = np.zeros(len(nodes.actor), bool)
    for leaf in leaves:
        inside[leaf : nodes.end[leaf]] = True
    above = set(tree.node_infoset[~inside & (nodes.actor >= 0)].tolist())
    split = above & set(tree.node_infoset[inside & (nodes.actor >= 0)].tolist())
    if split:
        name = list(tree.infosets())[min(split)].name
        raise InputError(
            f"{tree.name}: depth={depth}: information set {name!r} lies before and behind the limit: choose another depth"
        )
    values = np.empty((len(profiles), len(nodes.actor)))
    for profile, row in zip(profiles, values, strict=True):
        history_values(nodes, tree.chance, profile, np.ascontiguousarray(tree.payoffs[:, 0]), row)
    classes = _opponent_classes(tree, leaves, chooser)
    columns: list[tuple[int, int, int, int, int]] = []  # actor, end, width, data, key
    payoffs = list(tree.payoffs)
    position: dict[int, int] = {}
    node = 0
    while node < len(nodes.actor):
        position[node] = len(columns)
        if node not in classes:
            who = int(nodes.actor[node])
            key = int(tree.node_infoset[node]) if who >= 0 else -1
            columns.append((who, int(nodes.end[node]), int(nodes.width[node]), int(nodes.data[node]), key))
            node += 1
            continue
        count = len(profiles) if classes[node] >= 0 else 1  # without a later decision all continuations are alike
        if count > 1:
            columns.append((chooser, -count, count, 0, tree.infoset_count + classes[node]))
        for value in values[:count, node]:
            columns.append((TERMINAL, -1, 0, len(payoffs), -1))
            payoffs.append(np.array([value, -value]))
        node = int(nodes.end[node])
    position[len(nodes.actor)] = len(columns)
    ends = [n + 1 - end if end < -1 else n + 1 if end < 0 else position[end] for n, (_, end, *_) in enumerate(columns)]
    build = HistoryTreeBuilder([tree.chance], tree.outcome_labels or map(str, range(len(tree.chance))))
    numbers = np.array(columns, np.int64).T
    numbers[1] = ends
    build.append(*numbers)

    def info(keys: Array) -> list[tuple[str, tuple[str, ...]]]:
        infosets, menu = list(tree.infosets()), tuple(f"continuation {c}" for c in range(len(profiles)))
        known = len(infosets)
        return [
            (infosets[k].name, infosets[k].actions) if k < known else (f"leaf {k - known}", menu) for k in keys.tolist()
        ]

    cut, keys = build.assemble(f"{tree.name}, depth-limited", tree.unit, np.array(payoffs), info)
    start = np.append(tree.offsets, 0)[np.minimum(keys, tree.infoset_count)]
    origin = cut.spread(start - cut.offsets) + np.arange(cut.table_size)
    origin[cut.spread(keys >= tree.infoset_count)] = -1
    return LimitedHistories(cut, origin, tuple(_labels_to(tree, leaf) for leaf in leaves))


def _leaf_nodes(tree: HistoryTree, depth: int | None) -> list[int]:
    """Return the nodes after `depth` actions of the players, in preorder."""
    found, waiting = [], [(0, 0)]
    while waiting:
        node, actions = waiting.pop()
        who = tree.nodes.actor[node]
        if who == TERMINAL:
            continue
        if actions == depth:
            found.append(node)
        else:
            waiting += [(child, actions + (who != CHANCE)) for child in reversed(list(tree.children(node)))]
    return found


def _opponent_classes(tree: HistoryTree, leaves: Sequence[int], chooser: int) -> dict[int, int]:
    """Return the class of each leaf that the chooser cannot tell from others; -1 if it does not act after it."""
    top: dict[int, int] = {}  # a representative leaf, by leaf
    owner: dict[int, int] = {}  # a leaf, by information set

    def find(leaf: int) -> int:
        while top[leaf] != leaf:
            leaf = top[leaf]
        return leaf

    silent = set()
    for leaf in leaves:
        span = slice(leaf, int(tree.nodes.end[leaf]))
        infosets = np.unique(tree.node_infoset[span][tree.nodes.actor[span] == chooser])
        top[leaf] = leaf
        if not len(infosets):
            silent.add(leaf)
        for infoset in infosets.tolist():
            top[find(owner.setdefault(infoset, leaf))] = find(leaf)
    numbers: dict[int, int] = {}
    return {leaf: -1 if leaf in silent else numbers.setdefault(find(leaf), len(numbers)) for leaf in leaves}


def _labels_to(tree: HistoryTree, leaf: int) -> str:
    """Return the labels of the actions and outcomes that lead to a node."""
    names, node = [], 0
    while node != leaf:
        for label, child in zip(tree.labels(node), tree.children(node), strict=True):
            if child <= leaf < tree.nodes.end[child]:
                names.append(label)
                node = child
                break
    return " ".join(names)
