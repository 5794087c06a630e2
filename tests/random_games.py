"""Random small games for property tests. The same seed always gives the same game.

`random_history_game` and `random_public_game` build one; `history_games()` and `public_games()` are
hypothesis strategies over seeds (failures print the game with its seed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    ComparisonPayoff,
    ConstantPayoff,
    HistoryGame,
    HistoryState,
    MatrixPayoff,
    Outcome,
    Payoff,
    PrivateDeal,
)

SEEDS = st.integers(0, 2**32 - 1)


def history_games(**limits: Any) -> st.SearchStrategy[RandomHistoryGame]:
    """Random history games; see `random_history_game` for the limits."""
    return SEEDS.map(lambda seed: random_history_game(seed, **limits))


def public_games(**limits: Any) -> st.SearchStrategy[RandomPublicGame]:
    """Random public games; see `random_public_game` for the limits."""
    return SEEDS.map(lambda seed: random_public_game(seed, **limits))


def random_history_game(
    seed: int,
    depth: int = 5,
    width: int = 3,
    players: int = 2,
    zero_sum: bool = True,
    hidden: float = 0.7,
) -> RandomHistoryGame:
    """A game with chance, hidden actions and perfect recall: at most `depth` actions of at most `width` choices.

    Every action and every outcome is hidden from each player with probability `hidden`. A player's information set is
    all that it has seen and done, in order, so recall is perfect.
    """
    return RandomHistoryGame(seed, depth, width, players, zero_sum, hidden)


def random_public_game(
    seed: int, depth: int = 4, width: int = 3, hands: int = 4, zero_sum: bool = True
) -> RandomPublicGame:
    """Up to `hands` hands each, some pairs excluded, unequal weights, chance, and payoffs of all three kinds.

    Each hand holds one card of a small deck. Hands with the same card exclude each other, as do some other pairs. Some
    chance nodes deal a card, which excludes the hands that hold it; others have any probabilities and exclude nothing.
    """
    return RandomPublicGame(seed, depth, width, hands, zero_sum)


def swap_players(game: HistoryGame) -> HistoryGame:
    """The same two-player game with the players exchanged."""
    return _Swapped(game)


def _someone_else(random: Random, players: int, last: int) -> int:
    """A player, seldom the one who acted last."""
    drawn = random.randrange(players)
    return drawn if drawn != last else random.randrange(players)


def _some(random: Random, most: int) -> int:
    """A number from 1 to `most`, rather large than small."""
    return max(random.randint(1, most), random.randint(1, most))


# --- history games --------------------------------------------------------------------------


@dataclass(frozen=True)
class RandomHistoryGame:
    seed: int
    depth: int
    width: int
    players: int
    zero_sum: bool
    hidden: float
    unit: str = field(default="points", init=False)

    @property
    def name(self) -> str:
        return f"random_history({self.seed})"

    def root(self) -> _Node:
        return _Node(self, (), ("",) * self.players)

    def random(self, *place: object) -> Random:
        """A generator that depends only on the seed and a history."""
        return Random(repr((self.seed, *place)))


@dataclass(frozen=True)
class _Node:
    game: RandomHistoryGame
    history: tuple[int, ...]
    seen: tuple[str, ...]  # by each player
    last: int = CHANCE  # the last actor

    @cached_property
    def actor(self) -> int:
        random = self.game.random("actor", self.history)
        if len(self.history) == self.game.depth or (self.history and random.random() < 0.1):
            return TERMINAL
        return CHANCE if random.random() < 0.2 else _someone_else(random, self.game.players, self.last)

    def infoset(self) -> str:
        return f"{self.actor}:{self.seen[self.actor]}"

    @cached_property
    def _width(self) -> int:
        """The number of actions depends only on the actor's information; sometimes it is one."""
        place: object = self.history if self.actor == CHANCE else self.infoset()
        return _some(self.game.random("width", place), self.game.width)

    def actions(self) -> tuple[str, ...]:
        return tuple("abcdefgh"[: self._width])

    def probabilities(self) -> Sequence[float]:
        random = self.game.random("chance", self.history)
        weights = [random.randint(1, 4) for _ in range(self._width)]
        return [w / sum(weights) for w in weights]

    def child(self, index: int) -> _Node:
        history = (*self.history, index)
        label = self.actions()[index]
        random = self.game.random("seen", self.history)
        seen = list(self.seen)
        for player in range(self.game.players):
            if player == self.actor:
                seen[player] += label.upper()
            elif random.random() >= self.game.hidden:
                seen[player] += label
        return _Node(self.game, history, tuple(seen), self.actor)

    def payoffs(self) -> Sequence[float]:
        random = self.game.random("payoff", self.history)
        pay = [float(random.randint(-5, 5)) for _ in range(self.game.players)]
        if self.game.zero_sum:
            pay[-1] = -sum(pay[:-1])
        return pay


@dataclass(frozen=True)
class _Swapped:
    game: HistoryGame

    @property
    def name(self) -> str:
        return f"{self.game.name} swapped"

    @property
    def players(self) -> int:
        return self.game.players

    @property
    def unit(self) -> str:
        return self.game.unit

    def root(self) -> HistoryState:
        return _SwappedNode(self.game.root())


