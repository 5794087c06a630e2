"""Subgames of board games: the betting below a node, or without some actions.

A subgame keeps the payoffs of the whole hand, so that values in it compare with those in the full game. It may begin
with a deal: after the betting of a round and before the next card (Brown & Sandholm 2017).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree, BoardGame, UnrolledStatesMixin
from riverboat.games.boards.root_gadgets import RootGadget
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.tree_layout import traverse_preorder


class BettingSubtree(NamedTuple):
    """A part of a larger tree as a betting tree."""

    betting: BettingTree
    origin: Array  # int [nodes]: node of the original tree; for a deal in an action tree, the node after it


def extract_betting_subtree(betting: BettingTree, root: int = 0, removed: Iterable[int] = ()) -> BettingSubtree:
    """Extract the betting tree below a node, without the subtrees of removed nodes. Streets count from the root."""
    keep = np.zeros(len(betting.actor), bool)
    keep[root : betting.end[root]] = True
    for node in removed:
        if node == root:
            raise InputError(f"betting below node {root} without that node: nothing would be left")
        keep[node : betting.end[node]] = False
    origin = np.flatnonzero(keep)
    childless = [n for n in map(int, origin) if betting.actor[n] >= 0 and not any(keep[c] for c in betting.children(n))]
    if childless:
        raise InputError(f"node {childless[0]} of the betting would have no actions: leave one")
    before = np.concatenate([[0], np.cumsum(keep)])  # number of kept nodes before each
    actor, showdown, payoffs, spent = (
        part[origin] for part in (betting.actor, betting.showdown, betting.payoffs, betting.spent)
    )
    end = (before[betting.end[origin]] - before[root]).astype(np.int32)
    street = (betting.street[origin] - betting.street[root]).astype(np.int8)
    label = tuple(betting.label[n] if n != root else "" for n in origin)
    return BettingSubtree(BettingTree(actor, end, street, label, showdown, payoffs, spent), origin)


@dataclass(frozen=True, eq=False)
class BoardSubgame(UnrolledStatesMixin):
    """A subgame of a board game: a part of its betting, other ranges, a root gadget. Hands keep their rows."""

    full_game: BoardGame
    name: str
    betting: BettingTree
    weights: tuple[Array, Array]  # float64 [1326] each
    gadget: RootGadget | None = None
    board: tuple[int, ...] = ()
    deals: tuple[int, ...] = ()

    @property
    def hand_indices(self) -> tuple[Array, Array]:
        """All hands of the full game that the board does not block, also those of zero weight, so that rows are the
        same.
        """
        first, second = (h[~np.isin(HAND_CARDS[h], self.board).any(axis=1)] for h in self.full_game.hand_indices)
        return first, second

    @property
    def deck(self) -> Deck:  # type: ignore[override]
        """Deck of the full game."""
        return self.full_game.deck

    @property
    def unit(self) -> str:
        """Unit of the full game."""
        return self.full_game.unit

    @property
    def joiner(self) -> str:  # type: ignore[override]
        """Joiner of the full game."""
        return self.full_game.joiner

    @property
    def scale(self) -> tuple[str, float]:
        """Scale of the full game."""
        return self.full_game.scale


# --- subtrees of an action tree ---


def extract_action_subtree(tree: ActionTree, root: int, street: int | None = None) -> BettingSubtree:
    """Convert the subtree below a node of an action tree to a betting tree. Streets count from the root.

    `street` is the street of the board at the root, if it differs from the node's. For a showdown after an all-in, the
    remaining deals are part of the subtree.
    """
    begin = int(tree.street[root]) if street is None else street
    on = np.where(tree.showdown, tree.rules.rounds - 1, tree.street)  # hands are compared on the complete board
    entries: list[tuple[int, int, str]] = []  # node, number of deals still before it, label

    def visit(entry: tuple[int, int, str]) -> list[tuple[int, int, str]]:
        entries.append(entry)
        node, left, _ = entry
        if left:
            return [(node, left - 1, "")]
        children = tree.children(node) if tree.count[node] else ()
        return [(child, int(on[child] - on[node]), tree.label(child)) for child in children]

    end = np.array(traverse_preorder((root, int(on[root]) - begin, ""), visit), np.int32)
    nodes, lefts, label = zip(*entries, strict=True)
    source, deals = np.array(nodes, np.int32), np.array(lefts)
    over, dealing = tree.actor[source] < 0, deals > 0
    actor = np.where(dealing, CHANCE, np.where(over, TERMINAL, tree.actor[source])).astype(np.int8)
    showdown = tree.showdown[source] & ~dealing
    payoffs = _payoffs(tree, source, showdown) * (actor == TERMINAL)[:, None, None]
    since_root, spent = (on[source] - deals - begin).astype(np.int8), tree.spent[source].astype(np.float64)
    return BettingSubtree(BettingTree(actor, end, since_root, label, showdown, payoffs, spent), source)


def _payoffs(tree: ActionTree, source: Array, showdown: Array) -> Array:
    """Return the payoffs if seat 0's hand is stronger, equal, weaker, by seat. float64 [nodes, 3, 2]"""
    won = tree.payoff[source].astype(np.float64)
    wins = np.array([1.0, 0.0, -1.0])
    first = won[:, None] * np.where(showdown[:, None], wins, 1.0)
    return np.asarray(np.stack([first, -first], axis=2) + tree.spent[source[0]])
