"""Stochastic games: every state has a stage game, whose outcome determines rewards and the next state.

    game = StochasticGame(stages, rewards, transitions)             # see the fields
    values = evaluate_strategies(game, problems, strategies)        # values of fixed strategies: one sparse system
    best = best_responses(game, problems, values)                   # each seat's best response, as an MDP

Values belong to pairs of a state and a seat, and transitions lead from pair to pair: a player may sit in another seat
after the outcome. So a symmetric game, such as a tournament whose button moves, has every state once; in other games
transitions keep the seats. Strategies belong to states and seats too.

A stage game is any object with the protocol `StageGame`: matrices (`MatrixStage`), hands of poker (`PushFoldStage`).
Equilibria combine fictitious play with value or policy iteration (Ganzfried & Sandholm 2008 and 2009: VI-FP, PI-FP,
FP-MDP).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, NumericalError, check_threads
from riverboat.core.parallel import map_in_order
from riverboat.core.validation import check_name

PROBABILITY_TOLERANCE = 1e-12  # smaller probabilities are rounding errors
MAX_POLICY_STEPS = 1000  # most steps of policy iteration, which converges in finitely many


class ResponseProblem(Protocol):
    """The decision problem of each seat at a strategy profile: the others are fixed."""

    def best_response(self, payoffs: Array) -> tuple[Array, Array]:
        """Return each seat's best response to the others, and its gain.

        Parameters
        ----------
        payoffs
            Payoff of each outcome to each seat, float64 [seats, outcomes].
        """

    def outcome_probabilities(self, strategy: Array) -> Array:
        """Return the probability of each outcome if one seat alone switches to a strategy. float64 [seats, outcomes]

        Parameters
        ----------
        strategy
            Strategy of all seats; each row of the result uses one of them.
        """


class StageGame(Protocol):
    """The game of one state. A strategy is an array of all seats' probabilities; mixing arrays must mix strategies."""

    @property
    def seats(self) -> int:
        """Number of seats."""

    @property
    def outcomes(self) -> Sequence[Any]:
        """All outcomes."""

    @property
    def initial_strategy(self) -> Array:
        """Strategy of all seats before the first iteration of fictitious play or policy iteration."""

    def response_problem(self, strategy: Array) -> ResponseProblem:
        """Return the response problem of each seat at a strategy.

        Parameters
        ----------
        strategy
            Strategy of all seats.
        """


