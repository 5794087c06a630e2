"""The excessive gap technique against known values and linear programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_games import history_games, public_games
from riverboat.core.errors import InputError, ZeroSumError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import matrix
from riverboat.solvers.exact.egt import CHECK_INTERVAL, EGT, solve_egt
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game


@pytest.mark.parametrize(
    ("spec", "value", "most"),
    [
        ("rps", 0.0, 10),
        ("coin_toss", 0.0, 200),
        ("kuhn", -1 / 18, 300),
        ("kuhn:cards=3,suits=2", -19 / 465, 1000),
        ("clairvoyance:stack=1,chip=0.5", 1 / 4, 1000),
        ("leduc", -0.085606424078, 10_000),
    ],
)
def test_known_values(spec: str, value: float, most: int) -> None:
    egt = solve_egt(compile_game(game_from_spec(spec)), until=1e-4, iterations=most)
    low, high = egt.bracket()
    assert low - 1e-12 <= value <= high + 1e-12
    assert high - low == egt.gap() <= 1e-4
    assert egt.iteration <= most


def test_gap_falls_as_one_over_t() -> None:
    egt = EGT(compile_game(game_from_spec("leduc")), restart=math.inf)
    gaps = []
    for iteration in (30, 300, 3000):
        egt.step(iteration - egt.iteration)
        gaps.append(egt.gap())
    assert gaps[0] > 5 * gaps[1] > 25 * gaps[2]


def test_restarts_reach_many_digits() -> None:
    egt = solve_egt(compile_game(game_from_spec("kuhn")), until=1e-9)
    assert egt.iteration < 10_000
    assert sum(egt.bracket()) / 2 == pytest.approx(-1 / 18, abs=1e-9)


def test_the_gap_never_grows() -> None:
    egt = EGT(compile_game(game_from_spec("leduc:ranks=4,suits=1")))
    gaps = []
    for _ in range(100):
        egt.step(CHECK_INTERVAL)
        gaps.append(egt.gap())
    assert gaps == sorted(gaps, reverse=True)


def test_reading_results_changes_nothing() -> None:
    tree = compile_game(game_from_spec("leduc:ranks=4,suits=1"))
    watched, alone = EGT(tree), EGT(tree)
    for _ in range(101):
        watched.step(3)
        watched.gap()
    alone.step(303)
    for seen, plan in zip(watched.plans, alone.plans, strict=True):
        np.testing.assert_array_equal(seen, plan)


def test_the_condition_bounds_the_gap() -> None:
    """mu_0 max d_0 + mu_1 max d_1 bounds the gap at every step of the first round."""
    egt = EGT(compile_game(game_from_spec("kuhn")), restart=math.inf)
    scale = np.abs(egt.form.histories.payoffs).max()
    ranges = []
    for seat in egt._players:
        limit = np.zeros(seat.plex.sequences)  # largest d below each sequence
        for i in reversed(range(len(seat.plex.parent))):
            moves = slice(seat.plex.first[i], seat.plex.first[i] + seat.plex.width[i])
            limit[seat.plex.parent[i]] += seat.weight[i] * np.log(seat.plex.width[i]) + limit[moves].max()
        ranges.append(limit[0])
    for _ in range(100):
        egt.step()
        low, high = egt.form.bracket(*egt._plan)
        assert (high - low) / scale <= egt._mu[0] * ranges[0] + egt._mu[1] * ranges[1] + 1e-9


def test_smoothed_response_survives_any_mu() -> None:
    egt = EGT(compile_game(game_from_spec("kuhn")))
    seat = egt._players[0]
    gain = seat.payoffs @ egt.form.plan(Strategy.uniform(egt.tree), 1)
    best = egt.form.best_response(0, egt.form.plan(Strategy.uniform(egt.tree), 1))[0] / 2  # the largest payoff is 2
    sharp, flat = seat.respond(gain, 1e-12), seat.respond(gain, 1e12)
    assert np.isfinite(sharp.plan).all()
    assert sharp.value == pytest.approx(best, abs=1e-9)
    np.testing.assert_allclose(flat.plan, egt.form.plan(Strategy.uniform(egt.tree), 0), atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(game=st.one_of(history_games(depth=4), public_games(depth=3)))
def test_random_games(game) -> None:
    tree = compile_game(game)
    egt = solve_egt(tree, until=1e-3, iterations=5000)
    value = solve_lp(tree).value
    low, high = egt.bracket()
    assert low - 1e-9 <= value <= high + 1e-9
    assert egt.gap() <= 1e-3
    E, e = egt.form.constraints(0)
    np.testing.assert_allclose(E @ egt.plans[0], e, atol=1e-9)


def test_average_is_a_strategy_with_that_bracket() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    egt = EGT(tree)
    egt.step(50)
    strategy = egt.average()
    assert strategy.tree is tree
    assert strategy.provenance["iterations"] == 50
    form = SequenceForm(tree)
    assert form.bracket(*form.plans(strategy)) == pytest.approx(egt.bracket(), abs=1e-12)


def test_callback_stops_the_method() -> None:
    seen = []

    def callback(egt: EGT) -> bool:
        seen.append(egt.iteration)
        return egt.iteration >= 30

    egt = solve_egt(compile_game(game_from_spec("kuhn")), until=0.0, callback=callback)
    assert egt.iteration == 30
    assert seen == [10, 20, 30]
    assert solve_egt(compile_game(game_from_spec("kuhn")), until=0.0, iterations=7).iteration == 7


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[3]], [[1, 2, 3]], [[1], [2]], [[1e9, -1e9], [-1e9, 1e9]]])
def test_degenerate_games_end(table: list[list[float]]) -> None:
    egt = solve_egt(compile_game(matrix(table)), until=0.0, iterations=1000)
    scale = np.abs(table).max() or 1.0
    assert egt.gap() <= 1e-9 * scale
    before = egt.iteration
    egt.step(5)
    assert np.isfinite(egt.gap())
    assert egt.iteration >= before


def test_invalid_input() -> None:
    with pytest.raises(ZeroSumError, match="zero-sum"):
        EGT(compile_game(matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])))
    tree = compile_game(game_from_spec("rps"))
    with pytest.raises(InputError, match="restart=1"):
        EGT(tree, restart=1.0)
    with pytest.raises(InputError, match="iterations=-1"):
        solve_egt(tree, iterations=-1)
