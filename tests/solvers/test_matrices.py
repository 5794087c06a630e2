"""Many matrix games at once, against the linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.games.small.normal_form import matrix
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.matrix_games import MatrixEquilibria, solve_matrix_games
from riverboat.trees.compile import compile_game


def certify(games: np.ndarray, found: MatrixEquilibria) -> None:
    """Check that each side guarantees the value, which proves an equilibrium."""
    for part in (found.rows, found.columns):
        assert part.min() >= 0
        assert part.sum(axis=1) == pytest.approx(np.ones(len(games)), abs=1e-9)
    low = np.einsum("gi,gij->gj", found.rows, games).min(axis=1)
    high = np.einsum("gij,gj->gi", games, found.columns).max(axis=1)
    assert low == pytest.approx(found.value, abs=1e-8)
    assert high == pytest.approx(found.value, abs=1e-8)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5), (5, 3), (1, 4)])
def test_random_games(shape: tuple[int, int]) -> None:
    games = np.random.default_rng(1).uniform(-1, 1, (500, *shape))
    certify(games, solve_matrix_games(games))


def test_the_linear_program_agrees() -> None:
    games = np.random.default_rng(2).uniform(-1, 1, (20, 4, 4))
    result = solve_matrix_games(games)
    for k, payoffs in enumerate(games):
        answer = solve_lp(compile_game(matrix(payoffs)))
        assert result.value[k] == pytest.approx(answer.value, abs=1e-9)
        row = list(answer.strategy["player 0"].values())
        assert result.rows[k] == pytest.approx(row, abs=1e-6)  # random games have one equilibrium


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=3, max_size=3))
def test_integer_payoffs_with_ties(payoffs: list[list[int]]) -> None:
    games = np.array([payoffs], float)
    certify(games, solve_matrix_games(games))


def test_known_games() -> None:
    games = np.array([[[0, -1, 1], [1, 0, -1], [-1, 1, 0]], [[3, 1, 4], [1, 5, 9], [2, 6, 5]]], float)
    result = solve_matrix_games(games)
    assert result.value[0] == pytest.approx(0, abs=1e-12)
    assert result.rows[0] == pytest.approx([1 / 3] * 3)
    certify(games, result)


def test_mixed_and_pure_equilibria() -> None:
    result = solve_matrix_games(np.array([[[1, -1], [-1, 1]], [[2, 3], [1, 0]]], float))
    assert result.rows.tolist() == [[0.5, 0.5], [1, 0]]
    assert result.columns.tolist() == [[0.5, 0.5], [1, 0]]
    assert result.value.tolist() == [0, 2]


@pytest.mark.parametrize(
    "games", [np.zeros((2, 2)), np.zeros((1, 7, 2)), np.zeros((1, 0, 2)), np.full((1, 2, 2), np.nan)]
)
def test_invalid_input(games: np.ndarray) -> None:
    with pytest.raises(InputError):
        solve_matrix_games(games)
