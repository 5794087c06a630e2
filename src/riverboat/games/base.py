"""Protocols of games, in two shapes.

A *history game* is the general case: `root()` returns a `HistoryState`, a state returns its children, and `infoset()`
names information sets. Normal-form games, Gambit files and OpenSpiel games are of this kind.

In a *public game* all actions are public, and each player holds one of a fixed list of private hands, dealt before the
first action. Then one traversal of the public tree handles vectors of hands. Kuhn, Leduc, Bluff, Coin Toss and all of
hold'em are of this kind. The probability of a private deal is proportional to `weights[0][h0] * weights[1][h1]`, zero
for pairs that exclude each other.

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


class TreeState(Protocol):
    """A state of a game tree."""

    @property
    def actor(self) -> int:
        """The player to act, or CHANCE, or TERMINAL."""

    def actions(self) -> Sequence[str]:
        """Return the labels of the actions; at a chance node of a history game those of the outcomes."""

    def child(self, index: int) -> TreeState:
        """Return the state after action (or outcome) number `index`.

        Parameters
        ----------
        index
            Number of the action or outcome, from 0.
        """


class HistoryState(TreeState, Protocol):
    """A history of a history game."""

    def probabilities(self) -> Sequence[float]:
        """Return the probability of each outcome, at a chance node."""

    def child(self, index: int) -> HistoryState: ...

    def infoset(self) -> str:
        """Return the name of the actor's information set, at a decision."""

    def payoffs(self) -> Sequence[float]:
        """Return the payoff of each player, at a terminal."""


@runtime_checkable
class HistoryGame(Protocol):
    """A game defined by its histories."""

    @property
    def name(self) -> str: ...

    @property
    def players(self) -> int: ...

    @property
    def unit(self) -> str:
        """Unit of the payoffs."""

    def root(self) -> HistoryState: ...


@dataclass(frozen=True)
class ConstantPayoff:
    """A terminal whose payoffs do not depend on the hands, such as a fold.

    Attributes
    ----------
    payoffs
        Payoffs of player 0 and player 1.

    Examples
    --------
    >>> ConstantPayoff((1.0, -1.0)).payoffs
    (1.0, -1.0)
    """

    payoffs: tuple[float, float]


@dataclass(frozen=True)
class ComparisonPayoff:
    """A terminal where the stronger hand wins. Evaluated for all hands in O(n).

    `win`, `tie` and `lose` are the payoffs (player 0, player 1) when player 0's strength is
    higher, equal or lower. Strengths are any integers, comparable across the players.

    Attributes
    ----------
    strengths
        Strength of each hand of player 0, then of player 1.
    win
        Payoffs of both players if player 0's hand is stronger.
    tie
        Payoffs of both players if the hands are equally strong.
    lose
        Payoffs of both players if player 1's hand is stronger.

    Examples
    --------
    >>> showdown = ComparisonPayoff(((0, 1), (0, 1)), win=(1.0, -1.0), tie=(0.0, 0.0), lose=(-1.0, 1.0))
    >>> showdown.win
    (1.0, -1.0)
    """

    strengths: tuple[tuple[int, ...], tuple[int, ...]]
    win: tuple[float, float]
    tie: tuple[float, float]
    lose: tuple[float, float]


@dataclass(frozen=True)
class MatrixPayoff:
    """A terminal with any payoff for each pair of hands: `payoffs[player][h0][h1]`. Evaluated in O(n²).

    Attributes
    ----------
    payoffs
        Payoff of each player, by the hand of player 0 and then by that of player 1.

    Examples
    --------
    >>> MatrixPayoff((((1.0, 0.0),), ((-1.0, 0.0),))).payoffs[0]
    ((1.0, 0.0),)
    """

    payoffs: tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]


Payoff: TypeAlias = ConstantPayoff | ComparisonPayoff | MatrixPayoff


@dataclass(frozen=True)
class Outcome:
    """A public chance outcome.

    `weight` is its probability given any pair of hands that leaves it possible; `dead[p]` lists the hands of player p
    that it makes impossible (for a dealt card: the hands that hold it).

    Attributes
    ----------
    label
        Name of the outcome in lines.
    weight
        Probability, given any pair of hands that leaves the outcome possible.
    dead
        Hands of each player that the outcome makes impossible.

    Examples
    --------
    >>> Outcome("/K", 0.25, ((2,), (2,))).weight
    0.25
    """

    label: str
    weight: float
    dead: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass(frozen=True, eq=False)
