"""Exits of the turn by rivers: looked up in a library, or learnt on the way. What a solver that samples cards goes on with.

    LibraryLeaves     the solver stops at the turn's end, and reads what the nearest solved endgame is worth
    RiverLeaves       it goes on: each exit has, for each card, a river of its own that learns

Both draw cards for each question, so that an iteration is one of public chance sampling (Johanson et al. 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import HAND_CARDS, HANDS, Deck
from riverboat.cards.ranking import hand_strengths
from riverboat.endgame.library import Key, Library
from riverboat.endgame.street_game import Beside, ShownLeaves, StreetSolver, goes_on, street_tree
from riverboat.errors import InputError
from riverboat.games.betting import Betting
from riverboat.games.menus import Menu
from riverboat.strategy.place_node import hand_numbers


class _Cards:
    """Rivers that may be dealt on a turn, and showdowns on them."""

    def __init__(self, states: Sequence[Betting], board: Sequence[int], hands: Array, cards: int, seed: int) -> None:
        if len(board) != 4:
            raise InputError(f"a board of {len(board)} cards: rivers follow a turn")
        self.states, self.board, self.hands, self.count = states, tuple(board), hands, cards
        self.deck: Deck = states[0].rules.deck
        self.left = np.setdiff1d(self.deck.cards, board)
        self.rng = np.random.default_rng(seed)
        self.pots = np.array([state.pot for state in states], float)
        self.live = {int(c): ~(HAND_CARDS[hands] == c).any(axis=1) for c in self.left}
        self.shown: dict[int, ShownLeaves] = {}
        self.scale = len(self.left) / (len(self.left) - 4)  # a pair of hands leaves so many of the cards

    def draw(self) -> list[int]:
        """Cards for one question."""
        some = self.rng.choice(self.left, min(self.count, len(self.left)), replace=False)
        return [int(card) for card in some]

    def showdown(self, card: int) -> ShownLeaves:
        """Of all hands on a river, for a pot of one."""
        if card not in self.shown:
            rank = np.zeros(HANDS, np.int64)
            rank[hand_numbers(self.deck.hands)] = hand_strengths((*self.board, card), self.deck)
            self.shown[card] = ShownLeaves(self.hands, rank[self.hands], np.ones(1))
        return self.shown[card]


class LibraryLeaves(_Cards):
    """The nearest endgame's values."""

    choices = 1

    def __init__(
        self,
        library: Library,
        states: Sequence[Betting],
        board: Sequence[int],
        hands: Array,
        seat: int,
        *,
        cards: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(states, board, hands, cards, seed)
        self.library, self.seat, self.beside, self.read = library, seat, Beside(hands), 0

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self._values(reach[1], reach[0], 1 - self.seat)[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self._values(reach[0], picked[:, 0], self.seat)

    def _values(self, own: Array, other: Array, seat: int) -> Array:
        out, cards = np.zeros_like(own), self.draw()
        for card in cards:
            live = self.live[card]
            for e, state in enumerate(self.states):
                mine, theirs = own[e] * live, other[e] * live
                met = self.beside(theirs) * live
                if not (mine @ met > 0 and goes_on(state)):
                    out[e] += state.pot * self.showdown(card).won(theirs[None])[0] * live
                    continue
                ranges = np.zeros((2, HANDS))
                ranges[seat, self.hands], ranges[1 - seat, self.hands] = mine, theirs
                key = Key.of((*self.board, card), state.pot, min(state.behind), [*ranges], self.deck)
                worth = self.library.values(self.library.nearest(key), key)[seat][self.hands]
                out[e] += state.pot * np.nan_to_num(worth) * met
                self.read += 1
        out *= self.scale / len(cards)
        return out


class RiverLeaves(_Cards):
    """Rivers that learn as they are met."""

    choices = 1

    def __init__(
        self,
        menu: Menu,
        states: Sequence[Betting],
        board: Sequence[int],
        hands: Array,
        seat: int,
        *,
        cards: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(states, board, hands, cards, seed)
        self.menu, self.seat = menu, seat
        self.rivers: dict[tuple[int, int], StreetSolver] = {}

    @property
    def numbers(self) -> int:
        """Kept by all rivers together, regrets and averages."""
        return sum(2 * table.size for river in self.rivers.values() for table in river.regret.values())

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self._values(reach, 1 - self.seat)[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self._values(np.stack([reach[0], picked[:, 0]]), self.seat)

    def _values(self, reach: Array, player: int) -> Array:
        cards = self.draw()
        out: Array = np.zeros_like(reach[0])
        seats = reach if self.seat == 0 else reach[::-1]
        for card in cards:
            live = self.live[card]
            for e, state in enumerate(self.states):
                held = seats[:, e] * live
                if goes_on(state):
                    out[e] += self._river(e, card, held).learn(player, held) * live
                else:
                    out[e] += state.pot * self.showdown(card).won(held[None, 1 - player])[0] * live
        out *= self.scale / len(cards)
        return out

    def _river(self, e: int, card: int, held: Array) -> StreetSolver:
        if (e, card) not in self.rivers:
            tree = street_tree(self.states[e].next_street(), self.menu)
            shown = self.showdown(card)
            leaves = ShownLeaves.like(shown, np.array([tree.states[node].pot for node in tree.exits], float))
            self.rivers[e, card] = StreetSolver(tree, self.hands, held, leaves, 0)
        return self.rivers[e, card]
