"""Kuhn and Leduc in rules: exact where that is known, and costs that are exact best responses."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.explanation import edited, explain
from riverboat.explain.small_games import cost_of, replaced, small_decisions
from riverboat.papers.framework import find
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.rule_list import RuleList
from riverboat.strategies.tabular import Strategy


@pytest.fixture(scope="module")
def kuhn() -> Strategy:
    found = rb.solve("kuhn", method="lp").strategy
    assert isinstance(found, Strategy)
    return found


# The second player's equilibrium as Kuhn (1950) has it: rows of the hands J, Q, K.
SECOND = {"J:c": 1 / 3, "Q:c": 0, "K:c": 1, "J:r": 0, "Q:r": 1 / 3, "K:r": 1}


def test_the_second_player_of_kuhn_in_four_rules(kuhn: Strategy) -> None:
    decisions = small_decisions(kuhn, 1)
    cost = cost_of(kuhn, decisions, 1, -1 / 18)
    told = explain(decisions, 4, "list", cost=cost)
    assert len(told.rules) == 4
    played = told.rules.decide(decisions.columns, decisions.moves, decisions.possible)
    for name, row in zip(decisions.names, played, strict=True):
        brave = {str(move): p for move, p in zip(decisions.moves, row, strict=True)}
        assert brave["raise" if name.endswith(":c") else "call"] == pytest.approx(SECOND[name], abs=1e-9)
    assert told.costs["exploitability"] == pytest.approx(0, abs=1e-9)
    assert cost(fidelity.purified(decisions))["exploitability"] == pytest.approx(2 / 9)  # it loses 1/6 and not -1/18


def test_rules_of_the_reference_are_measured_alike(kuhn: Strategy) -> None:
    """The list that a person would write: K bets and calls, Q calls a third, J bluffs a third, the rest passes."""
    decisions = small_decisions(kuhn, 1)
    text = """
        if card >= K: raise
        if facing and card >= Q: 33.3333333% call, 66.6666667% fold
        if not facing and card < Q: 33.3333333% raise, 66.6666667% check
        otherwise: fold
    """
    told = edited(RuleList.parse(text, decisions.features), decisions, cost_of(kuhn, decisions, 1, -1 / 18))
    assert told.seen.distance < 1e-6
    assert told.costs["exploitability"] < 1e-6
    assert told.seen.coverage == pytest.approx(
        2 / 3
    )  # what is left: Q after a check; a bet is never faced in this equilibrium


def test_what_is_replaced_is_played(kuhn: Strategy) -> None:
    decisions = small_decisions(kuhn, 1)
    rng = np.random.default_rng(2)
    played = decisions.possible * rng.uniform(0.1, 1, decisions.possible.shape)
    played /= played.sum(axis=1, keepdims=True)
    found = replaced(kuhn, decisions, played, 1)
    again = small_decisions(found, 1)
    assert np.abs(again.played - played).max() < 1e-12
    assert np.array_equal(*(s.tree.views(s.probabilities)[0] for s in (kuhn, found)))
    best = quality(found).best[0]
    assert cost_of(kuhn, decisions, 1)(played)["exploitability"] == pytest.approx(best + 1 / 18)


def test_weights_are_how_often_sets_come_up(kuhn: Strategy) -> None:
    uniform = Strategy.uniform(kuhn.tree)
    found = small_decisions(uniform, 1)
    weight = dict(zip(found.names, found.weight, strict=True))
    assert weight == pytest.approx(dict.fromkeys(SECOND, 1 / 6))
    first = small_decisions(uniform, 0)
    by_line = {
        line: sum(w for n, w in zip(first.names, first.weight, strict=True) if n.endswith(line))
        for line in (":", ":cr")
    }
    assert by_line == pytest.approx({":": 4 / 5, ":cr": 1 / 5})  # the second decision comes after a check and a bet


def test_one_line_and_other_games(kuhn: Strategy) -> None:
    assert small_decisions(kuhn, 1, "c").names == ("J:c", "Q:c", "K:c")
    with pytest.raises(InputError, match="player 1 does not act at"):
        small_decisions(kuhn, 1, "")
    pennies = rb.solve(rb.matrix([[1, -1], [-1, 1]], name="pennies"), method="lp").strategy
    assert isinstance(pennies, Strategy)
    found = small_decisions(pennies, 0)
    assert fidelity.of_rules(found, explain(found, 1, "list").rules).distance < 1e-9
    coins = rb.solve("coin_toss", method="lp").strategy
    assert isinstance(coins, Strategy)
    for player in (0, 1):
        decisions = small_decisions(coins, player)
        told = explain(decisions, 20, "list", cost=cost_of(coins, decisions, player))
        assert told.costs["exploitability"] < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explain-kuhn", "explain-leduc"])
def test_reproductions(name: str) -> None:
    report = find(name).run(False, 0)
    assert report.fine
    assert report.curves