@dataclass(frozen=True, eq=False)
class StochasticGame:
    """A stochastic game. Rows are ordered by state, seat, outcome; state-seat pairs by state, seat.

    Parameters
    ----------
    stages
        The stage game of each state.
    rewards
        Reward of a seat at an outcome, float64 [rows].
    transitions
        Transition probabilities, float64 [rows, state-seat pairs]; the game ends with the remaining probability.
    discount
        Factor of later rewards, above 0 and at most 1.

    Raises
    ------
    InputError
        If shapes do not match the stages, or a number is out of range.

    Examples
    --------
    Matching pennies, which ends after one round:

    >>> rewards = np.array([1.0, -1, -1, 1, -1, 1, 1, -1])
    >>> game = StochasticGame([MatrixStage((2, 2))], rewards, sparse.csr_array((8, 2)))
    >>> game.outcome_payoffs(np.zeros(2))[0][0]
    array([ 1., -1., -1.,  1.])
    """

    stages: Sequence[StageGame]
    rewards: Array  # float64 [rows]: reward of a seat at an outcome
    transitions: sparse.csr_array  # float64 [rows, state-seat pairs]: the game ends with the remaining probability
    discount: float = 1.0

    def __post_init__(self) -> None:
        rows, pairs = self.first_row_index[-1], self.first_seat_index[-1]
        if self.rewards.shape != (rows,) or self.transitions.shape != (rows, pairs):
            raise InputError(
                f"rewards {self.rewards.shape} and transitions {self.transitions.shape}: {len(self.stages)} states "
                f"need {rows:,} rows and {pairs:,} state-seat pairs"
            )
        if not np.isfinite(self.rewards).all():
            raise InputError("rewards: must be finite")
        if not 0 < self.discount <= 1:
            raise InputError(f"discount {self.discount:g}: must be above 0 and at most 1")
        if self.transitions.nnz and (self.transitions.data.min() < 0 or self.transitions.sum(axis=1).max() > 1 + 1e-9):
            raise InputError(
                "transitions: probabilities must not be negative, and those of a row must not sum to more than 1"
            )

    @cached_property
    def first_seat_index(self) -> Array:
        """Index of the first state-seat pair of each state, and the number of pairs. int64 [states + 1]"""
        return np.cumsum([0, *(stage.seats for stage in self.stages)])

    @cached_property
    def first_row_index(self) -> Array:
        """Index of the first row of each state, and the number of rows. int64 [states + 1]"""
        return self.first_row_of_pair[self.first_seat_index]

    @cached_property
    def first_row_of_pair(self) -> Array:
        """Index of the first row of each state-seat pair, and the number of rows. int64 [state-seat pairs + 1]"""
        return np.cumsum([0, *(len(stage.outcomes) for stage in self.stages for _ in range(stage.seats))])

    def outcome_payoffs(self, values: Array) -> list[Array]:
        """Return rewards plus continuation values of outcomes. float64 [seats, outcomes] for each state

        Parameters
        ----------
        values
            Value of each state-seat pair, float64 [pairs].
        """
        rows = np.split(self.rewards + self.discount * (self.transitions @ values), self.first_row_index[1:-1])
        return [part.reshape(stage.seats, -1) for stage, part in zip(self.stages, rows, strict=True)]

    def markov_chain(self, outcome_probabilities: Sequence[Array]) -> tuple[sparse.csr_array, Array]:
        """Return the Markov chain of state-seat pairs for given outcome probabilities.

        The result is its matrix, and the rewards of one step.

        Parameters
        ----------
        outcome_probabilities
            Probabilities [seats, outcomes] for each state.
        """
        weights = np.concatenate([np.ravel(x) for x in outcome_probabilities])
        rows = int(self.first_row_index[-1])
        shape = len(self.first_row_of_pair) - 1, rows
        averaging = sparse.csr_array((weights, np.arange(rows), self.first_row_of_pair), shape)
        return sparse.csr_array(averaging @ self.transitions), averaging @ self.rewards


# --- Values and best responses ---


def policy_values(game: StochasticGame, outcome_probabilities: Sequence[Array]) -> Array:
    """Compute values for given outcome probabilities: V = r + d P V. float64 [state-seat pairs]

    Without a discount, pairs from which the game never ends have value zero; they must have no rewards.

    Parameters
    ----------
    game
        Stochastic game.
    outcome_probabilities
        Probabilities [seats, outcomes] for each state.

    Returns
    -------
    Array
        Values of state-seat pairs.

    Raises
    ------
    NumericalError
        If rewards never end, so that values do not exist.

    Examples
    --------
    >>> rewards = np.array([1.0, -1, -1, 1, -1, 1, 1, -1])
    >>> game = StochasticGame([MatrixStage((2, 2))], rewards, sparse.csr_array((8, 2)))
    >>> policy_values(game, [np.full((2, 4), 0.25)])
    array([0., 0.])
    """
    matrix, reward = game.markov_chain(outcome_probabilities)
    values = np.zeros(len(reward))
    ends = np.ones(len(reward), bool) if game.discount < 1 else _can_terminate(game, outcome_probabilities, matrix)
    transient = np.flatnonzero(ends)
    if np.any(reward[~ends] != 0):
        raise NumericalError("rewards never end under these strategies, so values do not exist; use a discount below 1")
    if len(transient):
        inner = matrix[transient][:, transient]
        system = sparse.eye_array(len(transient), format="csc") - game.discount * inner.tocsc()
        values[transient] = spsolve(system, reward[transient])
    if not np.isfinite(values).all():
        raise NumericalError(
            "the game almost never ends under these strategies, so values do not exist; use a discount below 1"
        )
    return values


def _can_terminate(game: StochasticGame, outcome_probabilities: Sequence[Array], matrix: sparse.csr_array) -> Array:
    """Return the state-seat pairs from which the game can end. bool [state-seat pairs]"""
    end_probability = np.maximum(1 - game.transitions.sum(axis=1), 0.0)
    end_probability *= end_probability > PROBABILITY_TOLERANCE
    parts = np.concatenate([np.ravel(x) for x in outcome_probabilities]) * end_probability
    ending: Array = np.add.reduceat(parts, game.first_row_of_pair[:-1]) > PROBABILITY_TOLERANCE
    while True:
        reachable = ending | ((matrix > PROBABILITY_TOLERANCE).astype(np.float64) @ ending > 0)
        if (reachable == ending).all():
            return ending
        ending = reachable


