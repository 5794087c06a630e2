"""Stochastic games: known chains, Shapley's iteration, best responses over all policies, failure of value iteration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, NumericalError
from riverboat.tournaments.stochastic_games import (
    METHODS,
    EquilibriumIteration,
    MatrixStage,
    StochasticGame,
    best_responses,
    evaluate_strategies,
)


def game_of(moves: tuple[int, ...], rewards: Array, chances: Array, discount: float = 1.0) -> StochasticGame:
    """Build a game whose players keep their seats: rewards [states, seats, profiles], chances [states, profiles,
    states].
    """
    states, seats, profiles = rewards.shape
    table = np.zeros((states, seats, profiles, states, seats))
    for seat in range(seats):
        table[:, seat, :, :, seat] = chances
    rows = sparse.csr_array(table.reshape(states * seats * profiles, states * seats))
    return StochasticGame([MatrixStage(moves)] * states, rewards.ravel(), rows, discount)


# --- Fixed strategies ---


@pytest.mark.parametrize(("up", "states"), [(0.4, 7), (0.55, 12)])
def test_gamblers_ruin(up: float, states: int) -> None:
    """The probability of reaching the top before the bottom is (1 - r^i) / (1 - r^N), r = q / p."""
    chances = np.zeros((states - 1, 1, states - 1))
    rewards = np.zeros((states - 1, 1, 1))
    for i in range(states - 1):
        if i > 0:
            chances[i, 0, i - 1] = 1 - up
        if i < states - 2:
            chances[i, 0, i + 1] = up
    rewards[-1] = up
    run = EquilibriumIteration(game_of((1,), rewards, chances))
    r = (1 - up) / up
    expected = [(1 - r**i) / (1 - r**states) for i in range(1, states)]
    assert run.check().values == pytest.approx(expected)


def random_game(rng: np.random.Generator, seats: int, states: int, actions: int, discount: float) -> StochasticGame:
    profiles = actions**seats
    chances = rng.random((states, profiles, states))
    chances *= rng.uniform(0.5, 0.9, (states, profiles, 1)) / chances.sum(axis=2, keepdims=True)
    return game_of((actions,) * seats, rng.normal(size=(states, seats, profiles)), chances, discount)


def test_best_responses_against_all_policies() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        game = random_game(rng, 3, 2, 2, 1.0)
        strategies = [rng.dirichlet((1, 1), 3) for _ in range(2)]
        run = EquilibriumIteration(game, strategies=strategies)
        values = evaluate_strategies(game, run.response_problems(), strategies)
        found = best_responses(game, run.response_problems(), values)
        for seat in range(3):
            best = np.full(2, -np.inf)
            for policy in product(range(2), repeat=2):
                other = [s.copy() for s in strategies]
                for state, move in enumerate(policy):
                    other[state][seat] = np.eye(2)[move]
                deviation = EquilibriumIteration(game, strategies=other)
                best = np.maximum(best, evaluate_strategies(game, deviation.response_problems(), other)[seat::3])
            assert found.values[seat::3] == pytest.approx(best)


def test_players_may_change_seats() -> None:
    """Two players change seats each turn: the first seat wins with probability one half, else the other seat moves."""
    stage = MatrixStage((1, 1))
    transitions = sparse.csr_array(np.array([[0, 0.5], [0.5, 0]]))
    game = StochasticGame([stage], np.array([0.5, 0.0]), transitions)
    assert EquilibriumIteration(game).check().values == pytest.approx([2 / 3, 1 / 3])


# --- Equilibria ---


def matrix_value(matrix: Array) -> float:
    rows, columns = matrix.shape
    found = linprog(
        [*[0.0] * rows, -1.0],
        np.hstack([-matrix.T, np.ones((columns, 1))]),
        np.zeros(columns),
        [[*[1.0] * rows, 0.0]],
        [1.0],
        [(0, None)] * rows + [(None, None)],
    )
    return float(-found.fun)


@pytest.mark.parametrize("method", METHODS)
def test_zero_sum_games_by_shapleys_iteration(method: str) -> None:
    rng = np.random.default_rng(5)
    states, actions, discount = 2, 2, 0.5
    chances = rng.dirichlet(np.ones(states), (states, actions * actions))
    first = rng.normal(size=(states, actions * actions))
    expected = np.zeros(states)
    for _ in range(25):
        expected = np.array(
            [
                matrix_value((first[s] + discount * chances[s] @ expected).reshape(actions, actions))
                for s in range(states)
            ]
        )
    run = EquilibriumIteration(
        game_of((2, 2), np.stack([first, -first], axis=1), chances, discount), method, iterations=400
    )
    for _ in range(300 if method == "fp-mdp" else 12):
        run.step()
    check = run.check()
    assert check.epsilon < 0.02
    assert check.values[0::2] == pytest.approx(expected, abs=0.02)
    assert check.values[1::2] == pytest.approx(-expected, abs=0.02)


@pytest.mark.parametrize(("method", "steps"), [("pi-fp", 12), ("fp-mdp", 300)])
def test_general_sum_games(method: str, steps: int) -> None:
    """Three players, general sum: convergence is not guaranteed, and ε measures the result."""
    rng = np.random.default_rng(8)
    game = random_game(rng, 3, 3, 2, 0.9)
    run = EquilibriumIteration(game, method, iterations=300)
    first = run.check().epsilon
    for _ in range(steps):
        run.step()
    assert run.check().epsilon < 0.02 < first


def test_value_iteration_can_end_outside_equilibrium() -> None:
    """Stay for 0, or leave with 1: from values that are too high, staying looks optimal forever."""
    rewards, chances = np.array([[[0.0, 1.0]]]), np.array([[[1.0], [0.0]]])
    game = game_of((2,), rewards, chances)
    found = {}
    for method in ("vi-fp", "pi-fp"):
        run = EquilibriumIteration(game, method, np.array([5.0]), [np.array([[0.0, 1.0]])], iterations=10)
        for _ in range(10):
            step = run.step()
        assert step.change == 0
        found[method] = run.check().epsilon
    assert found == {"vi-fp": 1.0, "pi-fp": 0.0}


# --- Invalid games ---


def test_invalid_games() -> None:
    stage, terminal = MatrixStage((2,)), sparse.csr_array((2, 1))
    with pytest.raises(InputError, match=r"rewards \(3,\).*\b2 rows and 1\b"):
        StochasticGame([stage], np.zeros(3), terminal)
    with pytest.raises(InputError, match="discount 2"):
        StochasticGame([stage], np.zeros(2), terminal, 2.0)
    with pytest.raises(InputError, match="transitions"):
        StochasticGame([stage], np.zeros(2), sparse.csr_array(np.array([[2.0], [0.0]])))
    with pytest.raises(InputError, match="rewards"):
        StochasticGame([stage], np.array([0.0, np.inf]), terminal)
    with pytest.raises(InputError, match=r"num_actions \(\)"):
        MatrixStage(())
    with pytest.raises(InputError, match="'fp'"):
        EquilibriumIteration(StochasticGame([stage], np.zeros(2), terminal), "fp")
    endless = StochasticGame([MatrixStage((1,))], np.ones(1), sparse.csr_array(np.ones((1, 1))))
    with pytest.raises(NumericalError, match="discount"):
        EquilibriumIteration(endless).check()


def test_results_do_not_depend_on_threads() -> None:
    game = random_game(np.random.default_rng(1), 2, 4, 3, 0.9)
    one, two = (EquilibriumIteration(game, "pi-fp", iterations=50, threads=n) for n in (1, 2))
    for _ in range(3):
        one.step()
        two.step()
    assert np.array_equal(one.values, two.values)
