"""The path of linear programs for different distributions: against the mixed integer program and exact best responses."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.continuous import signals as deals
from riverboat.continuous.examples import river
from riverboat.continuous.programs import build_linear_forms, solve_threshold_milp
from riverboat.continuous.solver import solve_model
from riverboat.continuous.strategies import QualitativeModel
from riverboat.continuous.threshold_path import solve_threshold_path
from riverboat.core.errors import InputError

BLUFF, ORDER = {"root": "b x b", "b": "f c"}, "root:1 b:1 root:2"


def unequal(seed: int, segments: int = 5) -> deals.Signals:
    rng = np.random.default_rng(seed)
    edges = np.linspace(0, 1, segments + 1).tolist()
    masses = rng.dirichlet(np.full(segments, 4.0), 2)
    return deals.from_cdfs([list(zip(edges, [0.0, *np.cumsum(m)[:-1].tolist(), 1.0], strict=True)) for m in masses])


@pytest.mark.parametrize("seed", range(6))
def test_path_finds_the_equilibria_of_half_streets(seed: int) -> None:
    game = river(unequal(seed), pot=2.0, street="half")
    model = QualitativeModel.from_words(game, BLUFF, ORDER)
    by_path, by_milp = (solve_model(game, model, method) for method in ("path", "milp"))
    assert by_path.method == "path"
    assert by_path.solved == by_milp.solved
    if by_path.solved:
        assert by_path.epsilon_share < 1e-9  # by exact best responses
        np.testing.assert_allclose(by_path.profile.cuts, by_milp.profile.cuts, atol=1e-6)


def test_equal_distributions_need_one_program() -> None:
    game = river(pot=2.0, street="half")
    model = QualitativeModel.from_words(game, BLUFF, ORDER)
    optimum = solve_threshold_path(game, build_linear_forms(game, model, model.order or ()))
    np.testing.assert_allclose(optimum.cuts, [0.1, 0.4, 0.7], atol=1e-9)
    assert optimum.slack < 1e-12


def test_an_infeasible_model_keeps_its_violation() -> None:
    """A model that bets its middle hands: both methods leave a violation, that of the complete program the smaller."""
    game = river(unequal(0), pot=2.0, street="half")
    model = QualitativeModel.from_words(game, {"root": "x b x", "b": "f c"}, ORDER)
    forms = build_linear_forms(game, model, model.order or ())
    path, milp = solve_threshold_path(game, forms), solve_threshold_milp(game, forms)
    assert path.slack >= milp.slack - 1e-9
    assert milp.slack > 0.01
    assert path.worst is not None
    assert not solve_model(game, model, "path").solved


def test_path_needs_piecewise_linear_distributions() -> None:
    game = river(deals.from_densities([[(0.0, 0.0), (1.0, 2.0)]] * 2), street="half")
    model = QualitativeModel.from_words(game, BLUFF, ORDER)
    with pytest.raises(InputError, match="piecewise linear"):
        solve_model(game, model, "path")