def evaluate_strategies(
    game: StochasticGame, problems: Sequence[ResponseProblem], strategies: Sequence[Array]
) -> Array:
    """Compute values when each player alone switches to its strategy. float64 [state-seat pairs]

    With the strategies of the problems themselves, these are the values when all players follow them.

    Parameters
    ----------
    game
        Stochastic game.
    problems
        Response problem of each state: the strategies of the others.
    strategies
        Strategy of each state; every player uses its part.

    Returns
    -------
    Array
        Values of state-seat pairs.

    Examples
    --------
    >>> stage = MatrixStage((2, 2))
    >>> game = StochasticGame([stage], np.array([1.0, -1, -1, 1, -1, 1, 1, -1]), sparse.csr_array((8, 2)))
    >>> pure = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> evaluate_strategies(game, [stage.response_problem(pure)], [pure])
    array([ 1., -1.])
    """
    pairs = zip(problems, strategies, strict=True)
    return policy_values(game, [problem.outcome_probabilities(strategy) for problem, strategy in pairs])


def best_responses(game: StochasticGame, problems: Sequence[ResponseProblem], values: Array) -> StochasticBestResponse:
    """Compute the best response of every state-seat pair, the others fixed, by policy iteration from `values`.

    Each step improves the policy where that gains and evaluates it exactly, until no change gains or after 1,000 steps.

    Parameters
    ----------
    game
        Stochastic game.
    problems
        Response problem of each state.
    values
        Initial values, float64 [state-seat pairs]: those of the current strategies.

    Returns
    -------
    StochasticBestResponse
        Policies and their values.

    Examples
    --------
    >>> stage = MatrixStage((2, 2))
    >>> game = StochasticGame([stage], np.array([1.0, -1, -1, 1, -1, 1, 1, -1]), sparse.csr_array((8, 2)))
    >>> pure = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> best_responses(game, [stage.response_problem(pure)], np.array([1.0, -1.0])).values
    array([1., 1.])
    """
    scale = max(1.0, float(np.abs(values).max(initial=0.0)))
    policy: list[Array] = []
    for _ in range(MAX_POLICY_STEPS):
        payoffs = game.outcome_payoffs(values)
        policy = [problem.best_response(pay)[0] for problem, pay in zip(problems, payoffs, strict=True)]
        policy_value = evaluate_strategies(game, problems, policy)
        gain = float((policy_value - values).max(initial=0.0))
        values = np.maximum(values, policy_value)  # decreases are rounding errors
        if gain <= 1e-10 * scale:
            break
    return StochasticBestResponse(policy, values)


@dataclass(frozen=True, eq=False)
class StochasticBestResponse:
    """Best responses and their values.

    Attributes
    ----------
    policy
        Best response of each state, for all seats.
    values
        Value of each state-seat pair, float64 [pairs].

    Examples
    --------
    >>> StochasticBestResponse([], np.zeros(2)).values
    array([0., 0.])
    """

    policy: list[Array]
    values: Array  # float64 [state-seat pairs]


# --- Matrix games as stages ---


@dataclass(frozen=True, eq=False)
class MatrixStage:
    """A normal-form stage: all seats act at once, and every action profile is an outcome.

    Strategies: float64 [seats, actions]

    Parameters
    ----------
    num_actions
        Number of actions of each seat.

    Raises
    ------
    InputError
        If a seat has no action.

    Examples
    --------
    >>> MatrixStage((2, 2)).outcomes
    ((0, 0), (0, 1), (1, 0), (1, 1))
    """

    num_actions: tuple[int, ...]  # number of actions of each seat

    def __post_init__(self) -> None:
        if not self.num_actions or min(self.num_actions) < 1:
            raise InputError(f"num_actions {self.num_actions}: give the number of actions of each seat, 1 or more")

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self.num_actions)

    @cached_property
    def outcomes(self) -> tuple[tuple[int, ...], ...]:
        """Action profiles; the last seat's action varies fastest."""
        return tuple(np.ndindex(*self.num_actions))

    @property
    def initial_strategy(self) -> Array:
        """The uniform strategy."""
        uniform = np.zeros((self.seats, max(self.num_actions)))
        for seat, count in enumerate(self.num_actions):
            uniform[seat, :count] = 1 / count
        return uniform

    def response_problem(self, strategy: Array) -> MatrixResponseProblem:
        """Return the response problem of each seat at a strategy.

        Parameters
        ----------
        strategy
            Probabilities, float64 [seats, actions].
        """
        return MatrixResponseProblem(self, strategy)


