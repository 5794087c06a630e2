"""What a game must answer, in one of two shapes.

A *history game* is the general case: `root()` gives a `State`, a state gives its children, and
an information set is whatever `infoset()` names. Matrix games, Gambit files and OpenSpiel games
are of this kind.

A *public game* says more: every action is seen by all, and each player holds one of a fixed list of
private hands that was dealt before the first action. Then one walk of the public tree serves all
hands at once, as vectors. Kuhn, Leduc, Bluff, Coin Toss and all of hold'em are of this kind. The
private deal is `weights[0][h0] * weights[1][h1]`, zero for pairs that exclude each other, normalised.

States are immutable. Players are 0 and 1 (and 2, 3, … in a history game).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from riverboat.core.arrays import Array as Array

CHANCE = -1
TERMINAL = -2


class State(Protocol):
    """One history of a history game."""

    @property
    def actor(self) -> int:
        """The player to move, or CHANCE, or TERMINAL."""
        ...

    def actions(self) -> Sequence[str]:
        """Labels of the moves, or of the outcomes of chance."""
        ...

    def probabilities(self) -> Sequence[float]:
        """At a chance node: the probability of each outcome."""
        ...

    def child(self, index: int) -> State:
        """The state after move (or outcome) number `index`."""
        ...

    def infoset(self) -> str:
        """At a decision: the name of the actor's information set."""
        ...

    def payoffs(self) -> Sequence[float]:
        """At a terminal: what each player receives."""
        ...


@runtime_checkable
class HistoryGame(Protocol):
    """A game given by its histories."""

    @property
    def name(self) -> str: ...

    @property
    def players(self) -> int: ...

    @property
    def unit(self) -> str:
        """What pay-offs are counted in."""
        ...

    def root(self) -> State: ...


@dataclass(frozen=True)
class Constant:
    """A terminal where the hands do not matter: somebody folded."""

    payoffs: tuple[float, float]


@dataclass(frozen=True)
class Compare:
    """A terminal where the stronger hand wins. Evaluated for all hands in O(n).

    `win`, `tie` and `lose` are the payoffs (player 0, player 1) when player 0's strength is
    higher, equal or lower. Strengths are any integers, comparable across the players.
    """

    strengths: tuple[tuple[int, ...], tuple[int, ...]]
    win: tuple[float, float]
    tie: tuple[float, float]
    lose: tuple[float, float]


@dataclass(frozen=True)
class Matrix:
    """A terminal with any pay-off for each pair of hands: `payoffs[player][h0][h1]`. O(n²)."""

    payoffs: tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]


Payoff: TypeAlias = Constant | Compare | Matrix


@dataclass(frozen=True)
class Outcome:
    """A public chance event.

    `weight` is its probability given any pair of hands that leaves it possible; `dead[p]` lists
    the hands of player p that it makes impossible (in cards: the hands that hold the card).
    """

    label: str
    weight: float
    dead: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass(frozen=True, eq=False)
class Deal:
    """How the private hands are dealt."""

    weights: tuple[Array, Array]  # float64 [hands of player p]
    excludes: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    @staticmethod
    def independent(weights0: Sequence[float], weights1: Sequence[float]) -> Deal:
        """Each player's hand is drawn on its own (dice)."""
        return Deal((np.asarray(weights0, float), np.asarray(weights1, float)))

    @staticmethod
    def one_card(cards: int) -> Deal:
        """Both players get a different card of one deck."""
        ones = np.ones(cards)
        return Deal((ones, ones), frozenset((c, c) for c in range(cards)))

    def joint(self) -> Array:
        """Probability of each pair of hands. float64 [hands0, hands1]"""
        pairs = np.outer(self.weights[0], self.weights[1])
        for h0, h1 in self.excludes:
            pairs[h0, h1] = 0.0
        total: float = pairs.sum()
        return pairs / total


class PublicState(Protocol):
    """What everybody can see."""

    @property
    def actor(self) -> int:
        """The player to move, or CHANCE, or TERMINAL."""
        ...

    def actions(self) -> Sequence[str]:
        """At a decision: labels of the moves."""
        ...

    def outcomes(self) -> Sequence[Outcome]:
        """At a chance node: what may be dealt."""
        ...

    def child(self, index: int) -> PublicState:
        """The state after move (or outcome) number `index`."""
        ...

    def payoff(self) -> Payoff:
        """At a terminal: how the hands are paid."""
        ...


@runtime_checkable
class PublicGame(Protocol):
    """A game given by its public states and private hands.

    `joiner` stands between the labels of a line (`""` for `crc`, `","` for `1x3,2x5`), but not before one that begins
    with `/` (`b120-c/8h-x`).
    A game whose tree is too large to be walked in Python also has a method `layout()` that
    returns it as a `riverboat.games.layout.Layout`.
    """

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def joiner(self) -> str: ...

    @property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]: ...

    @property
    def deal(self) -> Deal: ...

    def root(self) -> PublicState: ...


def extend(line: str, joiner: str, label: str) -> str:
    """A line with one more label."""
    return f"{line}{joiner}{label}" if line and not label.startswith("/") else line + label


Game: TypeAlias = HistoryGame | PublicGame


class Continuation(NamedTuple):
    """A smaller game that a game goes on as, and how closely its value must be known."""

    game: Game
    width: float  # of a certified interval around the value, in the smaller game's unit


@runtime_checkable
class Continuing(Protocol):
    """A game whose pay-offs are values of smaller games: `riverboat.game` solves those first.

    Values are those to player 0 of the smaller game, which has two players and a constant sum.
    """

    @property
    def name(self) -> str: ...

    @property
    def continuations(self) -> Mapping[str, Continuation]:
        """The smaller games, by names that tell them apart."""
        ...

    @property
    def values(self) -> Mapping[str, float]:
        """What is known of them so far, by the same names."""
        ...

    def with_values(self, values: Mapping[str, float]) -> Game:
        """The same game with more values."""
        ...
