"""Card abstraction of a small public game: hands in one bucket share their strategy.

A bucket map `bucket(player, hand, board)` gives what a player still observes, from the labels of the hand and of the
public cards so far. An information set consists of the player's buckets, round by round, and all actions; public cards
are observed only through the buckets. Without `perfect_recall` only the bucket of the current round counts.

The result is a history game: it compiles to a `HistoryTree` and is solved there. `riverboat.strategies.lifting` maps
the strategy back to the public tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, ConstantPayoff, PublicGame, PublicState

# (player, hand, public cards so far) -> bucket
BucketMap: TypeAlias = Callable[[int, str, tuple[str, ...]], str]


@dataclass(frozen=True, eq=False)
class BucketedGame:
    """History game in which the players of a public game observe buckets instead of cards."""

    game: PublicGame
    bucket: BucketMap
    perfect_recall: bool = True
    label: str = "bucketed"

    players = 2

    @property
    def name(self) -> str:
        """Name of the original game and `label`, the name of the abstraction."""
        return f"{self.game.name}, {self.label}"

    @property
    def unit(self) -> str:
        """Unit of payoffs, that of the original game."""
        return self.game.unit

    def root(self) -> _BucketedState:
        """Return the state before the deal."""
        return _BucketedState(self, None, self.game.root(), (), ())

    def infoset(self, player: int, hand: str, board: tuple[str, ...], moves: tuple[str, ...]) -> str:
        """Return the name of a player's information set: its buckets, then all actions."""
        rounds = range(len(board) + 1) if self.perfect_recall else [len(board)]
        seen = [self.bucket(player, hand, board[:k]) for k in rounds]
        return f"{player} {'.'.join(seen)}:{self.game.joiner.join(moves)}"


@dataclass(frozen=True, eq=False)
class _BucketedState:
    """A history of a bucketed game."""

    bucketed_game: BucketedGame
    hands: tuple[int, int] | None  # None before the deal
    public: PublicState
    board: tuple[str, ...]
    moves: tuple[str, ...]

    @property
    def actor(self) -> int:
        return CHANCE if self.hands is None else self.public.actor

    def _chance_outcomes(self) -> list[tuple[str, float, int]]:
        """Return label, probability and index of each chance outcome that the dealt hands allow."""
        game = self.bucketed_game.game
        if self.hands is None:
            joint = game.deal.joint()
            return [
                (f"{game.hands[0][h0]}|{game.hands[1][h1]}", float(joint[h0, h1]), h0 * joint.shape[1] + h1)
                for h0, h1 in np.argwhere(joint > 0).tolist()
            ]
        h0, h1 = self.hands
        return [
            (outcome.label, outcome.weight, k)
            for k, outcome in enumerate(self.public.outcomes())
            if h0 not in outcome.dead[0] and h1 not in outcome.dead[1]
        ]

    def actions(self) -> Sequence[str]:
        return [label for label, _, _ in self._chance_outcomes()] if self.actor == CHANCE else self.public.actions()

    def probabilities(self) -> Sequence[float]:
        return [probability for _, probability, _ in self._chance_outcomes()]

    def child(self, index: int) -> _BucketedState:
        if self.actor != CHANCE:
            action = self.public.actions()[index]
            return replace(self, public=self.public.child(index), moves=(*self.moves, action))
        label, _, number = self._chance_outcomes()[index]
        if self.hands is None:
            first, second = divmod(number, len(self.bucketed_game.game.hands[1]))
            return replace(self, hands=(first, second))
        return replace(self, public=self.public.child(number), board=(*self.board, label))

    def infoset(self) -> str:
        assert self.hands is not None
        player, game = self.actor, self.bucketed_game
        return game.infoset(player, game.game.hands[player][self.hands[player]], self.board, self.moves)

    def payoffs(self) -> Sequence[float]:
        if self.hands is None or self.actor != TERMINAL:
            raise InputError(f"{self.bucketed_game.name}: the game is not over")
        payoff, (h0, h1) = self.public.payoff(), self.hands
        if isinstance(payoff, ConstantPayoff):
            return payoff.payoffs
        if isinstance(payoff, ComparisonPayoff):
            strength0, strength1 = payoff.strengths[0][h0], payoff.strengths[1][h1]
            return payoff.win if strength0 > strength1 else payoff.lose if strength0 < strength1 else payoff.tie
        return payoff.payoffs[0][h0][h1], payoff.payoffs[1][h0][h1]