@dataclass(frozen=True)
class _SwappedNode:
    state: HistoryState

    @property
    def actor(self) -> int:
        return 1 - self.state.actor if self.state.actor >= 0 else self.state.actor

    def actions(self) -> Sequence[str]:
        return self.state.actions()

    def probabilities(self) -> Sequence[float]:
        return self.state.probabilities()

    def child(self, index: int) -> HistoryState:
        return _SwappedNode(self.state.child(index))

    def infoset(self) -> str:
        return self.state.infoset()

    def payoffs(self) -> Sequence[float]:
        return tuple(self.state.payoffs())[::-1]


# --- a game with imperfect recall ---------------------------------------------------------------


class Forgetful:
    """Player 0 acts twice and forgets its first action: a game without perfect recall."""

    name, players, unit = "forgetful", 2, "points"

    def __init__(self, line: str = "") -> None:
        self.line = line

    def root(self) -> Forgetful:
        return self

    @property
    def actor(self) -> int:
        return 0 if len(self.line) < 2 else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return ("a", "b")

    def probabilities(self) -> tuple[float, ...]:
        return ()

    def child(self, index: int) -> Forgetful:
        return Forgetful(self.line + "ab"[index])

    def infoset(self) -> str:
        return str(len(self.line))

    def payoffs(self) -> tuple[float, float]:
        return (1.0, -1.0) if self.line == "ab" else (0.0, 0.0)


# --- public games ---------------------------------------------------------------------------


@dataclass(frozen=True)
class RandomPublicGame:
    seed: int
    depth: int
    width: int
    most_hands: int
    zero_sum: bool
    unit: str = field(default="points", init=False)
    joiner: str = field(default=",", init=False)

    @property
    def name(self) -> str:
        return f"random_public({self.seed})"

    def random(self, *place: object) -> Random:
        """A generator that depends only on the seed and a public state."""
        return Random(repr((self.seed, *place)))

    @cached_property
    def deck(self) -> int:
        """Cards: two for the hands, one for each deal, and one left over."""
        return self.depth + 3

    @cached_property
    def cards(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The card in each hand; player 0's first hand and player 1's first hand always differ."""
        random = self.random("cards")
        counts = [_some(random, self.most_hands) for _ in range(2)]
        first, second = ([c, *(random.randrange(self.deck) for _ in range(n - 1))] for c, n in enumerate(counts))
        return tuple(first), tuple(second)

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        first, second = (tuple(f"h{h}c{card}" for h, card in enumerate(cards)) for cards in self.cards)
        return first, second

    @cached_property
    def deal(self) -> PrivateDeal:
        random = self.random("deal")
        first, second = (np.array([random.randint(1, 4) for _ in cards], float) for cards in self.cards)
        excludes = {
            (h0, h1)
            for h0, c0 in enumerate(self.cards[0])
            for h1, c1 in enumerate(self.cards[1])
            if c0 == c1 or (h0 + h1 > 0 and random.random() < 0.15)
        }
        return PrivateDeal((first, second), frozenset(excludes))

    def root(self) -> _PublicNode:
        return _PublicNode(self, (), ())


@dataclass(frozen=True)
class _PublicNode:
    game: RandomPublicGame
    history: tuple[int, ...]
    board: tuple[int, ...]
    last: int = CHANCE  # the last actor

    @cached_property
    def actor(self) -> int:
        random = self.game.random("actor", self.history)
        if len(self.history) == self.game.depth or (self.history and random.random() < 0.1):
            return TERMINAL
        return CHANCE if random.random() < 0.2 else _someone_else(random, 2, self.last)

    def actions(self) -> tuple[str, ...]:
        random = self.game.random("width", self.history)
        return tuple("abcdefgh"[: _some(random, self.game.width)])

    def outcomes(self) -> tuple[Outcome, ...]:
        random = self.game.random("chance", self.history)
        if random.random() < 0.5:
            left = [card for card in range(self.game.deck) if card not in self.board]
            weight = 1.0 / (len(left) - 2)  # two of them are in the players' hands
            return tuple(Outcome(f"[{card}]", weight, self._dead(card)) for card in left)
        weights = [random.randint(1, 4) for _ in range(random.randint(1, self.game.width))]
        return tuple(Outcome(f"<{k}>", weight / sum(weights)) for k, weight in enumerate(weights))

    def _dead(self, card: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        first, second = (tuple(h for h, c in enumerate(cards) if c == card) for cards in self.game.cards)
        return first, second

    def child(self, index: int) -> _PublicNode:
        board = self.board
        if self.actor == CHANCE and self.outcomes()[index].label[0] == "[":
            board = (*board, int(self.outcomes()[index].label[1:-1]))
        return _PublicNode(self.game, (*self.history, index), board, self.actor)

    def payoff(self) -> Payoff:
        random = self.game.random("payoff", self.history)

        def pair() -> tuple[float, float]:
            first = float(random.randint(-5, 5))
            return first, -first if self.game.zero_sum else float(random.randint(-5, 5))

        kind = random.randrange(5)
        if kind == 0:
            return ConstantPayoff(pair())
        counts = [len(hands) for hands in self.game.hands]
        if kind < 3:
            first, second = (tuple(random.randrange(4) for _ in range(n)) for n in counts)
            return ComparisonPayoff((first, second), pair(), pair(), pair())
        cells = [[pair() for _ in range(counts[1])] for _ in range(counts[0])]
        own, other = (tuple(tuple(cell[p] for cell in row) for row in cells) for p in (0, 1))
        return MatrixPayoff((own, other))