@dataclass(frozen=True, eq=False)
class MatrixResponseProblem:
    """The response problem of a matrix stage; implements `ResponseProblem`.

    Attributes
    ----------
    stage
        The stage.
    strategy
        Probabilities of the others, float64 [seats, actions].

    Examples
    --------
    >>> stage = MatrixStage((2, 2))
    >>> problem = MatrixResponseProblem(stage, stage.initial_strategy)
    >>> problem.best_response(np.array([[3.0, 1, 0, 0], [0, 0, 0, 0]]))[1]
    array([1., 0.])
    """

    stage: MatrixStage
    strategy: Array

    def _profile_probabilities(self, seat: int, own: Array) -> Array:
        """Return the probability of each profile if a seat plays `own`, others their strategy. float64 [profile]"""
        counts = enumerate(self.stage.num_actions)
        rows = [own if other == seat else self.strategy[other, :count] for other, count in counts]
        return np.asarray(reduce(np.multiply.outer, rows))

    def best_response(self, payoffs: Array) -> tuple[Array, Array]:
        """Return each seat's best response to the others, and its gain.

        Parameters
        ----------
        payoffs
            Payoff of each profile to each seat, float64 [seats, profiles].
        """
        best, gains = np.zeros_like(self.strategy), np.zeros(self.stage.seats)
        for seat, count in enumerate(self.stage.num_actions):
            axes = tuple(other for other in range(self.stage.seats) if other != seat)
            others = self._profile_probabilities(seat, np.ones(count))
            values = (payoffs[seat].reshape(self.stage.num_actions) * others).sum(axis=axes)
            best[seat, int(values.argmax())] = 1.0
            gains[seat] = values.max() - values @ self.strategy[seat, :count]
        return best, gains

    def outcome_probabilities(self, strategy: Array) -> Array:
        """Return the probability of each profile if one seat alone switches to a strategy.

        Parameters
        ----------
        strategy
            Probabilities, float64 [seats, actions].
        """
        counts = enumerate(self.stage.num_actions)
        return np.array([self._profile_probabilities(seat, strategy[seat, :count]).ravel() for seat, count in counts])


# --- Equilibria by fictitious play and dynamic programming ---

METHODS = ("vi-fp", "pi-fp", "fp-mdp")
STAGE_ITERATIONS = 200  # iterations of fictitious play in a state, at each step
MEMORY = 16  # weight of the previous step's strategy, in iterations
_A = TypeVar("_A")
Progress: TypeAlias = Callable[[float], None]  # function of the completed share


# (stage, strategy, payoffs, memory, iterations, until) -> (strategy, largest remaining gain), as `fictitious_play`.
StageSolver: TypeAlias = Callable[[Any, Array, Array, int, int, float], tuple[Array, float]]


@dataclass(frozen=True, eq=False)
class StageJob:
    """A state to be solved in a step.

    Attributes
    ----------
    state
        Index of the state.
    strategy
        Initial strategy.
    payoffs
        Payoff of each outcome to each seat, float64 [seats, outcomes].
    memory
        Weight of the initial strategy, in iterations.
    iterations
        Largest number of iterations.
    until
        Largest gain of any seat at which the stage counts as solved.

    Examples
    --------
    >>> StageJob(0, np.ones((2, 1)), np.zeros((2, 1)), memory=0, iterations=100, until=0.0).iterations
    100
    """

    state: int
    strategy: Array
    payoffs: Array
    memory: int
    iterations: int
    until: float


StageResult: TypeAlias = tuple[Array, float, ResponseProblem]  # strategy, largest remaining gain, response problem
StageWorkers: TypeAlias = Callable[[Sequence[StageJob]], Iterator[StageResult]]  # jobs to results, in order


