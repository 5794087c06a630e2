"""Card abstraction of a small public game: hands that share a bucket are played alike.

A bucket map gives what a player still sees: `bucket(player, hand, board)`, with the labels of the player's hand and
of the public cards so far. An information set is the player's buckets round by round and all the moves; public cards are
seen through the buckets alone. Without `recall` only the bucket of the current round counts, and the player forgets.

The result is a history game: it compiles to a `HistoryTree`, is solved there, and `riverboat.strategies.lifting` brings the
strategy back to the public tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Compare, Constant, PublicGame, PublicState

Buckets: TypeAlias = Callable[[int, str, tuple[str, ...]], str]


@dataclass(frozen=True, eq=False)
class BucketedGame:
    """A public game seen through buckets."""

    game: PublicGame
    bucket: Buckets
    recall: bool = True
    label: str = "bucketed"

    players = 2

    @property
    def name(self) -> str:
        """The game and the abstraction."""
        return f"{self.game.name}, {self.label}"

    @property
    def unit(self) -> str:
        """As in the game."""
        return self.game.unit

    def root(self) -> _State:
        """Before the deal."""
        return _State(self, None, self.game.root(), (), ())

    def infoset(self, player: int, hand: str, board: tuple[str, ...], moves: tuple[str, ...]) -> str:
        """The name of what a player sees: its buckets, then all moves."""
        rounds = range(len(board) + 1) if self.recall else [len(board)]
        seen = [self.bucket(player, hand, board[:k]) for k in rounds]
        return f"{player} {'.'.join(seen)}:{self.game.joiner.join(moves)}"


@dataclass(frozen=True, eq=False)
class _State:
    of: BucketedGame
    hands: tuple[int, int] | None  # None before the deal
    public: PublicState
    board: tuple[str, ...]
    moves: tuple[str, ...]

    @property
    def actor(self) -> int:
        return CHANCE if self.hands is None else self.public.actor

    def _chances(self) -> list[tuple[str, float, int]]:
        """Label, probability and number of the outcomes that these hands leave possible."""
        game = self.of.game
        if self.hands is None:
            joint = game.deal.joint()
            pairs = [(h0, h1) for h0 in range(joint.shape[0]) for h1 in range(joint.shape[1]) if joint[h0, h1] > 0]
            names = [f"{game.hands[0][h0]}|{game.hands[1][h1]}" for h0, h1 in pairs]
            return [
                (name, float(joint[pair]), pair[0] * joint.shape[1] + pair[1])
                for name, pair in zip(names, pairs, strict=True)
            ]
        h0, h1 = self.hands
        return [
            (outcome.label, outcome.weight, k)
            for k, outcome in enumerate(self.public.outcomes())
            if h0 not in outcome.dead[0] and h1 not in outcome.dead[1]
        ]

    def actions(self) -> Sequence[str]:
        return [label for label, _, _ in self._chances()] if self.actor == CHANCE else self.public.actions()

    def probabilities(self) -> Sequence[float]:
        return [probability for _, probability, _ in self._chances()]

    def child(self, index: int) -> _State:
        if self.hands is None:
            number = self._chances()[index][2]
            width = len(self.of.game.hands[1])
            return _State(self.of, (number // width, number % width), self.public, (), ())
        if self.actor == CHANCE:
            label, _, number = self._chances()[index]
            return _State(self.of, self.hands, self.public.child(number), (*self.board, label), self.moves)
        move = self.public.actions()[index]
        return _State(self.of, self.hands, self.public.child(index), self.board, (*self.moves, move))

    def infoset(self) -> str:
        assert self.hands is not None
        player = self.actor
        return self.of.infoset(player, self.of.game.hands[player][self.hands[player]], self.board, self.moves)

    def payoffs(self) -> Sequence[float]:
        if self.hands is None or self.actor != TERMINAL:
            raise InputError(f"{self.of.name}: the game is not over")
        payoff, (h0, h1) = self.public.payoff(), self.hands
        if isinstance(payoff, Constant):
            return payoff.payoffs
        if isinstance(payoff, Compare):
            mine, theirs = payoff.strengths[0][h0], payoff.strengths[1][h1]
            return payoff.win if mine > theirs else payoff.lose if mine < theirs else payoff.tie
        return payoff.payoffs[0][h0][h1], payoff.payoffs[1][h0][h1]
