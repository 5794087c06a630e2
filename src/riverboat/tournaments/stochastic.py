"""Stochastic games: in every state some seats play a stage game, and its outcome says what they get and where they go on.

    game = StochasticGame(stages, rewards, moves)      # see the fields
    worth = evaluate(game, seen)                       # what fixed strategies are worth: one sparse system
    best, values = respond(game, seen, worth)          # the best response of each seat, as a Markov decision problem

A *place* is a seat of a state, and moves lead from place to place: who sits in one seat now may sit in another after the
outcome. So a game that looks alike from everywhere, such as a tournament whose button goes round, has every state once, and
one that does not has moves that keep the seats. Strategies belong to places.

Stage games are anything that has `StageGame`: matrices (`MatrixStage`), hands of poker (`Stage`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, NumericalError

SURE = 1e-12  # chances below are rounding
MOST_STEPS = 1000  # of policy iteration, which ends by itself


class SeenStrategy(Protocol):
    """A strategy of all seats as each of them sees it: the others fixed, its own moves open."""

    def answer(self, pay: Array) -> tuple[Array, Array]:
        """The best answers of all seats, each to the others, and what each gains by its own. Pay is [seats, outcomes]."""
        ...

    def chances(self, strategy: Array) -> Array:
        """The chance of each outcome when one seat alone goes over to a strategy. float64 [seats, outcomes]"""
        ...


class StageGame(Protocol):
    """What is played in a state. A strategy is an array of all seats' probabilities; mixing arrays must mix strategies."""

    @property
    def seats(self) -> int:
        """Who play."""
        ...

    @property
    def outcomes(self) -> Sequence[Any]:
        """How it can end."""
        ...

    @property
    def start(self) -> Array:
        """A strategy to begin with."""
        ...

    def seen(self, strategy: Array) -> SeenStrategy:
        """A strategy as each seat sees it."""
        ...


@dataclass(frozen=True, eq=False)
class StochasticGame:
    """Rows are in the order of states, then seats, then outcomes; places in the order of states, then seats."""

    stages: Sequence[StageGame]
    rewards: Array  # float64 [rows]: what a seat gets at an outcome
    moves: (
        sparse.csr_array
    )  # float64 [rows, places]: the chance that it goes on there; what is missing: the game is over
    discount: float = 1.0

    def __post_init__(self) -> None:
        rows, places = self.row_of[-1], self.place_of[-1]
        if self.rewards.shape != (rows,) or self.moves.shape != (rows, places):
            raise InputError(
                f"rewards {self.rewards.shape} and moves {self.moves.shape}: {len(self.stages)} states need {rows:,} rows "
                f"and {places:,} places"
            )
        if not np.isfinite(self.rewards).all():
            raise InputError("rewards: all must be finite")
        if not 0 < self.discount <= 1:
            raise InputError(f"discount {self.discount:g}: must be above 0 and at most 1")
        if self.moves.nnz and (self.moves.data.min() < 0 or self.moves.sum(axis=1).max() > 1 + 1e-9):
            raise InputError("moves: chances must not be negative, and those of a row not above 1 together")

    @cached_property
    def place_of(self) -> Array:
        """The first place of each state, and how many there are. int64 [states + 1]"""
        return np.cumsum([0, *(stage.seats for stage in self.stages)])

    @cached_property
    def row_of(self) -> Array:
        """The first row of each state. int64 [states + 1]"""
        return np.cumsum([0, *(stage.seats * len(stage.outcomes) for stage in self.stages)])

    def pays(self, values: Array) -> list[Array]:
        """What outcomes are worth when places are worth so much. float64 [seats, outcomes] for each state"""
        rows = self.rewards + self.discount * (self.moves @ values)
        return [
            rows[first:last].reshape(stage.seats, -1)
            for stage, first, last in zip(self.stages, self.row_of, self.row_of[1:], strict=False)
        ]

    def chain(self, chances: Sequence[Array]) -> tuple[sparse.csr_array, Array]:
        """The Markov chain of places when outcomes have these chances, [seats, outcomes] for each state: its matrix, and
        what each place gets in one step."""
        some = [np.ascontiguousarray(x).ravel() for x in chances]
        lengths = [len(stage.outcomes) for stage in self.stages for _ in range(stage.seats)]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        rows = int(self.row_of[-1])
        weigh = sparse.csr_array((np.concatenate(some), np.arange(rows), ends), (len(lengths), rows))
        return sparse.csr_array(weigh @ self.moves), weigh @ self.rewards


# --- strategies that are fixed ----------------------------------------------------------------


