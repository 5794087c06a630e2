"""Equilibria of push or fold, by fictitious play and by counterfactual regret minimisation, with what is left to gain.

Every player decides at most once on a line. So mixing moves is mixing strategies, as fictitious play wants, and the best
move at every line is the best response: the largest gain of any player, ε, is exact in the game that is solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.core.arrays import Array
from riverboat.core.cancellation import poll
from riverboat.core.errors import InputError, unknown
from riverboat.tournaments.many_players import Ring
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage import PLAYERS, Stage

METHODS = ("cfr", "fp")


class Game(Protocol):
    """Push or fold over classes of hands: `Stage` or `Ring`."""

    spot: PushFold
    lines: dict[str, int]
    classes: int

    def counterfactual(self, strategy: Array, fresh: bool = True) -> Array:
        """Worth of going all-in and of folding. float64 [lines, 2, classes]"""
        ...

    def reach(self, strategy: Array) -> Array:
        """The chance to get to each line with each class. float64 [lines, classes]"""
        ...

    def values(self, strategy: Array) -> Array:
        """What each player gets. float64 [players]"""
        ...


@dataclass(frozen=True, eq=False)
class Solved:
    """A strategy, what it is worth, and how much any player could gain."""

    game: Game
    strategy: Array  # float64 [lines, classes]: the probability to go all-in
    values: Array  # float64 [players]
    gains: Array  # float64 [players]: best response less value
    iterations: int
    method: str

    @property
    def epsilon(self) -> float:
        """The largest gain of any player."""
        return float(self.gains.max())


def game_of(spot: PushFold, seed: int = 0, threads: int = 1) -> Game:
    """Two or three players exactly, more by the model of `ring`."""
    return Stage(spot) if spot.players in PLAYERS else Ring(spot, seed, threads=threads)


def gains(game: Game, strategy: Array, worth: Array) -> Array:
    """What each player could gain by its best moves. float64 [players]"""
    better = np.maximum(worth[:, 0], worth[:, 1]) - strategy * worth[:, 0] - (1 - strategy) * worth[:, 1]
    out = np.zeros(game.spot.players)
    for line, k in game.lines.items():
        out[len(line)] += better[k].sum()
    return out


def solve(
    game: Game,
    method: str = "cfr",
    iterations: int = 1000,
    until: float = 0.0,
    progress: Callable[[int, float], None] | None = None,
) -> Solved:
    """Iterate until nobody can gain more than `until`, or so often. `progress` is told the iteration and ε.

    For two players both methods converge to an equilibrium. For more nothing is promised, and ε says what was reached.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if iterations < 1:
        raise InputError(f"iterations={iterations}: at least one is needed")
    learner = _Fictitious(game) if method == "fp" else _Regrets(game)
    check = 1
    for t in range(1, iterations + 1):
        poll()
        last = t == iterations
        learner.step(t, fresh=t >= check)
        if t >= check or last:
            check = 2 * t + 1
            gain = gains(game, learner.mean, game.counterfactual(learner.mean))
            if progress is not None:
                progress(t, float(gain.max()))
            if gain.max() <= until or last:
                return Solved(game, learner.mean, game.values(learner.mean), gain, t, method)
    raise AssertionError


class _Fictitious:
    """Everybody answers the mean of what was played so far."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.mean = np.full((len(game.lines), game.classes), 0.5)

    def step(self, t: int, fresh: bool) -> None:
        worth = self.game.counterfactual(self.mean, fresh)
        self.mean += ((worth[:, 0] > worth[:, 1]) - self.mean) / t


class _Regrets:
    """Regret matching with a floor at zero, later iterations weighing more in the mean (CFR+)."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.mean = np.full((len(game.lines), game.classes), 0.5)
        self.playing = self.mean.copy()
        self.regret = np.zeros((len(game.lines), 2, game.classes))

    def step(self, t: int, fresh: bool) -> None:
        worth = self.game.counterfactual(self.playing, fresh)
        expected = self.playing * worth[:, 0] + (1 - self.playing) * worth[:, 1]
        self.regret = np.maximum(self.regret + worth - expected[:, None], 0.0)
        total = self.regret.sum(axis=1)
        self.playing = np.where(total > 0, self.regret[:, 0] / np.where(total > 0, total, 1.0), 0.5)
        self.mean += (self.playing - self.mean) * 2 / (t + 1)


def share_of_hands(strategy: Array) -> Array:
    """Share of all 1,326 hands that go all-in, of a strategy over the 169 classes. float64 [lines]"""
    ways = np.bincount(CLASS_OF_HAND, minlength=strategy.shape[-1])
    shares: Array = strategy @ ways / ways.sum()
    return shares
