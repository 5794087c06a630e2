"""A part of a tree of betting: what follows a node of the flat `ActionTree`, as the nested `BettingTree` of board games.

Pay-offs are those of spots: what is in the pot at the root of the part belongs to nobody, and a pay-off is the share of the
final pot, less the chips put in since. So the pay-offs of both sum to that pot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.holdem.action_tree import ActionTree


class Cut(NamedTuple):
    """What follows a node."""

    betting: BettingTree
    source: Array  # int32 [nodes]: the node of the action tree; of a deal, the one that comes after it


def cut(tree: ActionTree, root: int, street: int | None = None) -> Cut:
    """The betting from a node of the tree on, its streets counted from there.

    `street` is that of the board which lies at the root, where it is not the node's own: of a showdown after an all-in the
    deals that are left are a part of what follows.
    """
    begin = int(tree.street[root]) if street is None else street
    source, on, deals, end = _preorder(tree, root, begin)
    over, dealing = tree.actor[source] < 0, deals > 0
    actor = np.where(dealing, CHANCE, np.where(over, TERMINAL, tree.actor[source]))
    showdown = tree.showdown[source] & ~dealing
    betting = BettingTree(
        actor.astype(np.int8),
        end,
        (on - begin).astype(np.int8),
        _labels(tree, source),
        showdown,
        _pay(tree, source, showdown) * (actor == TERMINAL)[:, None, None],
        tree.spent[source].astype(np.float64),
    )
    return Cut(betting, source)


def _preorder(tree: ActionTree, root: int, begin: int) -> tuple[Array, Array, Array, Array]:
    """Nodes in preorder, where a node of a later street than its parent's has its deals before it.

    The node of the tree, the street, the deals that are still to come before the node, and the end of the subtree.
    """
    showdown, parent, first, count = tree.showdown, tree.parent, tree.first, tree.count
    on = np.where(showdown, tree.rules.rounds - 1, tree.street)  # hands are compared when all cards lie
    source: list[int] = []
    street: list[int] = []
    deals: list[int] = []
    end: list[int] = []
    begun: list[int] = []  # nodes whose subtrees have not ended
    work = [root]
    while work:
        node = work.pop()
        if node < 0:
            for _ in range(-node):
                end[begun.pop()] = len(source)
            continue
        before = int(on[node]) - (begin if node == root else int(on[parent[node]]))
        for left in range(before, -1, -1):
            begun.append(len(source))
            source.append(node)
            street.append(int(on[node]) - left)
            deals.append(left)
            end.append(0)
        work.append(-1 - before)
        work += range(int(first[node] + count[node]) - 1, int(first[node]) - 1, -1) if count[node] else ()
    return np.array(source, np.int32), np.array(street), np.array(deals), np.array(end, np.int32)


def _labels(tree: ActionTree, source: Array) -> tuple[str, ...]:
    """Of the moves: the first of the entries that a node has, which may be a deal, is what its move leads to."""
    fresh = np.diff(source, prepend=-1) != 0
    fresh[0] = False
    return tuple(tree.label(node) if new else "" for node, new in zip(source.tolist(), fresh, strict=True))


def _pay(tree: ActionTree, source: Array, showdown: Array) -> Array:
    """By seat 0's hand stronger, equal, weaker, then by seat. float64 [nodes, 3, 2]"""
    won = tree.pay[source].astype(np.float64)
    wins = np.array([1.0, 0.0, -1.0])
    first = won[:, None] * np.where(showdown[:, None], wins, 1.0)
    pay: Array = np.stack([first, -first], axis=2) + tree.spent[source[0]]
    return pay
