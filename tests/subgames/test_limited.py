"""Exact evaluation of depth-limited search, and leaf values, on decks of twelve cards."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.agents.test_search import MENU, base

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.solvers.exact.lp import quasi_perfect
from riverboat.subgames.database.database import EndgameDatabase, sample_reached_streets, solve_rivers
from riverboat.subgames.database.leaves import DatabaseLeafValues, RiverSampler, SampledRiverLeafValues
from riverboat.subgames.depth_limited.leaf_values import FixedLeafValues, LeafValueRegression, leaf_features
from riverboat.subgames.depth_limited.quality import StreetEvaluation
from riverboat.subgames.depth_limited.rollouts import RolloutLeafValues, group_hands
from riverboat.subgames.depth_limited.solver import SHOWDOWN_NODE, BlueprintLeaf, DepthLimitedSolver, has_later_betting
from riverboat.trees.compile import compile_game


@cache
def flop() -> StreetEvaluation:
    return StreetEvaluation.from_blueprint(base().strategy, "cc/", parse_cards("AsKhQh"))


def leaves(seat: int, continuations: tuple[str, ...]) -> RolloutLeafValues:
    street = flop()
    blueprint_leaves = []
    for node in street.street.leaves:
        state = street.street.states[node]
        blueprint_node = (
            street.strategy.tree.find(state.next_street().line) if has_later_betting(state) else SHOWDOWN_NODE
        )
        blueprint_leaves.append(BlueprintLeaf(blueprint_node, float(state.pot)))
    groups = group_hands(street.strategy, street.board, street.hands, 1)
    return RolloutLeafValues.sample(
        street.strategy,
        blueprint_leaves,
        street.board,
        street.hands,
        seat,
        groups=groups,
        runouts=None,
        continuations=continuations,
    )


def test_writing_the_blueprint_changes_nothing() -> None:
    """The blueprint's own street written into its table changes nothing."""
    evaluation, own = flop(), flop().blueprint_strategy()
    assert evaluation.exploitability(evaluation.with_street_strategies([own, own])) == pytest.approx(
        evaluation.exploitability(evaluation.table), rel=1e-5
    )
    assert evaluation.gain_over_blueprint(evaluation.table) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_nested_solutions_reduce_exploitability() -> None:
    """Solving everything is better than solving only later streets, which is better than the blueprint."""
    evaluation = flop()
    solution = evaluation.solve_rest(None, 200)
    solved = evaluation.exploitability(solution)
    assert solved < 1.0
    own = evaluation.blueprint_strategy()
    nested = evaluation.exploitability(evaluation.with_nested_solutions([own, own], 200))
    assert solved < nested < evaluation.exploitability(evaluation.table)


@pytest.mark.slow
def test_predicted_gain_is_realized() -> None:
    """If the opponent follows the blueprint, the searched street gains what its leaf values predict."""
    evaluation, values = flop(), leaves(0, ("blueprint",))
    solver = DepthLimitedSolver(evaluation.street, evaluation.hands, evaluation.ranges, values, 0)
    solver.step(60)
    strategy, continuations = solver.average_strategies()
    own = evaluation.blueprint_strategy()
    mixed = {n: strategy[n] if evaluation.street.states[n].actor == 0 else own[n] for n in strategy}
    predicted = float(solver.ranges[0] @ solver.values(0, mixed, continuations))
    total = float(solver.ranges[0] @ solver.compatible_weights(solver.ranges[1]))
    predicted_gain = 100 * (predicted / total - _self_play(solver, own, continuations, total)) / evaluation.state.pot
    table = evaluation.with_street_strategies([strategy, own])
    assert 2 * evaluation.gain_over_blueprint(table) == pytest.approx(predicted_gain, abs=0.05)


def _self_play(solver: DepthLimitedSolver, own: dict, ways: np.ndarray, total: float) -> float:
    return float(solver.ranges[0] @ solver.values(0, own, ways)) / total


