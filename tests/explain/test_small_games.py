"""Kuhn and Leduc in rules: exact where the solution is known, with costs by exact best responses."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.explanation import evaluate_rules, explain
from riverboat.explain.small_game_decisions import exploitability_cost, replace_strategy, small_game_decisions
from riverboat.papers.registry import find
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.rule_list import RuleList
from riverboat.strategies.tabular import Strategy


@pytest.fixture(scope="module")
def kuhn() -> Strategy:
    found = rb.solve("kuhn", method="lp").strategy
    assert isinstance(found, Strategy)
    return found


# The second player's equilibrium by Kuhn (1950): probability of betting or calling.
SECOND = {"J:c": 1 / 3, "Q:c": 0, "K:c": 1, "J:r": 0, "Q:r": 1 / 3, "K:r": 1}


def test_the_second_player_of_kuhn_in_four_rules(kuhn: Strategy) -> None:
    decisions = small_game_decisions(kuhn, 1)
    cost = exploitability_cost(kuhn, decisions, 1, -1 / 18)
    explanation = explain(decisions, 4, "list", cost=cost)
    assert len(explanation.rules) == 4
    strategy = explanation.rules.action_probabilities(decisions.columns, decisions.moves, decisions.legal)
    for name, row in zip(decisions.names, strategy, strict=True):
        probabilities = {str(move): p for move, p in zip(decisions.moves, row, strict=True)}
        assert probabilities["raise" if name.endswith(":c") else "call"] == pytest.approx(SECOND[name], abs=1e-9)
    assert explanation.costs["exploitability"] == pytest.approx(0, abs=1e-9)
    assert cost(fidelity.purify_decisions(decisions))["exploitability"] == pytest.approx(
        2 / 9
    )  # it loses 1/6 instead of winning 1/18


def test_hand_written_rules(kuhn: Strategy) -> None:
    """A hand-written list: K bets and calls, Q calls a third, J bluffs a third, the rest passes."""
    decisions = small_game_decisions(kuhn, 1)
    text = """
        if card >= K: raise
        if facing and card >= Q: 33.3333333% call, 66.6666667% fold
        if not facing and card < Q: 33.3333333% raise, 66.6666667% check
        otherwise: fold
    """
    explanation = evaluate_rules(
        RuleList.parse(text, decisions.features), decisions, exploitability_cost(kuhn, decisions, 1, -1 / 18)
    )
    assert explanation.fidelity.distance < 1e-6
    assert explanation.costs["exploitability"] < 1e-6
    assert explanation.fidelity.coverage == pytest.approx(
        2 / 3
    )  # the default decides Q after a check; this equilibrium never faces a bet


def test_replaced_decisions(kuhn: Strategy) -> None:
    decisions = small_game_decisions(kuhn, 1)
    rng = np.random.default_rng(2)
    played = decisions.legal * rng.uniform(0.1, 1, decisions.legal.shape)
    played /= played.sum(axis=1, keepdims=True)
    found = replace_strategy(kuhn, decisions, played, 1)
    again = small_game_decisions(found, 1)
    assert np.abs(again.strategy - played).max() < 1e-12
    assert np.array_equal(*(s.tree.player_tables(s.probabilities)[0] for s in (kuhn, found)))
    best = quality(found).best[0]
    assert exploitability_cost(kuhn, decisions, 1)(played)["exploitability"] == pytest.approx(best + 1 / 18)


def test_weights_are_reach_probabilities(kuhn: Strategy) -> None:
    uniform = Strategy.uniform(kuhn.tree)
    found = small_game_decisions(uniform, 1)
    weight = dict(zip(found.names, found.weight, strict=True))
    assert weight == pytest.approx(dict.fromkeys(SECOND, 1 / 6))
    first = small_game_decisions(uniform, 0)
    by_line = {
        line: sum(w for n, w in zip(first.names, first.weight, strict=True) if n.endswith(line))
        for line in (":", ":cr")
    }
    assert by_line == pytest.approx({":": 4 / 5, ":cr": 1 / 5})  # the second decision comes after a check and a bet


def test_one_line_and_other_games(kuhn: Strategy) -> None:
    assert small_game_decisions(kuhn, 1, "c").names == ("J:c", "Q:c", "K:c")
    with pytest.raises(InputError, match=r"player 1 .*''"):
        small_game_decisions(kuhn, 1, "")
    pennies = rb.solve(rb.matrix([[1, -1], [-1, 1]], name="pennies"), method="lp").strategy
    assert isinstance(pennies, Strategy)
    found = small_game_decisions(pennies, 0)
    assert fidelity.rule_fidelity(found, explain(found, 1, "list").rules).distance < 1e-9
    coins = rb.solve("coin_toss", method="lp").strategy
    assert isinstance(coins, Strategy)
    for player in (0, 1):
        decisions = small_game_decisions(coins, player)
        explanation = explain(decisions, 20, "list", cost=exploitability_cost(coins, decisions, player))
        assert explanation.costs["exploitability"] < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explain-kuhn", "explain-leduc"])
def test_reproductions(name: str) -> None:
    report = find(name).run(False, 0)
    assert report.passes
    assert report.curves
