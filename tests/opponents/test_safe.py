"""ε-safe best responses, vertices of plans, and gifts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_games import history_games
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import Array, HistoryGame
from riverboat.games.small.normal_form import matrix, rock_paper_scissors, rpst
from riverboat.games.small.poker import kuhn, leduc
from riverboat.opponents.safe_responses import (
    enumerate_vertices,
    gift_value,
    guarantee,
    guaranteed_earnings,
    maximize_response,
    safe_response,
    value_of_game,
)
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

KUHN = SequenceForm(compile_game(kuhn()))
VALUE = -1 / 18  # Kuhn 1950


def random_plan(form: SequenceForm, player: int, rng: np.random.Generator) -> Array:
    return form.plan(Strategy.from_sums(form.tree, rng.exponential(size=form.tree.table_size)), player)


def test_values() -> None:
    """The program without a model is that of `solve_lp`."""
    assert value_of_game(KUHN, 0) == pytest.approx(VALUE, abs=1e-9)
    assert value_of_game(KUHN, 1) == pytest.approx(-VALUE, abs=1e-9)
    form = SequenceForm(compile_game(leduc()))
    assert value_of_game(form, 0) == pytest.approx(-0.085606424078, abs=1e-9)  # docs/algorithms/sequence-form-lp.md


@pytest.mark.parametrize("player", [0, 1])
def test_from_equilibrium_to_best_response(player: int) -> None:
    """The gain is concave in ε, from the best equilibrium strategy to the best response."""
    game_value = value_of_game(KUHN, player)
    model = random_plan(KUHN, 1 - player, np.random.default_rng(0))
    epsilons = np.linspace(0, 0.6, 25)
    found = [safe_response(KUHN, player, model, float(e), game_value) for e in epsilons]
    gains = np.array([r.gain for r in found])
    for e, r in zip(epsilons, found, strict=True):
        assert r.guaranteed_value >= game_value - e - 1e-9
        assert r.gain == pytest.approx(float(r.plan @ (KUHN.payoffs[player] @ model)))
    assert gains[0] > game_value
    assert gains[-1] == pytest.approx(KUHN.best_response(player, model)[0])
    assert np.all(np.diff(gains) > -1e-9)
    assert np.all(np.diff(gains, 2) < 1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), player=st.integers(0, 1), epsilon=st.floats(0, 0.5))
def test_vertices_and_programs_agree(seed: int, player: int, epsilon: float) -> None:
    """Player 0's vertices in Kuhn give the optimum of HiGHS; player 1's are tested in matrix games."""
    rng = np.random.default_rng(seed)
    if player == 0:
        form = KUHN
    else:
        form = SequenceForm(compile_game(matrix(rng.integers(-4, 5, (3, 4)))))
    vertices = enumerate_vertices(form, player)
    model = random_plan(form, 1 - player, rng)
    plan = vertices.respond(model, epsilon)
    program = safe_response(form, player, model, epsilon)
    assert vertices.value == pytest.approx(value_of_game(form, player), abs=1e-9)
    assert float(plan @ (form.payoffs[player] @ model)) == pytest.approx(program.gain, abs=1e-7)
    assert guarantee(form, player, plan) >= vertices.value - epsilon - 1e-9
    np.testing.assert_allclose([guarantee(form, player, p) for p in vertices.plans], vertices.guarantees, atol=1e-12)


def test_kuhn_vertices() -> None:
    """Player 0's equilibria are a segment between two vertices: jacks bet with α from 0 to 1/3 (Kuhn 1950)."""
    vertices = enumerate_vertices(KUHN, 0)
    jack = KUHN.histories.infoset("J:")
    column = KUHN.treeplexes[0].table_index.tolist().index(jack.offset + 1)
    best = vertices.plans[vertices.guarantees > vertices.value - 1e-9, column]
    np.testing.assert_allclose(sorted(best), [0, 1 / 3], atol=1e-12)
    assert vertices.plans[vertices.most_aggressive_equilibrium, column] == pytest.approx(1 / 3)


def test_preference() -> None:
    """Ties go to the preferred vertex: against the equilibrium all plans without errors are equal."""
    vertices = enumerate_vertices(KUHN, 0)
    model = solve_lp(KUHN.tree).plans[1]
    bold, shy = (vertices.respond(model, 1.0, sign * vertices.aggression) for sign in (1, -1))
    for plan in (bold, shy):
        assert float(plan @ (KUHN.matrix @ model)) == pytest.approx(VALUE, abs=1e-9)
    jack = KUHN.treeplexes[0].table_index.tolist().index(KUHN.histories.infoset("J:").offset + 1)
    assert bold[jack] == 1
    assert shy[jack] == 0


