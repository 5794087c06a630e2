"""Equilibria of stochastic games, by fictitious play and dynamic programming, one in the other.

- `vi-fp`: value iteration outside (V ← what the stage games are worth), and inside fictitious play in every state, with the
  values as pay-offs.
- `pi-fp`: policy iteration outside (V ← what the strategies are worth for ever, one sparse system), the same inside.
- `fp-mdp`: fictitious play outside, over strategies of the whole game, and inside the best response of each player as a
  Markov decision problem.

The names are those of Ganzfried and Sandholm (IJCAI 2009). Ganzfried's thesis proposal tells of PI-FP with fictitious play
outside and policy iteration inside: that is `fp-mdp` here.

Value iteration can end outside equilibrium: values that no strategy ever collects may hold one another up. Where `pi-fp`
ends, the strategies are answers to what they are truly worth, so no stage can be improved; where `fp-mdp` ends they are best
responses. Neither promises to end. What any player gains at most, ε, is computed afterwards, whatever was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown
from riverboat.tournaments.stochastic import SeenStrategy, StageGame, StochasticGame, evaluate, respond

METHODS = ("vi-fp", "pi-fp", "fp-mdp")
ITERATIONS = 200  # of fictitious play in a state, at each step
MEMORY = 16  # iterations that the strategy of the step before counts for
_A = TypeVar("_A")
_B = TypeVar("_B")


class Learner(Protocol):
    """Fictitious play in one state, from a strategy that counts for some iterations: its end, and the largest gain left."""

    def __call__(
        self, stage: Any, strategy: Array, pay: Array, memory: int, iterations: int, until: float
    ) -> tuple[Array, float]: ...


@dataclass(frozen=True, eq=False)
class Job:
    """A state that is to be played in a step."""

    state: int
    strategy: Array
    pay: Array
    memory: int
    iterations: int
    until: float


Played: TypeAlias = tuple[Array, float, SeenStrategy]  # a strategy, the largest gain left, and how it is seen
Workers: TypeAlias = Callable[[Sequence[Job]], Iterator[Played]]  # jobs to their ends, in order


def fictitious_play(
    stage: StageGame, strategy: Array, pay: Array, memory: int = 0, iterations: int = ITERATIONS, until: float = 0.0
) -> tuple[Array, float]:
    """Everybody answers the mean of what was played so far, until nobody gains more than `until`."""
    mean = strategy.copy()
    for t in range(memory + 1, memory + iterations + 1):
        best, gains = stage.seen(mean).answer(pay)
        if gains.max() <= until:
            return mean, float(gains.max())
        mean += (best - mean) / t
    return mean, float(stage.seen(mean).answer(pay)[1].max())


def each(work: Callable[[_A], _B], items: Sequence[_A], threads: int) -> Iterator[_B]:
    """The answers in the order of the items."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, items)


@dataclass(frozen=True, eq=False)
class Step:
    """What one step outside has done."""

    number: int
    gain: float  # the largest in any stage; of `fp-mdp`: in the whole game, before the step
    change: float  # of any place's value


class Iteration:
    """A game on its way to equilibrium. `step` does one step of the loop outside."""

    def __init__(
        self,
        game: StochasticGame,
        method: str = "pi-fp",
        values: Array | None = None,
        strategies: Sequence[Array] | None = None,
        *,
        learner: Learner = fictitious_play,
        iterations: int = ITERATIONS,
        until: float = 0.0,
        threads: int = 1,
        workers: Workers | None = None,
    ) -> None:
        if method not in METHODS:
            raise unknown("method", method, METHODS)
        if iterations < 1:
            raise InputError(f"iterations={iterations}: at least one is needed")
        check_threads(threads)
        self.game, self.method, self.learner = game, method, learner
        self.iterations, self.until, self.threads = iterations, until, threads
        self.workers = workers or (lambda jobs: each(self._play, jobs, threads))
        self.values = np.zeros(int(game.place_of[-1])) if values is None else values.copy()
        self.strategies = [stage.start for stage in game.stages] if strategies is None else list(strategies)
        self.steps = 0
        self._seen: list[SeenStrategy] | None = None  # of the strategies as they are now

    def seen(self, done: Callable[[float], None] | None = None) -> list[SeenStrategy]:
        """All strategies as they are seen."""
        if self._seen is None:
            pairs = list(zip(self.game.stages, self.strategies, strict=True))
            answers = each(lambda pair: pair[0].seen(pair[1]), pairs, self.threads)
            self._seen = list(self._told(answers, len(pairs), done))
        return self._seen

    def step(self, done: Callable[[float], None] | None = None) -> Step:
        """One step outside. `done` is told the share of it."""
        self.steps += 1
        before = self.values
        gain = self._play_whole(done) if self.method == "fp-mdp" else self._play_stages(done)
        return Step(self.steps, gain, float(np.abs(self.values - before).max(initial=0.0)))

    def _play(self, job: Job) -> Played:
        stage = self.game.stages[job.state]
        strategy, gain = self.learner(stage, job.strategy, job.pay, job.memory, job.iterations, job.until)
        return strategy, gain, stage.seen(strategy)

    def _play_stages(self, done: Callable[[float], None] | None) -> float:
        memory = 0 if self.steps == 1 else MEMORY
        pays = self.game.pays(self.values)
        still: dict[int, Played] = {}  # states whose strategies are still good enough
        for state, seen in enumerate(self._seen or ()):
            gain = float(seen.answer(pays[state])[1].max())
            if gain <= self.until:
                still[state] = self.strategies[state], gain, seen
        jobs = [
            Job(state, strategy, pays[state], memory, self.iterations, self.until)
            for state, strategy in enumerate(self.strategies)
            if state not in still
        ]
        for job, end in zip(jobs, self._told(self.workers(jobs), len(jobs), done), strict=True):
            still[job.state] = end
        played = [still[state] for state in range(len(pays))]
        self.strategies = [strategy for strategy, _, _ in played]
        self._seen = [seen for _, _, seen in played]
        if self.method == "pi-fp":
            self.values = evaluate(self.game, self._seen, self.strategies)
        else:
            worth = [
                (seen.chances(strategy) * pay).sum(axis=1)
                for (strategy, _, seen), pay in zip(played, pays, strict=True)
            ]
            self.values = np.concatenate(worth)
        return max(gain for _, gain, _ in played)

    def _play_whole(self, done: Callable[[float], None] | None) -> float:
        seen = self.seen(done)
        values = evaluate(self.game, seen, self.strategies)
        best = respond(self.game, seen, values)
        self.strategies = [
            mean + (answer - mean) / (self.steps + 1) for mean, answer in zip(self.strategies, best.policy, strict=True)
        ]
        self.values, self._seen = values, None
        return float((best.values - values).max())

    def check(self, done: Callable[[float], None] | None = None) -> Check:
        """How much any player gains at most by leaving the strategies, others playing on: exact."""
        seen = self.seen(done)
        values = evaluate(self.game, seen, self.strategies)
        best = respond(self.game, seen, values)
        return Check(values, best.values - values, best.steps)

    def _told(self, answers: Iterable[_A], count: int, done: Callable[[float], None] | None) -> Iterator[_A]:
        for number, answer in enumerate(answers, 1):
            yield answer
            if done is not None:
                done(number / count)


@dataclass(frozen=True, eq=False)
class Check:
    """What strategies are worth, and what is left to gain."""

    values: Array  # float64 [places]
    gains: Array  # float64 [places]: of the best response there over staying
    steps: int  # of policy iteration

    @property
    def epsilon(self) -> float:
        """The largest gain of any player in any state."""
        return float(self.gains.max(initial=0.0))