def fictitious_play(
    stage: StageGame,
    strategy: Array,
    payoffs: Array,
    memory: int = 0,
    iterations: int = STAGE_ITERATIONS,
    until: float = 0.0,
) -> tuple[Array, float]:
    """Run fictitious play until no player gains more than `until`: all best-respond to the average strategy.

    Parameters
    ----------
    stage
        Stage game.
    strategy
        Initial strategy.
    payoffs
        Payoff of each outcome to each seat, float64 [seats, outcomes].
    memory
        Weight of the initial strategy, in iterations.
    iterations
        Largest number of iterations.
    until
        Largest gain of any seat at which to stop.

    Returns
    -------
    tuple
        The average strategy, and the largest remaining gain.

    Examples
    --------
    >>> stage = MatrixStage((2, 2))
    >>> payoffs = np.array([[3.0, 1, 0, 0], [1, 0, 0, 0]])
    >>> fictitious_play(stage, stage.initial_strategy, payoffs, memory=0, iterations=10)
    (array([[1., 0.],
           [1., 0.]]), 0.0)
    """
    mean = strategy.copy()
    for t in range(memory + 1, memory + iterations + 1):
        best, gains = stage.response_problem(mean).best_response(payoffs)
        if gains.max() <= until:
            return mean, float(gains.max())
        mean += (best - mean) / t
    return mean, float(stage.response_problem(mean).best_response(payoffs)[1].max())


@dataclass(frozen=True, eq=False)
class IterationStep:
    """The result of one outer step.

    Attributes
    ----------
    number
        Number of the step, from 1.
    gain
        Largest gain in any stage; for `fp-mdp` in the whole game before the step.
    change
        Largest change of a value.

    Examples
    --------
    >>> IterationStep(1, gain=0.5, change=0.1).number
    1
    """

    number: int
    gain: float  # largest gain in any stage; for `fp-mdp` in the whole game before the step
    change: float  # largest change of a value