@settings(max_examples=30, deadline=None)
@given(game=history_games(depth=4), seed=st.integers(0, 2**32 - 1))
def test_random_games(game: HistoryGame, seed: int) -> None:
    """Safe, at least as good as any equilibrium strategy, and at most the best response."""
    form = SequenceForm(compile_game(game))
    rng = np.random.default_rng(seed)
    model = random_plan(form, 1, rng)
    game_value = value_of_game(form, 0)
    found = safe_response(form, 0, model, 0.1, game_value)
    assert found.guaranteed_value >= game_value - 0.1 - 1e-7
    assert found.gain >= safe_response(form, 0, model, 0.0, game_value).gain - 1e-7
    assert found.gain <= form.best_response(0, model)[0] + 1e-9


def test_guaranteed_earnings() -> None:
    """No observations: the worst case. All observations: the payoff itself. More observations: never less."""
    form = SequenceForm(compile_game(leduc()))
    rng = np.random.default_rng(3)
    plan = random_plan(form, 0, rng)
    worst = guarantee(form, 0, plan)
    assert guaranteed_earnings(form, 0, plan, []) == pytest.approx(worst)
    plex = form.treeplexes[1]
    pure = plex.first + rng.integers(0, plex.width)
    behaviour = np.zeros(plex.sequences)
    behaviour[0] = 1.0
    behaviour[pure] = 1.0
    opponent_plan = np.ones(plex.sequences)
    for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
        opponent_plan[first : first + width] = opponent_plan[parent] * behaviour[first : first + width]
    assert guaranteed_earnings(form, 0, plan, pure) == pytest.approx(form.value(plan, opponent_plan))
    last = worst
    for count in (1, 5, 50, len(pure)):
        earnings = guaranteed_earnings(form, 0, plan, pure[-count:])
        assert earnings >= last - 1e-12
        last = earnings


def test_mean_gift_in_kuhn() -> None:
    """Against an equilibrium strategy a random opponent gives up about 0.03 per hand that can be proved."""
    plan = solve_lp(KUHN.tree).plans[0]
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(300):
        y = random_plan(KUHN, 1, rng)
        # Weighted by chance and own reach: the deal selects the opponent's information set, y its action.
        n = KUHN.histories.nodes
        last, reach = KUHN.histories.last_sequence, KUHN.histories.chance_reach
        for end in np.flatnonzero(n.actor == -2):
            probability = reach[end] * plan[last[end, 0]] * y[last[end, 1]]
            if probability > 0:
                total += probability * (guaranteed_earnings(KUHN, 0, plan, [int(last[end, 1])]) - VALUE) / 300
    assert 0.02 < total < 0.05


def test_gift_values() -> None:
    """Toothpick: 10/3 (Ganzfried & Sandholm 2012, Figure 9). Rock, paper and scissors are not gifts."""
    form = SequenceForm(compile_game(rpst()))
    plans = np.concatenate([np.ones((4, 1)), np.eye(4)], axis=1)
    np.testing.assert_allclose([gift_value(form, 0, y) for y in plans], [0, 0, 0, 10 / 3], atol=1e-9)
    plain = SequenceForm(compile_game(rock_paper_scissors()))
    assert max(gift_value(plain, 0, y[:4]) for y in plans[:3]) == pytest.approx(0, abs=1e-9)


def test_invalid_input() -> None:
    model = random_plan(KUHN, 1, np.random.default_rng(0))
    with pytest.raises(InputError, match="epsilon=-1"):
        safe_response(KUHN, 0, model, -1.0)
    with pytest.raises(InputError, match=r"model .*\(12,\)"):
        maximize_response(KUHN, 0, model[:-1])
    with pytest.raises(InputError, match="weight=2"):
        maximize_response(KUHN, 0, model, weight=2.0)
    with pytest.raises(RiverboatError, match=r"player 0 .*5"):
        maximize_response(KUHN, 0, model, floor=5.0)
    with pytest.raises(InputError, match=r"player 0 .*safe_response"):
        enumerate_vertices(KUHN, 1)
    with pytest.raises(InputError, match="safe_response"):
        enumerate_vertices(SequenceForm(compile_game(matrix(np.eye(14)))), 0)
    with pytest.raises(InputError, match="epsilon=nan"):
        enumerate_vertices(KUHN, 0).respond(model, float("nan"))
