"""Restricted Nash responses, by linear program and as a tree."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.opponents.safe_responses import (
    restricted_game,
    restricted_nash,
    restricted_nash_curve,
    safe_response,
    value_of_game,
)
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree


def random_strategy(tree: object, seed: int) -> Strategy:
    table = tree.table_size  # type: ignore[attr-defined]
    return Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=table))  # type: ignore[arg-type]


@pytest.mark.parametrize("game", ["kuhn", "rpst", "coin_toss", "leduc"])
@pytest.mark.parametrize("opponent", [0, 1])
def test_tree_and_program_agree(game: str, opponent: int) -> None:
    """The value of the restricted game is p × gain + (1 - p) × guarantee of the response."""
    tree = compile_game(game_from_spec(game))
    form, strategy = SequenceForm(tree), random_strategy(tree, 1)
    player = 1 - opponent
    for p in (0.0, 0.3, 0.9, 1.0):
        found = restricted_nash(form, player, form.plan(strategy, opponent), p)
        restricted = restricted_game(strategy, opponent, p)
        value = solve_lp(restricted).value * (1 if player == 0 else -1)
        assert value == pytest.approx(p * found.gain + (1 - p) * found.guaranteed_value, abs=1e-7)


def test_cfr_on_the_restricted_game() -> None:
    """Any solver accepts the restricted game, and its table fits the histories of the game."""
    tree = compile_game(game_from_spec("kuhn"))
    strategy = random_strategy(tree, 2)
    form = SequenceForm(tree)
    restricted = restricted_game(strategy, 1, 0.5)
    assert restricted.table_size == to_history_tree(tree).table_size
    assert [i.name for i in restricted.infosets()] == [i.name for i in to_history_tree(tree).infosets()]
    solver = CFR(restricted, "dcfr")
    solver.step(3000)
    found = restricted_nash(form, 0, form.plan(strategy, 1), 0.5)
    low, high = solver.quality().bracket
    assert low - 1e-3 < 0.5 * (found.gain + found.guaranteed_value) < high + 1e-3
    assert high - low < 2e-3


@pytest.mark.parametrize("player", [0, 1])
def test_trade_off(player: int) -> None:
    """From the best equilibrium strategy to the best response, with both sides monotone."""
    tree = compile_game(game_from_spec("leduc"))
    form = SequenceForm(tree)
    model = form.plan(random_strategy(tree, 3), 1 - player)
    found = restricted_nash_curve(form, player, model, np.linspace(0, 1, 9))
    assert found.exploitability[0] == pytest.approx(0, abs=1e-7)
    assert found.gain[0] == pytest.approx(safe_response(form, player, model, 0.0).gain, abs=1e-7)
    assert found.gain[-1] == pytest.approx(form.best_response(player, model)[0], abs=1e-9)
    assert np.all(np.diff(found.gain) > -1e-7)
    assert np.all(np.diff(found.exploitability) > -1e-7)
    # Pareto optimality: each response is the ε-safe best response for its own exploitability.
    game_value = value_of_game(form, player)
    for gain, cost in zip(found.gain[1:-1], found.exploitability[1:-1], strict=True):
        assert safe_response(form, player, model, max(cost, 0.0) + 1e-9, game_value).gain == pytest.approx(
            gain, abs=1e-6
        )


def test_invalid_input() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    form, strategy = SequenceForm(tree), Strategy.uniform(tree)
    with pytest.raises(InputError, match=r"p=1\.5"):
        restricted_nash(form, 0, form.plan(strategy, 1), 1.5)
    with pytest.raises(InputError, match="p=-1"):
        restricted_game(strategy, 1, -1)
    with pytest.raises(InputError, match="player 2"):
        restricted_game(strategy, 2, 0.5)
