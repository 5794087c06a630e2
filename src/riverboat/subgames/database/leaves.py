"""Exits of the turn by rivers: looked up in a library, or learnt on the way. What a solver that samples cards goes on with.

    LibraryLeaves     the solver stops at the turn's end, and reads what the nearest solved endgame is worth
    RiverLeaves       it goes on: each exit has, for each card, a river of its own that learns; or rivers in buckets

Both draw cards for each question, so that an iteration is one of public chance sampling (Johanson et al. 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS, Deck
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Menu
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.database.database import Key, Library
from riverboat.subgames.depth_limited.street_game import (
    Beside,
    ShownLeaves,
    StreetSolver,
    StreetTree,
    goes_on,
    street_tree,
)


@dataclass(frozen=True, eq=False)
class Turn:
    """Where a turn ends, and the rivers that may be dealt on it."""

    states: Sequence[Betting]  # at its exits
    board: tuple[int, ...]
    hands: Array  # numbers of those that the board leaves
    seat: int  # that searches
    cards: int = 1  # drawn for a question
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.board) != 4:
            raise InputError(f"a board of {len(self.board)} cards: rivers follow a turn")

    @cached_property
    def deck(self) -> Deck:
        """Of the game."""
        return self.states[0].rules.deck

    @cached_property
    def left(self) -> Array:
        """Cards that may come."""
        return np.setdiff1d(self.deck.cards, self.board)

    @property
    def scale(self) -> float:
        """A pair of hands leaves so many of the cards."""
        return len(self.left) / (len(self.left) - 4)

    @cached_property
    def live(self) -> dict[int, Array]:
        """Hands that each card leaves. bool [hands]"""
        return {int(c): ~(HAND_CARDS[self.hands] == c).any(axis=1) for c in self.left}

    @cached_property
    def rng(self) -> np.random.Generator:
        """Of the cards."""
        return np.random.default_rng(self.seed)

    def draw(self) -> list[int]:
        """Cards for one question."""
        some = self.rng.choice(self.left, min(self.cards, len(self.left)), replace=False)
        return [int(card) for card in some]

    def rank(self, card: int) -> Array:
        """How strong hands are on a river. int64 [hands]"""
        rank = np.zeros(HANDS, np.int64)
        rank[hand_numbers(self.deck.hands)] = hand_strengths((*self.board, card), self.deck)
        ranks: Array = rank[self.hands]
        return ranks

    @cached_property
    def beaten(self) -> dict[int, Array]:
        """What share of the hands that a card leaves is below each, of what is below the best. float64 [hands]"""
        out = {}
        for card, live in self.live.items():
            rank = self.rank(card)
            level = np.sort(rank[live])
            below = np.searchsorted(level, rank) / max(int(np.searchsorted(level, level[-1])), 1)
            out[card] = np.where(rank >= level[-1], 1.0, below) * live
        return out

    def buckets(self, count: int) -> tuple[Array, Array]:
        """Hands of both seats in parts of equal size, by how strong they are on all rivers. int64 [hands] each"""
        strength = sum(self.beaten.values()) / np.maximum(sum(live.astype(float) for live in self.live.values()), 1.0)
        row = np.empty(len(self.hands), np.int64)
        row[np.argsort(strength, kind="stable")] = np.arange(len(row)) * count // len(row)
        return row, row

    @cached_property
    def shown(self) -> dict[int, ShownLeaves]:
        """Showdowns of all hands on each river, for a pot of one."""
        return {int(card): ShownLeaves(self.hands, self.rank(int(card)), np.ones(1)) for card in self.left}


class LibraryLeaves:
    """The nearest endgame's values."""

    choices = 1

    def __init__(self, turn: Turn, library: Library) -> None:
        self.turn, self.library, self.beside, self.read = turn, library, Beside(turn.hands), 0

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self._values(reach[1], reach[0], 1 - self.turn.seat)[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self._values(reach[0], picked[:, 0], self.turn.seat)

    def _values(self, own: Array, other: Array, seat: int) -> Array:
        out, cards = np.zeros_like(own), self.turn.draw()
        for card in cards:
            live = self.turn.live[card]
            for e, state in enumerate(self.turn.states):
                mine, theirs = own[e] * live, other[e] * live
                met = self.beside(theirs) * live
                if not (mine @ met > 0 and goes_on(state)):
                    out[e] += state.pot * self.turn.shown[card].won(theirs[None])[0] * live
                    continue
                ranges = np.zeros((2, HANDS))
                ranges[seat, self.turn.hands], ranges[1 - seat, self.turn.hands] = mine, theirs
                key = Key.of((*self.turn.board, card), state.pot, min(state.behind), [*ranges], self.turn.deck)
                worth = self.library.values(self.library.nearest(key), key)[seat][self.turn.hands]
                out[e] += state.pot * np.nan_to_num(worth) * met
                self.read += 1
        out *= self.turn.scale / len(cards)
        return out


class RiverLeaves:
    """Rivers that learn as they are met."""

    choices = 1

    def __init__(self, turn: Turn, menu: Menu, buckets: int | None = None) -> None:
        """`buckets`: of each exit's rivers, by strength, shared by all cards; None: every card and hand has its own row."""
        if buckets is not None and buckets < 1:
            raise InputError(f"{buckets} buckets: at least 1")
        self.turn, self.menu, self.buckets = turn, menu, buckets
        self.rivers: dict[tuple[int, int], StreetSolver] = {}

    @property
    def numbers(self) -> int:
        """Kept by all rivers together, regrets and averages."""
        return sum(river.numbers for river in self.rivers.values())

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self._values(reach, 1 - self.turn.seat)[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self._values(np.stack([reach[0], picked[:, 0]]), self.turn.seat)

    def _values(self, reach: Array, player: int) -> Array:
        cards = self.turn.draw()
        out: Array = np.zeros_like(reach[0])
        seats = reach if self.turn.seat == 0 else reach[::-1]
        for card in cards:
            live = self.turn.live[card]
            for e, state in enumerate(self.turn.states):
                held = seats[:, e] * live
                if goes_on(state):
                    out[e] += self._river(e, card, held).learn(player, held) * live
                else:
                    out[e] += state.pot * self.turn.shown[card].won(held[None, 1 - player])[0] * live
        out *= self.turn.scale / len(cards)
        return out

    def _river(self, e: int, card: int, held: Array) -> StreetSolver:
        place, shown = (e, card if self.buckets is None else -1), self.turn.shown[card]
        if place not in self.rivers:
            tree = street_tree(self.turn.states[e].next_street(), self.menu)
            self.rivers[place] = StreetSolver(
                tree, self.turn.hands, held, self._shown(shown, tree), 0, self._rows(card)
            )
        river = self.rivers[place]
        river.leaves, river.buckets = self._shown(shown, river.tree), self._rows(card)
        return river

    @staticmethod
    def _shown(shown: ShownLeaves, tree: StreetTree) -> ShownLeaves:
        return ShownLeaves.like(shown, np.array([tree.states[node].pot for node in tree.exits], float))

    def _rows(self, card: int) -> tuple[Array, Array] | None:
        """Buckets of both seats."""
        if self.buckets is None:
            return None
        row = np.minimum((self.turn.beaten[card] * self.buckets).astype(np.int64), self.buckets - 1)
        return row, row