class PrivateDeal:
    """Distribution of the private hands.

    Attributes
    ----------
    weights
        Weight of each hand of each player. float64 [hands of player p]
    excludes
        Pairs of hands that cannot be dealt together.

    Examples
    --------
    >>> PrivateDeal.one_card(3).joint().tolist()[0]
    [0.0, 0.16666666666666666, 0.16666666666666666]
    """

    weights: tuple[Array, Array]  # float64 [hands of player p]
    excludes: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    @staticmethod
    def independent(weights0: Sequence[float], weights1: Sequence[float]) -> PrivateDeal:
        """Deal each player's hand independently (dice).

        Parameters
        ----------
        weights0
            Weight of each hand of player 0.
        weights1
            Weight of each hand of player 1.
        """
        return PrivateDeal((np.asarray(weights0, float), np.asarray(weights1, float)))

    @staticmethod
    def one_card(cards: int) -> PrivateDeal:
        """Deal both players different cards of one deck.

        Parameters
        ----------
        cards
            Number of cards in the deck.
        """
        ones = np.ones(cards)
        return PrivateDeal((ones, ones), frozenset((c, c) for c in range(cards)))

    def joint(self) -> Array:
        """Return the probability of each pair of hands. float64 [hands0, hands1]"""
        pairs = np.outer(self.weights[0], self.weights[1])
        for h0, h1 in self.excludes:
            pairs[h0, h1] = 0.0
        total: float = pairs.sum()
        return pairs / total


class PublicState(TreeState, Protocol):
    """A public state: the public part of a history."""

    def outcomes(self) -> Sequence[Outcome]:
        """Return the chance outcomes, at a chance node."""

    def child(self, index: int) -> PublicState: ...

    def payoff(self) -> Payoff:
        """Return the payoffs of all pairs of hands, at a terminal."""


class NoPublicChance:
    """Base of public states of games without public chance.

    Examples
    --------
    >>> NoPublicChance().outcomes()
    ()
    """

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return no outcomes."""
        return ()


@runtime_checkable
class PublicGame(Protocol):
    """A game defined by its public states and private hands.

    `joiner` stands between the labels of a line (`""` for `crc`, `","` for `1x3,2x5`), but not before a label that
    begins with `/` (`b120-c/8h-x`). A game whose tree is too large to traverse in Python also has a method `layout()`
    that returns it as a `riverboat.games.tree_layout.PublicTreeLayout`.
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
    def deal(self) -> PrivateDeal: ...

    def root(self) -> PublicState: ...


def append_label(line: str, joiner: str, label: str) -> str:
    """Append a label to a line.

    Parameters
    ----------
    line
        Line so far, empty at the root.
    joiner
        Text between two actions.
    label
        Label of the next action or outcome; one that begins with `/` is not joined.

    Returns
    -------
    str
        The longer line.

    Examples
    --------
    >>> append_label("b120", "-", "c"), append_label("b120-c", "-", "/8h")
    ('b120-c', 'b120-c/8h')
    """
    return f"{line}{joiner}{label}" if line and not label.startswith("/") else line + label


Game: TypeAlias = HistoryGame | PublicGame


class Continuation(NamedTuple):
    """A smaller game that a game continues with, and the required precision of its value.

    Attributes
    ----------
    game
        The smaller game.
    width
        Width of the certified interval around the value, in the smaller game's unit.

    Examples
    --------
    >>> from riverboat.games.small.normal_form import rock_paper_scissors
    >>> Continuation(rock_paper_scissors(), 1e-6).width
    1e-06
    """

    game: Game
    width: float  # width of the certified interval around the value, in the smaller game's unit


@runtime_checkable
class GameWithContinuations(Protocol):
    """A game whose payoffs are values of smaller games; `riverboat.game` solves those first.

    Values are those of player 0 of the smaller game, which is a two-player constant-sum game.
    """

    @property
    def name(self) -> str: ...

    @property
    def continuations(self) -> Mapping[str, Continuation]:
        """The smaller games, by unique names."""

    @property
    def values(self) -> Mapping[str, float]:
        """The values known so far, by the same names."""

    def with_values(self, values: Mapping[str, float]) -> Game:
        """Return the game with more values.

        Parameters
        ----------
        values
            Values of smaller games to player 0, by name.
        """


# Names before version 0.2, accepted for one release.
Constant, Compare, Matrix, Deal = ConstantPayoff, ComparisonPayoff, MatrixPayoff, PrivateDeal
