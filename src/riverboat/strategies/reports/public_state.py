"""A public place as reports see it: who gets there with what, and what is played.

The weight of a hand is how often its player, holding it, makes the moves of the line. A mean over hands takes each as often
as it is dealt there: its weight times the weight of the opponent's hands that leave it possible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import Cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.public_state import Places, board_of
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering, ranges

MOST_MOVES = 40  # of a player: where there are more, all raises are one


class PlaceNode(ABC):
    """A decision on a board. Arrays run over the hands that the board leaves, in the order of the deck's."""

    board: tuple[int, ...]
    hands: Array  # uint8 [n, hole]
    reach: Array  # float64 [2, n]: weights of both seats' hands

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """Of the game."""

    @property
    @abstractmethod
    def line(self) -> str:
        """The moves that lead here."""

    @property
    @abstractmethod
    def seat(self) -> int:
        """Who acts."""

    @property
    @abstractmethod
    def street(self) -> int:
        """The round of the betting."""

    @property
    @abstractmethod
    def spent(self) -> tuple[int, int]:
        """Chips of each seat in the middle."""

    @property
    @abstractmethod
    def moves(self) -> tuple[str, ...]:
        """Labels of what can be played."""

    @property
    @abstractmethod
    def played(self) -> Array:
        """Probability of each move with each hand. float64 [n, moves]"""

    @property
    def bucket(self) -> Array | None:
        """Buckets of the hands on this street, where the strategy sees buckets. int32 [n]"""
        return None

    @cached_property
    def absent(self) -> tuple[int, ...]:
        """The seats that never get here: they hold no hand with which they make the moves of the line."""
        return tuple(seat for seat in (0, 1) if not self.reach[seat].any())

    @cached_property
    def assumed(self) -> Array:
        """The ranges that means are taken over: those of both seats, and every hand of one that never gets here.

        A strategy says what it plays with each hand also where it is never reached. float64 [2, n]
        """
        return np.stack([np.ones(len(self.hands)) if seat in self.absent else self.reach[seat] for seat in (0, 1)])

    @cached_property
    def deals(self) -> Array:
        """How often each seat is dealt each hand here: its weight, times what the other may hold. float64 [2, n]"""
        return self._pairs(self.assumed)

    @property
    def chance(self) -> float:
        """How often this line is played, on this board."""
        return float(self._pairs(self.reach)[0].sum() / self._beside(np.ones(len(self.hands))).sum())

    def _pairs(self, weights: Array) -> Array:
        pairs: Array = weights * np.stack([self._beside(weights[1 - seat]) for seat in (0, 1)])
        return pairs

    def _beside(self, weights: Array) -> Array:
        """The weight of all hands that share no card with each hand. float64 [n]"""
        hole = self.hands.shape[1]
        of_card = np.bincount(self.hands.ravel(), np.repeat(weights, hole), 52)
        # A hand itself is among those of each of its cards; taken away more than once, it comes back.
        beside: Array = np.maximum(weights.sum() - of_card[self.hands].sum(axis=1) + (hole - 1) * weights, 0.0)
        return beside

    @cached_property
    def frequencies(self) -> dict[str, float]:
        """How often each move is played, over all hands of the ranges that are assumed here."""
        mine = self.deals[self.seat]
        return dict(zip(self.moves, (mine @ self.played / max(mine.sum(), 1e-300)).tolist(), strict=True))

    def range(self, seat: int) -> Range | None:
        """What a seat holds here; None in games with other hands than hold'em's."""
        if self.rules.deck != FULL_DECK:
            return None
        weights = np.zeros(len(CLASS_OF_HAND))
        weights[hand_numbers(self.hands)] = np.minimum(self.reach[seat], 1.0)
        return Range(weights)


def hand_numbers(hands: Array) -> Array:
    """Numbers of two-card hands among the 1326 (`riverboat.cards.deck`). int64 [n]"""
    low, high = hands.min(axis=1).astype(np.int64), hands.max(axis=1).astype(np.int64)
    numbers: Array = high * (high - 1) // 2 + low
    return numbers


# --- of a player ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PlayerNode(PlaceNode):
    """What a player really does at a place, after translation and post-processing, against itself."""

    places: Places  # one
    board: tuple[int, ...]
    hands: Array
    reach: Array
    labels: tuple[str, ...]
    rows: Array  # float64 [n, moves]

    @property
    def rules(self) -> Rules:
        """Of the game."""
        return self.places.rules

    @property
    def line(self) -> str:
        """The moves that lead here."""
        return self.places.line(0)

    @property
    def seat(self) -> int:
        """Who acts."""
        return int(self.places.actor[0])

    @property
    def street(self) -> int:
        """The round of the betting."""
        return int(self.places.street[0])

    @property
    def spent(self) -> tuple[int, int]:
        """Chips of each seat in the middle."""
        return self.places.betting(0).spent

    @property
    def moves(self) -> tuple[str, ...]:
        """Labels of what is played with some hand."""
        return self.labels

    @property
    def played(self) -> Array:
        """Probability of each move with each hand. float64 [n, moves]"""
        return self.rows


def player_node(player: Answering, rules: Rules, line: str = "", board: Cards = ()) -> PlayerNode:
    """What a player does at a line, whatever the bets in it, on a board."""
    state = settled(Betting.from_line(rules, line))
    cards = board_of(rules, state.street, board)
    places = Places.of([state], [cards])
    if places.actor[0] < 0:
        raise InputError(f"line {places.line(0)!r}: the hand is over there, nobody acts")
    answers, live = player.strategies(places), np.flatnonzero(places.live[0])
    used = np.flatnonzero(answers.probabilities[0].any(axis=0))  # what is played with no hand is left out
    names, rows = answers.labels(0), answers.probabilities[0][live][:, used]
    labels, both = [names[k] for k in used], ranges(places, player)[0][:, live]
    if len(labels) > MOST_MOVES:
        first = int((answers.moves[0, used] <= CALL).sum())
        labels = [*labels[:first], f"{labels[first]}-{labels[-1]}"]
        rows = np.concatenate([rows[:, :first], rows[:, first:].sum(axis=1, keepdims=True)], axis=1)
    return PlayerNode(places, cards, rules.deck.hands[live], both, tuple(labels), rows)
