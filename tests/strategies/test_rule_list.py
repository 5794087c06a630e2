"""Rule lists: round trip of texts, precedence, and substitutes of illegal actions."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.strategies.rule_list import (
    CALL,
    CHOICE,
    FOLD,
    LEVEL,
    NUMBER,
    OTHER,
    RAISE,
    SHARE,
    DecisionFeature,
    DecisionRule,
    FeatureCondition,
    RuleAction,
    RuleList,
    parse_move,
    replace_illegal_moves,
)

FEATURES = (
    DecisionFeature("facing"),
    DecisionFeature("made", LEVEL, levels=("high card", "pair", "two pair")),
    DecisionFeature("equity", SHARE),
    DecisionFeature("raises", NUMBER),
    DecisionFeature("hand", CHOICE, levels=("J", "Q", "K")),
)
TEXT = """
# rules for beginners
if facing and made >= two pair: 30% raise 1 pot, 70% call
if not facing and equity >= 55%: all-in     # brave
if raises < 2 and hand is not K: fold
otherwise: check
"""


def conditions() -> st.SearchStrategy[FeatureCondition]:
    values = {
        "facing": st.just(0.5),
        "made": st.integers(0, 2).map(float),
        "equity": st.integers(0, 100).map(lambda k: k / 100),
        "raises": st.integers(0, 9).map(float),
        "hand": st.integers(0, 2).map(float),
    }
    return st.sampled_from(FEATURES).flatmap(
        lambda f: st.builds(FeatureCondition, st.just(f), values[f.name], st.booleans())
    )


def mixes() -> st.SearchStrategy[tuple[tuple[RuleAction, float], ...]]:
    moves = st.sampled_from(
        [
            RuleAction(FOLD),
            RuleAction(CALL),
            RuleAction(RAISE),
            RuleAction(RAISE, 0.75),
            RuleAction(RAISE, inf),
            RuleAction(OTHER, 0, "left"),
        ]
    )
    parts = st.lists(st.tuples(moves, st.integers(1, 9)), min_size=1, max_size=3, unique_by=lambda part: part[0])
    return parts.map(lambda some: tuple((m, w / sum(w for _, w in some)) for m, w in some))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.lists(conditions(), min_size=1, max_size=3).map(tuple), mixes()), max_size=4), mixes())
def test_text_round_trip(
    rules: list[tuple[tuple[FeatureCondition, ...], tuple[tuple[RuleAction, float], ...]]],
    last: tuple[tuple[RuleAction, float], ...],
) -> None:
    written = RuleList(FEATURES, (*(DecisionRule(*rule) for rule in rules), DecisionRule((), last)))
    again = RuleList.parse(str(written), FEATURES)
    assert [rule.tests for rule in again.rules] == [rule.tests for rule in written.rules]
    for old, new in zip(written.rules, again.rules, strict=True):
        assert [m for m, _ in old.mix] == [m for m, _ in new.mix]
        assert [p for _, p in new.mix] == pytest.approx([p for _, p in old.mix], abs=1e-6)


def test_the_first_rule_that_holds_decides() -> None:
    rules = RuleList.parse(TEXT, FEATURES)
    columns = {
        "facing": np.array([1.0, 0.0, 1.0, 1.0]),
        "made": np.array([2.0, 0.0, 1.0, 0.0]),
        "equity": np.array([0.9, 0.55, 0.2, 0.2]),
        "raises": np.array([1.0, 0.0, 1.0, 1.0]),
        "hand": np.array([2.0, 2.0, 0.0, 2.0]),
    }
    assert rules.deciding_rules(columns, 4).tolist() == [0, 1, 2, 3]
    moves = (RuleAction(FOLD), RuleAction(CALL), RuleAction(RAISE, 1.0), RuleAction(RAISE, inf))
    played = rules.action_probabilities(columns, moves, np.ones((4, 4), bool))
    assert played.tolist() == [[0, 0.7, 0.3, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    # Both of the first rule's tests; one of it and both of the second; …
    assert rules.num_tests_evaluated(columns, 4).tolist() == [2, 3, 5, 5]


def test_illegal_actions_are_replaced() -> None:
    moves = (RuleAction(FOLD), RuleAction(CALL), RuleAction(RAISE, 0.5), RuleAction(RAISE, 2.0))
    mix = np.array([[0.4, 0.1, 0.2, 0.3]] * 3)
    able = np.array([[0, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 1]], bool)
    assert replace_illegal_moves(mix, moves, able) == pytest.approx(
        np.array([[0, 0.5, 0.2, 0.3], [0.4, 0.6, 0, 0], [0.4, 0.1, 0, 0.5]])
    )
    others = (RuleAction(OTHER, 0, "left"), RuleAction(OTHER, 0, "right"))
    assert replace_illegal_moves(np.array([[1.0, 0.0]]), others, np.array([[False, True]])).tolist() == [[0, 1]]


def test_missing_sizes_map_to_the_nearest() -> None:
    rules = RuleList.parse("otherwise: raise 0.6 pot", FEATURES)
    moves = (RuleAction(CALL), RuleAction(RAISE, 0.5), RuleAction(RAISE, 2.0))
    assert rules.action_mixes(moves).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if facing: call", "'otherwise: check'"),
        ("", "'otherwise: check'"),
        ("otherwise: call\nif facing: fold\notherwise: fold", "line 2"),
        ("if fcing: call\notherwise: fold", "'facing'"),
        ("if made >= two pairs: call\notherwise: fold", "'two pair'"),
        ("if made is pair: call\notherwise: fold", "'made >= …'"),
        ("if facing >= 1: call\notherwise: fold", "'facing >= 1'"),
        ("if equity >= much: call\notherwise: fold", "'much'"),
        ("otherwise: 50% call, 20% fold", "70 %"),
        ("otherwise: call, fold", "'call, fold'"),
        ("otherwise: raise 3", "raise 0.75 pot"),
        ("call", "'otherwise: MOVE'"),
    ],
)
def test_errors_name_the_mistake(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        RuleList.parse(text, FEATURES)
    assert words in str(error.value)


def test_action_names() -> None:
    assert parse_move("check") == parse_move("call") == RuleAction(CALL)
    assert parse_move("bet 0.33 pot") == RuleAction(RAISE, 0.33)
    assert parse_move("left") == RuleAction(OTHER, 0.0, "left")
