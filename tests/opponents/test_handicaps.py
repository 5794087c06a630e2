"""Handicaps of actions that a blueprint does not play: sampling noise alone must not replace them."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.opponents import responses
from riverboat.opponents.models.tree import BucketReach, strategy_tables
from riverboat.opponents.responses import (
    ModelResponder,
    _payoff_deviations,
    initial_handicaps,
    node_reach,
    strategy_distance,
    tree_levels,
)
from riverboat.opponents.risk import expected_gain
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint


@pytest.fixture(scope="module")
def leduc() -> Blueprint:
    return random_blueprint("leduc", seed=4)


def test_node_reach_equals_bucket_sums(leduc: Blueprint) -> None:
    """All nodes at once, against the path to each of them."""
    tables = strategy_tables(leduc)
    weights = BucketReach(leduc.tree, leduc.cards, tables)
    for seat in (0, 1):
        sums = [weights.reach(node, seat).sum() for node in range(len(leduc.tree))]
        np.testing.assert_allclose(node_reach(leduc.tree, leduc.cards, tables, seat), sums, rtol=1e-12)
    assert sorted(np.concatenate(tree_levels(leduc.tree)).tolist()) == list(range(len(leduc.tree)))


def test_distance_is_the_mean_total_variation(leduc: Blueprint) -> None:
    """Node by node: reach, times the total variation of each bucket's strategy."""
    other = random_blueprint("leduc", seed=5)
    tree, base_tables, model_tables = leduc.tree, strategy_tables(leduc), strategy_tables(other)
    for seat in (0, 1):
        reach = node_reach(tree, leduc.cards, base_tables, 1 - seat)
        assert strategy_distance(tree, leduc.cards, base_tables, base_tables, seat, reach) == 0
        weights, total, distance = BucketReach(tree, leduc.cards, model_tables), 0.0, 0.0
        for node in np.flatnonzero(tree.actor == seat).tolist():
            street, slot, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
            bucket_reach = weights.reach(node, seat) * reach[node]
            total += bucket_reach.sum()
            for bucket, share in enumerate(bucket_reach):
                rows = (
                    base_tables[street][bucket, slot : slot + count],
                    model_tables[street][bucket, slot : slot + count],
                )
                distance += share * (1 - np.minimum(*rows).sum())
        assert strategy_distance(tree, leduc.cards, base_tables, model_tables, seat, reach) == pytest.approx(
            distance / total
        )


def test_deviations_are_root_mean_squares_of_payoffs(leduc: Blueprint) -> None:
    """At the root: squared payoffs of all terminals, weighted by reach."""
    tree, tables = leduc.tree, strategy_tables(leduc)
    reach = np.stack([node_reach(tree, leduc.cards, tables, seat) for seat in (0, 1)], axis=1)
    terminals = np.flatnonzero(tree.actor < 0)
    probability = reach[terminals].prod(axis=1)
    assert probability.sum() == pytest.approx(1.0)
    expected = np.sqrt(probability @ tree.payoff[terminals].astype(float) ** 2)
    assert _payoff_deviations(tree, reach)[0] == pytest.approx(expected)


def test_handicaps_follow_stakes_and_base_probabilities(leduc: Blueprint) -> None:
    tree, tables = leduc.tree, strategy_tables(leduc)
    reach = [node_reach(tree, leduc.cards, tables, seat) for seat in (0, 1)]
    deviation = _payoff_deviations(tree, np.stack(reach, axis=1))
    for seat in (0, 1):
        handicaps = initial_handicaps(tree, leduc.cards, tables, reach[seat], reach[1 - seat], seat)
        for node in np.flatnonzero(tree.actor == seat).tolist():
            street, slot, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
            row, shares = handicaps[street][0, slot : slot + count], tables[street][0, slot : slot + count]
            rms = deviation[list(tree.children(node))]
            expected = shares * (shares @ rms) - (1 - shares) * rms
            visits = row[0] / expected[0]
            assert visits > 0
            np.testing.assert_allclose(row, visits * expected, rtol=1e-4)


def test_response_to_the_base_does_not_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few iterations against a strong strategy: without handicaps, sampling noise determines the response."""
    rules = read_game("leduc")
    solver = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck), seed=1)
    solver.step(200_000)
    averages = tuple(solver.averages(street) for street in range(rules.rounds))
    base = Blueprint(rules, None, solver.tree, solver.cards, averages)
    monkeypatch.setattr(responses, "NUM_ROUNDS", 4)

    def mean_gain() -> float:
        responders = [ModelResponder(base, seed=2 * k) for k in range(8)]
        for responder in responders:
            responder.improve(base, 256)
        return float(np.mean([expected_gain(responder.strategy(), base) for responder in responders]))

    assert mean_gain() > -0.01
    monkeypatch.setattr(responses, "HANDICAP_DEVIATIONS", 0.0)  # as against an opponent far from the blueprint
    assert mean_gain() < -0.05