def test_fixed_values_are_exact_for_their_ranges() -> None:
    evaluation, values = flop(), leaves(0, ("blueprint",))
    reach = np.random.default_rng(2).random((2, len(evaluation.street.leaves), len(evaluation.hands)))
    fixed = FixedLeafValues.from_rollouts(values, evaluation.hands, reach)
    np.testing.assert_allclose(fixed.opponent_values(reach), values.opponent_values(reach), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(
        fixed.searcher_values(reach, reach[1][:, None]),
        values.searcher_values(reach, reach[1][:, None]),
        rtol=1e-4,
        atol=1e-2,
    )
    from_empty, full_reach = (
        FixedLeafValues.from_rollouts(values, evaluation.hands, 0 * reach),
        np.ones_like(reach),
    )  # leaves with reach zero
    np.testing.assert_allclose(
        from_empty.opponent_values(full_reach), values.opponent_values(full_reach), rtol=1e-4, atol=1e-2
    )


def test_regression_reproduces_a_linear_target() -> None:
    rng = np.random.default_rng(0)
    inputs = leaf_features(rng.random(400), np.array(0.4), np.array(3.0), 1.0)
    target = inputs @ np.linspace(-1, 1, inputs.shape[1])
    model = LeafValueRegression.fit([inputs], [target], [np.ones(400)])
    np.testing.assert_allclose(model(inputs), target, atol=0.02)


@cache
def turn() -> StreetEvaluation:
    return StreetEvaluation.from_blueprint(base().strategy, "cc/cc/", parse_cards("AsKhQh9s"))


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_sampled_rivers_solve_the_turn(seat: int) -> None:
    """All rivers at every query: CFR on turn and river, so that the street is nearly unexploitable."""
    evaluation = turn()
    states = [evaluation.street.states[node] for node in evaluation.street.leaves]
    leaf_values = SampledRiverLeafValues(
        RiverSampler(states, evaluation.board, evaluation.hands, seat, cards_per_sample=99), MENU
    )
    solver = DepthLimitedSolver(evaluation.street, evaluation.hands, evaluation.ranges, leaf_values, seat)
    solver.step(60)
    strategy = solver.average_strategies()[0]
    own = evaluation.blueprint_strategy()
    nested = evaluation.exploitability(evaluation.with_nested_solutions([strategy, strategy], 200))
    assert nested < 0.1 * evaluation.exploitability(evaluation.with_nested_solutions([own, own], 200))
    assert leaf_values.table_size > 0


def test_database_values_sum_to_the_pot() -> None:
    evaluation = turn()
    source = sample_reached_streets(evaluation.strategy, 5)
    database = EndgameDatabase.from_entries(solve_rivers([next(source) for _ in range(12)], evaluation.strategy))
    states = [evaluation.street.states[node] for node in evaluation.street.leaves]
    reach = np.random.default_rng(3).random((2, len(states), len(evaluation.hands)))
    leaf_values = DatabaseLeafValues(
        RiverSampler(states, evaluation.board, evaluation.hands, 0, cards_per_sample=99), database
    )
    other = leaf_values.opponent_values(reach)[:, 0]
    own = leaf_values.searcher_values(reach, reach[1][:, None])
    pots = np.array([state.pot for state in states], float)
    total = (own * reach[0]).sum(axis=1) + (other * reach[1]).sum(axis=1)
    weight = (leaf_values.compatible_weights(reach[1]) * reach[0]).sum(axis=1)
    np.testing.assert_allclose(total, pots * weight, rtol=1e-5)
    assert leaf_values.num_lookups > 0


def test_hands_of_a_bucket_share_a_strategy() -> None:
    evaluation = turn()
    states = [evaluation.street.states[node] for node in evaluation.street.leaves]
    sampler = RiverSampler(states, evaluation.board, evaluation.hands, 0)
    leaf_values = SampledRiverLeafValues(sampler, MENU, 3)
    rows = sampler.buckets(4)
    solver = DepthLimitedSolver(evaluation.street, evaluation.hands, evaluation.ranges, leaf_values, 0, rows)
    solver.step(6)
    num_actions = sum(len(actions) for actions in evaluation.street.moves)
    assert solver.table_size == 2 * num_actions * 4
    assert {table.shape[1] for river in leaf_values.river_solvers.values() for table in river.regret.values()} == {3}
    assert len(leaf_values.river_solvers) == sum(
        has_later_betting(state) for state in states
    )  # one per leaf, not per card
    for strategy in solver.average_strategies()[0].values():
        for bucket in range(4):
            assert np.ptp(strategy[:, rows[0] == bucket], axis=1).max() < 1e-12
    strongest = np.argmax(sum(sampler.beaten_shares.values()))
    assert rows[0][strongest] == 3


@pytest.mark.parametrize("tremble", [0.0, 0.5, float("nan")])
def test_invalid_trembles(tremble: float) -> None:
    with pytest.raises(InputError, match="tremble"):
        quasi_perfect(compile_game(game_from_spec("kuhn")), tremble)
