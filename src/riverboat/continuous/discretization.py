"""Finite games that stand for continuous ones: every player's signal is one of some steps of the axis.

A step is a part of the axis that is as likely as the others, on average over the players; two signals in one step are equal.
The finite game is public and has as many hands as there are steps, so that every solver of the package can be asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.continuous.game import JOINER, ROOT, ContinuousGame, Decision, Leaf, Situation, Tree
from riverboat.continuous.iteration import steps_of
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Compare, Constant, Deal, Matrix, Outcome, Payoff
from riverboat.strategies.tabular import Strategy


@dataclass(frozen=True, eq=False)
class Steps:
    """A two-player game whose signals are steps of the axis. A public game of `riverboat.games.base`."""

    game: ContinuousGame
    steps: int

    def __post_init__(self) -> None:
        _ = self._cut  # refuses too few
        if not has_program(self.game):
            raise InputError(
                f"{self.game.name}: a game in steps has a linear program for two players whose moves are all seen and whose "
                "pay-offs have one sum; use the iteration instead"
            )

    @property
    def name(self) -> str:
        """Of the game and how many steps."""
        return f"{self.game.name} in {self.steps} steps"

    @property
    def unit(self) -> str:
        """Of the game."""
        return self.game.unit

    @property
    def joiner(self) -> str:
        """Between moves."""
        return JOINER

    @cached_property
    def _cut(self) -> tuple[Array, Array]:
        return steps_of(self.game, self.steps)

    @property
    def edges(self) -> Array:
        """Borders of the steps. float64 [steps + 1]"""
        return self._cut[0]

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The steps by number."""
        names = tuple(f"{k}" for k in range(self.steps))
        return names, names

    @cached_property
    def weights(self) -> tuple[Array, Array]:
        """Probability of each step, for each player."""
        first, second = self._cut[1]
        return first, second

    @cached_property
    def deal(self) -> Deal:
        """Independent; what depends is put into the pay-offs."""
        return Deal.independent(list(self.weights[0]), list(self.weights[1]))

    @cached_property
    def _ratio(self) -> Array | None:
        """How much likelier each pair of steps is than if they were independent. float64 [steps, steps]"""
        signals = self.game.signals
        if signals.joint is None:
            return None
        part = np.zeros((2, self.steps, len(signals.edges) - 1))  # of a step in each segment
        for k in range(self.steps):
            for segment in range(len(signals.edges) - 1):
                low, high = (
                    max(self.edges[k], signals.edges[segment]),
                    min(self.edges[k + 1], signals.edges[segment + 1]),
                )
                if high > low:
                    part[:, k, segment] = (high - low) / (signals.edges[segment + 1] - signals.edges[segment])
        joint = part[0] @ signals.joint @ part[1].T
        both = np.outer(*self.weights)
        ratio: Array = np.divide(joint, both, out=np.zeros_like(joint), where=both > 0)
        return ratio

    def root(self) -> _State:
        """Both have seen their signals."""
        return _State(self, self.game.tree)

    def payoff(self, leaf: Leaf) -> Payoff:
        """Of a leaf, less what all leaves pay in all, which is shared."""
        half = (self.game.constant_sum or 0.0) / 2
        base = tuple(b - half for b in leaf.base)
        if not leaf.prize:
            fixed = Constant((base[0], base[1]))
            return fixed if self._ratio is None else self._matrix(base, 0.0, self._ratio)
        if len(leaf.contenders) == 1:
            raise InputError(f"{self.game.name}: a prize for one")
        if self._ratio is not None:
            return self._matrix(base, leaf.prize, self._ratio)
        strengths = tuple(range(self.steps))
        win = (base[0] + leaf.prize, base[1])
        tie = (base[0] + leaf.prize / 2, base[1] + leaf.prize / 2)
        return Compare((strengths, strengths), win, tie, (base[0], base[1] + leaf.prize))

    def _matrix(self, base: tuple[float, ...], prize: float, ratio: Array) -> Matrix:
        order = np.arange(self.steps)
        won = np.where(order[:, None] > order, 1.0, np.where(order[:, None] == order, 0.5, 0.0))
        first = (base[0] + prize * won) * ratio
        second = (base[1] + prize * (1 - won)) * ratio
        return Matrix((tuple(map(tuple, first.tolist())), tuple(map(tuple, second.tolist()))))

    # --- the way back ---------------------------------------------------------------------------

    def line(self, situation: Situation) -> str:
        """As the finite game writes it, whatever the situation is called."""
        return self._lines[situation.name]

    @cached_property
    def _lines(self) -> dict[str, str]:
        lines: dict[str, str] = {}

        def visit(tree: Tree, line: str) -> None:
            if isinstance(tree, Decision):
                lines[tree.situation or line or ROOT] = line
                for label, child in tree.moves:
                    visit(child, f"{line}{JOINER}{label}" if line else label)

        visit(self.game.tree, "")
        return lines

    def frequencies(self, strategy: Strategy) -> dict[int, Array]:
        """Probability of each move with each step, by situation. float64 [moves, steps] each

        All are equal where a step is never dealt.
        """
        played = {}
        for number, situation in enumerate(self.game.situations):
            played[number] = np.full((len(situation.moves), self.steps), 1.0 / len(situation.moves))
            for k in np.flatnonzero(self.weights[situation.player] > 0):
                row = strategy[f"{k}:{self.line(situation)}"]
                played[number][:, k] = [row[move] for move in situation.moves]
        return played


def has_program(game: ContinuousGame) -> bool:
    """Two players, one sum, and no hidden moves: the game in steps is a linear program."""
    seen = len(game.situations) == _decisions(game.tree)
    return game.players == 2 and game.constant_sum is not None and seen


def _decisions(tree: Tree) -> int:
    return 0 if isinstance(tree, Leaf) else 1 + sum(_decisions(child) for _, child in tree.moves)


@dataclass(frozen=True, eq=False)
class _State:
    game: Steps
    tree: Tree

    @property
    def actor(self) -> int:
        return TERMINAL if isinstance(self.tree, Leaf) else self.tree.player

    def actions(self) -> tuple[str, ...]:
        assert isinstance(self.tree, Decision)
        return tuple(label for label, _ in self.tree.moves)

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _State:
        assert isinstance(self.tree, Decision)
        return _State(self.game, self.tree.moves[index][1])

    def payoff(self) -> Payoff:
        assert isinstance(self.tree, Leaf)
        return self.game.payoff(self.tree)