def worth_of(game: StochasticGame, chances: Sequence[Array]) -> Array:
    """What places are worth when outcomes have these chances: V = r + d P V. float64 [places]

    Without a discount, places from which the game never ends are worth nothing; they must not be paid on the way.
    """
    matrix, reward = game.chain(chances)
    worth = np.zeros(len(reward))
    some = np.arange(len(reward)) if game.discount < 1 else np.flatnonzero(_ends(game, chances, matrix))
    for_ever = np.ones(len(reward), bool)
    for_ever[some] = False
    if np.any(reward[for_ever] != 0):
        raise NumericalError("these strategies are paid for ever: places have no worth; give a discount below 1")
    if len(some):
        inner = matrix[some][:, some]
        system = sparse.eye_array(len(some), format="csc") - game.discount * inner.tocsc()
        worth[some] = spsolve(system, reward[some])
    if not np.isfinite(worth).all():
        raise NumericalError("these strategies hardly ever end: places have no worth; give a discount below 1")
    return worth


def _ends(game: StochasticGame, chances: Sequence[Array], matrix: sparse.csr_array) -> Array:
    """Places from which the game can end. bool [places]"""
    over = np.maximum(1 - game.moves.sum(axis=1), 0.0)
    parts = np.concatenate([np.ravel(x) for x in chances]) * (over > SURE) * over
    lengths = np.array([len(stage.outcomes) for stage in game.stages for _ in range(stage.seats)])
    known: Array = np.add.reduceat(parts, np.cumsum(lengths) - lengths) > SURE
    while True:
        more = known | ((matrix > SURE).astype(np.float64) @ known > 0)
        if (more == known).all():
            return known
        known = more


def evaluate(game: StochasticGame, seen: Sequence[SeenStrategy], strategies: Sequence[Array]) -> Array:
    """What places are worth when all play their strategies. float64 [places]"""
    return worth_of(game, [s.chances(strategy) for s, strategy in zip(seen, strategies, strict=True)])


def respond(game: StochasticGame, seen: Sequence[SeenStrategy], values: Array, steps: int = MOST_STEPS) -> Response:
    """The best response of every place, the others playing on as they do: policy iteration from the values of all playing on.

    A policy is changed where that gains, and evaluated exactly, until nothing gains or so many steps are done.
    """
    scale = max(1.0, float(np.abs(values).max(initial=0.0)))
    policy: list[Array] = []
    for step in range(steps):
        policy = [s.answer(pay)[0] for s, pay in zip(seen, game.pays(values), strict=True)]
        better = worth_of(game, [s.chances(answer) for s, answer in zip(seen, policy, strict=True)])
        gain = float((better - values).max(initial=0.0))
        values = np.maximum(values, better)  # differences below are rounding
        if gain <= 1e-10 * scale:
            return Response(policy, values, step + 1)
    return Response(policy, values, steps)


@dataclass(frozen=True, eq=False)
class Response:
    """Best responses, and what they are worth."""

    policy: list[Array]
    values: Array  # float64 [places]
    steps: int  # of policy iteration


# --- matrices ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatrixStage:
    """All seats move at once; every profile of moves is an outcome. Strategies: float64 [seats, most moves]"""

    moves: tuple[int, ...]  # of each seat

    def __post_init__(self) -> None:
        if not self.moves or min(self.moves) < 1:
            raise InputError(f"moves {self.moves}: give the number of each seat's moves")

    @property
    def seats(self) -> int:
        """Who play."""
        return len(self.moves)

    @cached_property
    def outcomes(self) -> tuple[tuple[int, ...], ...]:
        """Profiles, the last seat's move changing first."""
        return tuple(np.ndindex(*self.moves))

    @property
    def start(self) -> Array:
        """All moves alike."""
        uniform = np.zeros((self.seats, max(self.moves)))
        for seat, count in enumerate(self.moves):
            uniform[seat, :count] = 1 / count
        return uniform

    def seen(self, strategy: Array) -> SeenMatrix:
        """A strategy as each seat sees it."""
        return SeenMatrix(self, strategy)


@dataclass(frozen=True, eq=False)
class SeenMatrix:
    """See `SeenStrategy`."""

    stage: MatrixStage
    strategy: Array

    def _others(self, seat: int) -> Array:
        """The chance of each profile, where the seat surely moves as it says. float64 [profile]"""
        chances = np.ones(self.stage.moves)
        for other, count in enumerate(self.stage.moves):
            if other != seat:
                shape = [1] * self.stage.seats
                shape[other] = count
                chances = chances * self.strategy[other, :count].reshape(shape)
        return chances

    def answer(self, pay: Array) -> tuple[Array, Array]:
        """The best answers, and what they gain."""
        best, gains = np.zeros_like(self.strategy), np.zeros(self.stage.seats)
        for seat, count in enumerate(self.stage.moves):
            axes = tuple(other for other in range(self.stage.seats) if other != seat)
            worth = (pay[seat].reshape(self.stage.moves) * self._others(seat)).sum(axis=axes)
            best[seat, int(worth.argmax())] = 1.0
            gains[seat] = worth.max() - worth @ self.strategy[seat, :count]
        return best, gains

    def chances(self, strategy: Array) -> Array:
        """The chance of each profile when one seat alone goes over to a strategy."""
        rows = []
        for seat, count in enumerate(self.stage.moves):
            shape = [1] * self.stage.seats
            shape[seat] = count
            rows.append((self._others(seat) * strategy[seat, :count].reshape(shape)).ravel())
        return np.array(rows)
