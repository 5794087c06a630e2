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
    """A betting tree that was extracted from a larger tree, with the original node of each of its nodes."""

    betting: BettingTree
    origin: Array  # int [nodes]: node of the original tree; for a deal of an action tree, the node after the deal


def extract_betting_subtree(betting: BettingTree, root: int = 0, removed: Iterable[int] = ()) -> BettingSubtree:
    """Extract the betting tree below a node, without the subtrees of removed nodes. The new root's street is 0."""
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
    before = np.concatenate([[0], np.cumsum(keep)])  # number of nodes before each that stay in the tree
    actor, showdown, payoffs, spent = (
        part[origin] for part in (betting.actor, betting.showdown, betting.payoffs, betting.spent)
    )
    end = (before[betting.end[origin]] - before[root]).astype(np.int32)
    street = (betting.street[origin] - betting.street[root]).astype(np.int8)
    label = tuple(betting.label[n] if n != root else "" for n in origin)
    return BettingSubtree(BettingTree(actor, end, street, label, showdown, payoffs, spent), origin)


@dataclass(frozen=True, eq=False)
class BoardSubgame(UnrolledStatesMixin):
    """A subgame of a board game: a subtree of its betting, ranges at its root, and optionally a root gadget.

    Hands have the same rows in tables as in the full game.
    """

    full_game: BoardGame
    name: str
    betting: BettingTree
    weights: tuple[Array, Array]  # float64 [1326] each: ranges at the root
    gadget: RootGadget | None = None
    board: tuple[int, ...] = ()
    deals: tuple[int, ...] = ()  # number of cards of each deal of the subgame

    @property
    def hand_indices(self) -> tuple[Array, Array]:
        """Indices of all hands of the full game that the board does not block. int64 [hands] each

        Hands of zero weight are included, so that tables have the same rows as in the full game.
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
        """Unit of exploitability, and the factor from chips to it, of the full game."""
        return self.full_game.scale


# --- subtrees of an action tree ---


def extract_action_subtree(tree: ActionTree, root: int, street: int | None = None) -> BettingSubtree:
    """Convert the subtree below a node of an action tree to a betting tree. Street 0 is that of the root.

    `street` is the street of the board that is known at the root, if it is not the node's. Deals after it are part of
    the subtree, also those between a called all-in and its showdown.
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
    """Return payoffs if seat 0's hand is stronger, equal, weaker, by seat. float64 [nodes, 3, 2]

    Payoffs count from the root on: chips that a seat has put in before the root (`source[0]`) are not subtracted.
    """
    won = tree.payoff[source].astype(np.float64)
    wins = np.array([1.0, 0.0, -1.0])
    first = won[:, None] * np.where(showdown[:, None], wins, 1.0)
    return np.asarray(np.stack([first, -first], axis=2) + tree.spent[source[0]])
