"""Sentences of rules, examples and exceptions."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.explain.decisions import DecisionTable
from riverboat.explain.text import describe_rules, describe_size, rule_sentence
from riverboat.strategies.features import HOLDEM_FEATURES, RANGE_FEATURES
from riverboat.strategies.rule_list import CALL, FOLD, RAISE, RuleAction, RuleList

FEATURES = HOLDEM_FEATURES + RANGE_FEATURES
MOVES = (RuleAction(FOLD), RuleAction(CALL), RuleAction(RAISE, 0.52))


def decisions(faced: list[bool]) -> DecisionTable:
    n = len(faced)
    possible = np.array([[f, True, True] for f in faced])
    played = np.array([[0.0, 1.0, 0.0]] * n)
    columns = {f.name: np.arange(n, dtype=float) for f in FEATURES}
    names = tuple(f"hand {k}" for k in range(n))
    return DecisionTable("test", FEATURES, columns, MOVES, possible, played, np.full(n, 1 / n), names, np.arange(n))


@pytest.mark.parametrize(
    ("rule", "faced", "words"),
    [
        ("if made >= top pair: raise 0.52 pot", [False], "Bet half the pot with top pair or better."),
        ("if made >= top pair: raise 0.52 pot", [True], "Raise half the pot with top pair or better."),
        ("if made < top pair: call", [False, True], "Check or call with pair below top or worse."),
        ("if paired and flush draw: 60% raise 0.33 pot, 40% check", [False],
         "On a paired board, with a flush draw, bet a third of the pot 60 % of the time, else check."),
        ("if facing and made >= second pair and made < overpair: call", [True],
         "Facing a bet, call with second pair to top pair."),
        ("if equity < 45% and not draw: fold", [True], "Fold with less than 45 % equity against their range and no draw."),
        ("if street >= river and suits >= three of a suit: all-in", [False],
         "On the river, on a board with three of a suit or better, go all-in."),
        ("if kicker >= T: call", [True], "Call with a kicker of T or higher."),
        ("otherwise: 20% raise 0.52 pot, 30% fold, 50% call", [True],
         "With everything else, call 50 % of the time, fold 30 % of the time and raise half the pot 20 % of the time."),
    ],
)  # fmt: skip
def test_sentences(rule: str, faced: list[bool], words: str) -> None:
    rules = RuleList.parse(rule if rule.startswith("otherwise") else f"{rule}\notherwise: fold", FEATURES)
    assert rule_sentence(rules.rules[0], decisions(faced), np.arange(len(faced))) == words


def test_sizes() -> None:
    assert describe_size(0.5) == "half the pot"
    assert describe_size(0.9) == "90 % of the pot"


def test_examples_and_exceptions() -> None:
    """Examples agree with the rule, exceptions are far from it; most frequent first."""
    found = decisions([False] * 6)
    found.strategy[4:] = [0.0, 0.0, 1.0]
    found.weight[:] = np.array([1, 2, 3, 4, 5, 6]) / 21
    (text,) = describe_rules(found, RuleList.parse("otherwise: check", FEATURES))
    assert text.examples == ("hand 3", "hand 2", "hand 1")
    assert text.exceptions == ("hand 5 (bet half the pot)", "hand 4 (bet half the pot)")
    assert text.agreement == pytest.approx(10 / 21)
    assert text.sentence == "Always, check."
