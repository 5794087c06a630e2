"""Rule learning: known strategies are recovered, held-out decisions stay out, and longer lists are never worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.decisions import DecisionTable, concatenate_decisions
from riverboat.explain.explanation import evaluate_rules, explain, sort_by_value
from riverboat.explain.rule_learning import METHODS, learn_rules, remove_implied_tests
from riverboat.strategies.rule_list import (
    CALL,
    LEVEL,
    RAISE,
    SHARE,
    DecisionFeature,
    FeatureCondition,
    RuleAction,
    RuleList,
)

EQUITY, DRAW, CLUB = DecisionFeature("equity", SHARE), DecisionFeature("draw"), DecisionFeature("club")
RANK = DecisionFeature("rank", LEVEL, levels=("low", "middle", "high"))


def made(
    played: np.ndarray, columns: dict[str, np.ndarray], seed: int = 0, worth: np.ndarray | None = None
) -> DecisionTable:
    """Return decisions to check or to bet; `played` is the frequency of betting."""
    n = len(played)
    weight = np.random.default_rng(seed).uniform(0.5, 1.5, n)
    features = tuple(f for f in (EQUITY, DRAW, CLUB, RANK) if f.name in columns)
    rows = np.stack([1 - played, played], axis=1)
    names = tuple(f"hand {k}" for k in range(n))
    possible = np.ones((n, 2), bool)
    moves = (RuleAction(CALL), RuleAction(RAISE, 0.5))
    return DecisionTable(
        "test", features, columns, moves, possible, rows, weight / weight.sum(), names, np.arange(n), worth, "chips"
    )


@pytest.fixture
def noise() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "equity": rng.uniform(0, 1, 400),
        "draw": (rng.uniform(0, 1, 400) < 0.3).astype(float),
        "club": (rng.uniform(0, 1, 400) < 0.5).astype(float),
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_threshold_is_recovered_exactly(noise: dict[str, np.ndarray], method: str) -> None:
    # Thresholds are rounded to hundredths, so no hand lies near the threshold.
    equity = np.where(abs(noise["equity"] - 0.6) < 0.02, 0.9, noise["equity"])
    found = made((equity >= 0.6).astype(float), noise | {"equity": equity})
    rules = learn_rules(found, [2], method)[2]
    assert len(rules) == 2
    assert rules.tested_features() == {"equity"}
    assert fidelity.rule_fidelity(found, rules).distance == 0


def test_mixed_strategies_are_learned_as_mixes(noise: dict[str, np.ndarray]) -> None:
    found = made(np.where(noise["draw"] > 0, 0.3, 0.9), noise)
    for method in METHODS:
        rules = learn_rules(found, [2], method)[2]
        assert fidelity.rule_fidelity(found, rules).distance == pytest.approx(0, abs=1e-9)
        assert sorted(p for rule in rules.rules for _, p in rule.mix) == pytest.approx([0.1, 0.3, 0.7, 0.9])


def test_a_conjunction_is_one_rule(noise: dict[str, np.ndarray]) -> None:
    """A tree needs three leaves for a conjunction."""
    found = made(((noise["draw"] > 0) & (noise["club"] > 0)).astype(float), noise)
    assert fidelity.rule_fidelity(found, learn_rules(found, [2])[2]).distance == 0
    assert fidelity.rule_fidelity(found, learn_rules(found, [2], "tree")[2]).distance > 0


def test_noise_is_not_learned(noise: dict[str, np.ndarray]) -> None:
    """Cross-validation detects noise: the explanation has few rules, and its held-out fidelity is that of chance."""
    rng = np.random.default_rng(5)
    found = made(rng.integers(0, 2, 400).astype(float), noise)
    explanation = explain(found, 30, rule_counts=(1, 2, 5, 30))
    assert explanation.held_out_fidelity is not None
    assert explanation.fidelity.rules <= 5
    assert explanation.held_out_fidelity.agreement < 0.6
    assert fidelity.rule_fidelity(found, learn_rules(found, [30])[30]).agreement > 0.65  # a long list fits the noise


def test_longer_lists_have_smaller_errors(noise: dict[str, np.ndarray]) -> None:
    found = made(np.clip(noise["equity"] + 0.3 * noise["draw"] - 0.2 * noise["club"], 0, 1), noise)
    error = [
        float(
            found.weight
            @ ((rules.action_probabilities(found.columns, found.moves, found.legal) - found.strategy) ** 2).sum(axis=1)
        )
        for rules in learn_rules(found, [1, 2, 4, 8, 16]).values()
    ]
    assert error == sorted(error, reverse=True)
    assert error[-1] < 0.2 * error[0]


def test_groups_are_held_out_together(noise: dict[str, np.ndarray]) -> None:
    found = replace(made(noise["draw"], noise), group=np.arange(400) // 8)
    folds = found.cross_validation_folds(5)
    assert all(len(set(folds[found.group == g])) == 1 for g in range(50))
    assert sorted(np.bincount(folds)) == [80] * 5


def test_ev_lost(noise: dict[str, np.ndarray]) -> None:
    """Always betting loses 2 chips for the half that should check."""
    bet = (noise["club"] > 0).astype(float)
    worth = np.stack([np.where(bet > 0, 0.0, 2.0), np.zeros(400)], axis=1)
    found = made(bet, noise, worth=worth)
    share = float(found.weight @ (bet == 0))
    always = RuleList.parse("otherwise: bet", found.features)
    measured = evaluate_rules(always, found).fidelity
    assert measured.ev_lost == pytest.approx(2 * share)
    assert measured.agreement == pytest.approx(1 - share)
    assert measured.distance == pytest.approx(share)


def test_most_valuable_rules_come_first(noise: dict[str, np.ndarray]) -> None:
    text = "if club and draw: check\nif draw: bet\nif not draw and equity >= 50%: check\notherwise: bet"
    found = made((noise["equity"] < 0.5).astype(float), noise)
    rules = RuleList.parse(text, found.features)
    ordered = sort_by_value(rules, found)
    assert str(ordered).splitlines()[0] == "if not draw and equity >= 50%: call"
    # Overlapping rules with different mixes keep their order, so the strategy does not change.
    same = [rule_list.action_probabilities(found.columns, found.moves, found.legal) for rule_list in (rules, ordered)]
    assert np.array_equal(*same)


def test_implied_tests_are_removed() -> None:
    tests = [
        FeatureCondition(EQUITY, 0.3),
        FeatureCondition(EQUITY, 0.5),
        FeatureCondition(EQUITY, 0.9, False),
        FeatureCondition(DRAW),
        FeatureCondition(DRAW),
    ]
    assert remove_implied_tests(tests) == (
        FeatureCondition(EQUITY, 0.5),
        FeatureCondition(EQUITY, 0.9, False),
        FeatureCondition(DRAW),
    )


def test_concatenated_tables_keep_their_weight(noise: dict[str, np.ndarray]) -> None:
    first = made(noise["draw"], noise)
    both = concatenate_decisions([first, first.take(noise["draw"] > 0)], "both")
    assert both.weight.sum() == pytest.approx(1)
    assert both.weight[:400].sum() == pytest.approx(0.5)


def test_invalid_arguments(noise: dict[str, np.ndarray]) -> None:
    found = made(noise["draw"], noise)
    with pytest.raises(InputError, match=r"^0 rules"):
        explain(found, 0)
    with pytest.raises(InputError, match=r"'trees'.*'tree'"):
        explain(found, 3, "trees")
