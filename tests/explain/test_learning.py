"""Rules are learned from what is there: known strategies come back, held-out decisions stay out, dials only get nearer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.decisions import Decisions, joined
from riverboat.explain.explanation import by_worth, edited, explain
from riverboat.explain.rule_learning import METHODS, learn, shortest
from riverboat.strategies.rule_list import CALL, LEVEL, RAISE, SHARE, Condition, Feature, Move, RuleList

EQUITY, DRAW, CLUB = Feature("equity", SHARE), Feature("draw"), Feature("club")
RANK = Feature("rank", LEVEL, levels=("low", "middle", "high"))


def made(
    played: np.ndarray, columns: dict[str, np.ndarray], seed: int = 0, worth: np.ndarray | None = None
) -> Decisions:
    """Decisions to check or to bet; `played` is how often each bets."""
    n = len(played)
    weight = np.random.default_rng(seed).uniform(0.5, 1.5, n)
    features = tuple(f for f in (EQUITY, DRAW, CLUB, RANK) if f.name in columns)
    rows = np.stack([1 - played, played], axis=1)
    names = tuple(f"hand {k}" for k in range(n))
    possible = np.ones((n, 2), bool)
    moves = (Move(CALL), Move(RAISE, 0.5))
    return Decisions(
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
def test_a_threshold_comes_back_exactly(noise: dict[str, np.ndarray], method: str) -> None:
    # A hundredth is what a person keeps in mind, so no hand lies within the one that holds the threshold.
    equity = np.where(abs(noise["equity"] - 0.6) < 0.02, 0.9, noise["equity"])
    found = made((equity >= 0.6).astype(float), noise | {"equity": equity})
    rules = learn(found, [2], method)[2]
    assert len(rules) == 2
    assert rules.needed() == {"equity"}
    assert fidelity.of_rules(found, rules).distance == 0


def test_mixed_play_is_learned_as_a_mix(noise: dict[str, np.ndarray]) -> None:
    found = made(np.where(noise["draw"] > 0, 0.3, 0.9), noise)
    for method in METHODS:
        rules = learn(found, [2], method)[2]
        assert fidelity.of_rules(found, rules).distance == pytest.approx(0, abs=1e-9)
        assert sorted(p for rule in rules.rules for _, p in rule.mix) == pytest.approx([0.1, 0.3, 0.7, 0.9])


def test_a_conjunction_is_one_rule(noise: dict[str, np.ndarray]) -> None:
    """A tree needs three leaves for it."""
    found = made(((noise["draw"] > 0) & (noise["club"] > 0)).astype(float), noise)
    assert fidelity.of_rules(found, learn(found, [2])[2]).distance == 0
    assert fidelity.of_rules(found, learn(found, [2], "tree")[2]).distance > 0


def test_noise_is_not_learned(noise: dict[str, np.ndarray]) -> None:
    """What nobody can foresee is seen on held-out decisions: few rules are kept, and their fidelity there is that of none."""
    rng = np.random.default_rng(5)
    found = made(rng.integers(0, 2, 400).astype(float), noise)
    told = explain(found, 30, dial=(1, 2, 5, 30))
    assert told.unseen is not None
    assert told.seen.rules <= 5
    assert told.unseen.agreement < 0.6
    assert fidelity.of_rules(found, learn(found, [30])[30]).agreement > 0.65  # it could have been learned by heart


def test_the_dial_only_gets_nearer(noise: dict[str, np.ndarray]) -> None:
    found = made(np.clip(noise["equity"] + 0.3 * noise["draw"] - 0.2 * noise["club"], 0, 1), noise)
    error = [
        float(
            found.weight @ ((rules.decide(found.columns, found.moves, found.possible) - found.played) ** 2).sum(axis=1)
        )
        for rules in learn(found, [1, 2, 4, 8, 16]).values()
    ]
    assert error == sorted(error, reverse=True)
    assert error[-1] < 0.2 * error[0]


def test_groups_are_held_out_together(noise: dict[str, np.ndarray]) -> None:
    found = replace(made(noise["draw"], noise), group=np.arange(400) // 8)
    folds = found.folds(5)
    assert all(len(set(folds[found.group == g])) == 1 for g in range(50))
    assert sorted(np.bincount(folds)) == [80] * 5


def test_what_follows_costs(noise: dict[str, np.ndarray]) -> None:
    """Always betting where a check is worth 2 chips more, for the half that should check."""
    bet = (noise["club"] > 0).astype(float)
    worth = np.stack([np.where(bet > 0, 0.0, 2.0), np.zeros(400)], axis=1)
    found = made(bet, noise, worth=worth)
    share = float(found.weight @ (bet == 0))
    always = RuleList.parse("otherwise: bet", found.features)
    measured = edited(always, found).seen
    assert measured.ev_lost == pytest.approx(2 * share)
    assert measured.agreement == pytest.approx(1 - share)
    assert measured.distance == pytest.approx(share)


def test_rules_worth_most_stand_first(noise: dict[str, np.ndarray]) -> None:
    text = "if club and draw: check\nif draw: bet\nif not draw and equity >= 50%: check\notherwise: bet"
    found = made((noise["equity"] < 0.5).astype(float), noise)
    rules = RuleList.parse(text, found.features)
    ordered = by_worth(rules, found)
    assert str(ordered).splitlines()[0] == "if not draw and equity >= 50%: call"
    # What overlaps and differs keeps its order, so nothing is played otherwise.
    same = [one.decide(found.columns, found.moves, found.possible) for one in (rules, ordered)]
    assert np.array_equal(*same)


def test_tests_that_others_imply_go() -> None:
    some = [
        Condition(EQUITY, 0.3),
        Condition(EQUITY, 0.5),
        Condition(EQUITY, 0.9, False),
        Condition(DRAW),
        Condition(DRAW),
    ]
    assert shortest(some) == (Condition(EQUITY, 0.5), Condition(EQUITY, 0.9, False), Condition(DRAW))


def test_joined_tables_keep_their_weight(noise: dict[str, np.ndarray]) -> None:
    first = made(noise["draw"], noise)
    both = joined([first, first.take(noise["draw"] > 0)], "both")
    assert both.weight.sum() == pytest.approx(1)
    assert both.weight[:400].sum() == pytest.approx(0.5)


def test_bad_requests(noise: dict[str, np.ndarray]) -> None:
    found = made(noise["draw"], noise)
    with pytest.raises(InputError, match="at least 1"):
        explain(found, 0)
    with pytest.raises(InputError, match="did you mean 'tree'"):
        explain(found, 3, "trees")
