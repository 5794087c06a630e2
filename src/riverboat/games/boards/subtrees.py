"""Parts of a game on boards: its betting from a node on, or without some moves, and endgames that begin there.

A part keeps pay-offs of the whole hand, so that what hands are worth in it can be compared with what they are worth in the
game. It may begin with a deal: an endgame after the betting of a round and before the next card (Brown and Sandholm 2017).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import BettingTree, BoardGame
from riverboat.games.boards.root_gadgets import RootGadget
from riverboat.games.boards.unrolled import BoardStates


class Part(NamedTuple):
    """Betting cut out of other betting."""

    betting: BettingTree
    origin: Array  # int64 [nodes]: which node of the other one each is


def cut(betting: BettingTree, root: int = 0, without: Iterable[int] = ()) -> Part:
    """The betting from a node on, without the subtrees of some nodes below it. Streets are counted from the root."""
    keep = np.zeros(len(betting.actor), bool)
    keep[root : betting.end[root]] = True
    for node in without:
        if node == root:
            raise InputError(f"betting from node {root} on without that node: nothing would be left")
        keep[node : betting.end[node]] = False
    origin = np.flatnonzero(keep)
    bare = [n for n in map(int, origin) if betting.actor[n] >= 0 and not any(keep[c] for c in betting.children(n))]
    if bare:
        raise InputError(f"betting without all moves of node {bare[0]}: leave one")
    before = np.concatenate([[0], np.cumsum(keep)])  # kept nodes before each
    return Part(
        BettingTree(
            betting.actor[origin],
            (before[betting.end[origin]] - before[root]).astype(np.int32),
            (betting.street[origin] - betting.street[root]).astype(np.int8),
            tuple(betting.label[n] if n != root else "" for n in origin),
            betting.showdown[origin],
            betting.pay[origin],
            betting.spent[origin],
        ),
        origin,
    )


@dataclass(frozen=True, eq=False)
class BoardPart(BoardStates):
    """A part of a board game: other betting, other ranges, a gadget at its root; the hands that have places stay the same."""

    whole: BoardGame
    name: str
    betting: BettingTree
    weights: tuple[Array, Array]  # float64 [1326] each
    gadget: RootGadget | None = None
    board: tuple[int, ...] = ()
    deals: tuple[int, ...] = ()

    @property
    def held(self) -> tuple[Array, Array]:
        """All that the board leaves of the whole game's, also hands that never come here: so rows are the same."""
        first, second = (h[~np.isin(HAND_CARDS[h], self.board).any(axis=1)] for h in self.whole.held)
        return first, second

    @property
    def deck(self) -> Deck:  # type: ignore[override]
        """As in the whole game."""
        return self.whole.deck

    @property
    def unit(self) -> str:
        """As in the whole game."""
        return self.whole.unit

    @property
    def joiner(self) -> str:  # type: ignore[override]
        """As in the whole game."""
        return self.whole.joiner

    @property
    def scale(self) -> tuple[str, float]:
        """As in the whole game."""
        return self.whole.scale