class EquilibriumIteration:
    """Iterative equilibrium computation of a stochastic game; `step` runs one outer step.

    Parameters
    ----------
    game
        Stochastic game.
    method
        `vi-fp`, `pi-fp` or `fp-mdp`.
    values
        Initial values of state-seat pairs; zero by default.
    strategies
        Initial strategies; those of the stages by default.
    stage_solver
        Solver of one stage.
    iterations
        Iterations of fictitious play in a state, at each step.
    until
        Gain at which a stage counts as solved.
    threads
        Threads that solve stages.
    workers
        Function from jobs to results, instead of threads.

    Raises
    ------
    InputError
        If the method is unknown, or a number is out of range.

    Notes
    -----
    An inner loop solves every stage by fictitious play for the current values. An outer loop updates the values by one
    step of value iteration (VI-FP) or by the exact values of the strategies (PI-FP). FP-MDP is fictitious play of the
    whole game: each player best-responds to the others as in a Markov decision process. Neither is guaranteed to
    converge with three players; `check` measures the result.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing an approximate jam/fold equilibrium for 3-player no-limit Texas hold'em
       tournaments", AAMAS 2008.
    .. [2] Ganzfried and Sandholm, "Computing equilibria in multiplayer stochastic games of imperfect information",
       IJCAI 2009.

    Examples
    --------
    >>> rewards = np.array([1.0, -1, -1, 1, -1, 1, 1, -1])
    >>> run = EquilibriumIteration(StochasticGame([MatrixStage((2, 2))], rewards, sparse.csr_array((8, 2))))
    >>> run.step().gain, run.check().epsilon
    (0.0, 0.0)
    """

    def __init__(
        self,
        game: StochasticGame,
        method: str = "pi-fp",
        values: Array | None = None,
        strategies: Sequence[Array] | None = None,
        *,
        stage_solver: StageSolver = fictitious_play,
        iterations: int = STAGE_ITERATIONS,
        until: float = 0.0,
        threads: int = 1,
        workers: StageWorkers | None = None,
    ) -> None:
        check_name("method", method, METHODS)
        if iterations < 1:
            raise InputError(f"iterations={iterations}: must be at least 1")
        check_threads(threads)
        self.game, self.method, self.stage_solver = game, method, stage_solver
        self.iterations, self.until, self.threads = iterations, until, threads
        self.workers = workers or (lambda jobs: map_in_order(self._solve_stage, jobs, threads))
        self.values = np.zeros(int(game.first_seat_index[-1])) if values is None else values.copy()
        self.strategies = [stage.initial_strategy for stage in game.stages] if strategies is None else list(strategies)
        self.steps = 0
        self._problems: list[ResponseProblem] | None = None  # those of the current strategies

    def response_problems(self, progress: Progress | None = None) -> list[ResponseProblem]:
        """Return the response problems of the current strategies.

        Parameters
        ----------
        progress
            Function of the share of states that is done.
        """
        if self._problems is None:
            pairs = list(zip(self.game.stages, self.strategies, strict=True))
            problems = map_in_order(lambda pair: pair[0].response_problem(pair[1]), pairs, self.threads)
            self._problems = list(self._report_progress(problems, len(pairs), progress))
        return self._problems

    def step(self, progress: Progress | None = None) -> IterationStep:
        """Run one outer step.

        Parameters
        ----------
        progress
            Function of the share of the step that is done.
        """
        self.steps += 1
        previous = self.values
        gain = self._fictitious_play_step(progress) if self.method == "fp-mdp" else self._solve_stages(progress)
        return IterationStep(self.steps, gain, float(np.abs(self.values - previous).max(initial=0.0)))

    def _solve_stage(self, job: StageJob) -> StageResult:
        stage = self.game.stages[job.state]
        strategy, gain = self.stage_solver(stage, job.strategy, job.payoffs, job.memory, job.iterations, job.until)
        return strategy, gain, stage.response_problem(strategy)

    def _solve_stages(self, progress: Progress | None) -> float:
        memory = 0 if self.steps == 1 else MEMORY
        payoffs = self.game.outcome_payoffs(self.values)
        results: dict[int, StageResult] = {}  # states whose strategies are still within `until` need no work
        for state, problem in enumerate(self._problems or ()):
            gain = float(problem.best_response(payoffs[state])[1].max())
            if gain <= self.until:
                results[state] = self.strategies[state], gain, problem
        jobs = [
            StageJob(state, strategy, payoffs[state], memory, self.iterations, self.until)
            for state, strategy in enumerate(self.strategies)
            if state not in results
        ]
        for job, result in zip(jobs, self._report_progress(self.workers(jobs), len(jobs), progress), strict=True):
            results[job.state] = result
        solved = [results[state] for state in range(len(payoffs))]
        self.strategies = [strategy for strategy, _, _ in solved]
        self._problems = [problem for _, _, problem in solved]
        if self.method == "pi-fp":
            self.values = evaluate_strategies(self.game, self._problems, self.strategies)
        else:
            pairs = zip(self._problems, self.strategies, payoffs, strict=True)
            values = [(problem.outcome_probabilities(strategy) * pay).sum(axis=1) for problem, strategy, pay in pairs]
            self.values = np.concatenate(values)
        return max(gain for _, gain, _ in solved)

    def _fictitious_play_step(self, progress: Progress | None) -> float:
        self.values, best = self._best_responses(progress)
        pairs = zip(self.strategies, best.policy, strict=True)
        self.strategies = [mean + (response - mean) / (self.steps + 1) for mean, response in pairs]
        self._problems = None
        return float((best.values - self.values).max())

    def check(self, progress: Progress | None = None) -> EquilibriumCheck:
        """Compute exactly each player's largest gain by deviating while the others keep their strategies.

        Parameters
        ----------
        progress
            Function of the share of states that is done.
        """
        values, best = self._best_responses(progress)
        return EquilibriumCheck(values, best.values - values)

    def _best_responses(self, progress: Progress | None) -> tuple[Array, StochasticBestResponse]:
        """Return the values of the current strategies, and best responses to them."""
        problems = self.response_problems(progress)
        values = evaluate_strategies(self.game, problems, self.strategies)
        return values, best_responses(self.game, problems, values)

    def _report_progress(self, results: Iterable[_A], count: int, progress: Progress | None) -> Iterator[_A]:
        for number, result in enumerate(results, 1):
            yield result
            if progress is not None:
                progress(number / count)


@dataclass(frozen=True, eq=False)
class EquilibriumCheck:
    """Values of strategies, and gains by best responses.

    Attributes
    ----------
    values
        Value of each state-seat pair, float64 [pairs].
    gains
        Best-response value less value, float64 [pairs].

    Examples
    --------
    >>> EquilibriumCheck(np.zeros(2), np.array([0.0, 0.5])).epsilon
    0.5
    """

    values: Array  # float64 [state-seat pairs]
    gains: Array  # float64 [state-seat pairs]: best-response value less value

    @property
    def epsilon(self) -> float:
        """The largest gain of any player in any state."""
        return float(self.gains.max(initial=0.0))
