"""Rule lists: text that prints back, first rule that holds, moves that stand in for others."""

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
    Condition,
    Feature,
    Move,
    Rule,
    RuleList,
    parse_move,
    stand_in,
)

FEATURES = (
    Feature("facing"),
    Feature("made", LEVEL, levels=("high card", "pair", "two pair")),
    Feature("equity", SHARE),
    Feature("raises", NUMBER),
    Feature("hand", CHOICE, levels=("J", "Q", "K")),
)
TEXT = """
# what a beginner needs
if facing and made >= two pair: 30% raise 1 pot, 70% call
if not facing and equity >= 55%: all-in     # brave
if raises < 2 and hand is not K: fold
otherwise: check
"""


def conditions() -> st.SearchStrategy[Condition]:
    values = {
        "facing": st.just(0.5),
        "made": st.integers(0, 2).map(float),
        "equity": st.integers(0, 100).map(lambda k: k / 100),
        "raises": st.integers(0, 9).map(float),
        "hand": st.integers(0, 2).map(float),
    }
    return st.sampled_from(FEATURES).flatmap(lambda f: st.builds(Condition, st.just(f), values[f.name], st.booleans()))


def mixes() -> st.SearchStrategy[tuple[tuple[Move, float], ...]]:
    moves = st.sampled_from(
        [Move(FOLD), Move(CALL), Move(RAISE), Move(RAISE, 0.75), Move(RAISE, inf), Move(OTHER, 0, "left")]
    )
    parts = st.lists(st.tuples(moves, st.integers(1, 9)), min_size=1, max_size=3, unique_by=lambda part: part[0])
    return parts.map(lambda some: tuple((m, w / sum(w for _, w in some)) for m, w in some))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.lists(conditions(), min_size=1, max_size=3).map(tuple), mixes()), max_size=4), mixes())
def test_what_prints_reads_back(
    rules: list[tuple[tuple[Condition, ...], tuple[tuple[Move, float], ...]]], last: tuple[tuple[Move, float], ...]
) -> None:
    written = RuleList(FEATURES, (*(Rule(*rule) for rule in rules), Rule((), last)))
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
    assert rules.which(columns, 4).tolist() == [0, 1, 2, 3]
    moves = (Move(FOLD), Move(CALL), Move(RAISE, 1.0), Move(RAISE, inf))
    played = rules.decide(columns, moves, np.ones((4, 4), bool))
    assert played.tolist() == [[0, 0.7, 0.3, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    # Both of the first rule's tests; one of it and both of the second; …
    assert rules.tests_read(columns, 4).tolist() == [2, 3, 5, 5]


def test_moves_that_cannot_be_made_have_a_stand_in() -> None:
    moves = (Move(FOLD), Move(CALL), Move(RAISE, 0.5), Move(RAISE, 2.0))
    mix = np.array([[0.4, 0.1, 0.2, 0.3]] * 3)
    able = np.array([[0, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 1]], bool)
    assert stand_in(mix, moves, able) == pytest.approx(
        np.array([[0, 0.5, 0.2, 0.3], [0.4, 0.6, 0, 0], [0.4, 0.1, 0, 0.5]])
    )
    others = (Move(OTHER, 0, "left"), Move(OTHER, 0, "right"))
    assert stand_in(np.array([[1.0, 0.0]]), others, np.array([[False, True]])).tolist() == [[0, 1]]


def test_a_size_that_is_not_there_is_read_as_the_nearest() -> None:
    rules = RuleList.parse("otherwise: raise 0.6 pot", FEATURES)
    moves = (Move(CALL), Move(RAISE, 0.5), Move(RAISE, 2.0))
    assert rules.mixes(moves).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if facing: call", "end with a line such as 'otherwise: check'"),
        ("", "the last one has no tests"),
        ("otherwise: call\nif facing: fold\notherwise: fold", "line 2"),
        ("if fcing: call\notherwise: fold", "did you mean 'facing'"),
        ("if made >= two pairs: call\notherwise: fold", "did you mean 'two pair'"),
        ("if made is pair: call\notherwise: fold", "made is a level: write 'made >= …'"),
        ("if facing >= 1: call\notherwise: fold", "facing is a flag: write 'facing'"),
        ("if equity >= much: call\notherwise: fold", "write a number such as 55%"),
        ("otherwise: 50% call, 20% fold", "sum to 70 %"),
        ("otherwise: call, fold", "each needs its share"),
        ("otherwise: raise 3", "raise 0.75 pot"),
        ("call", "'otherwise: MOVE'"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        RuleList.parse(text, FEATURES)
    assert words in str(error.value)


def test_moves_by_their_names() -> None:
    assert parse_move("check") == parse_move("call") == Move(CALL)
    assert parse_move("bet 0.33 pot") == Move(RAISE, 0.33)
    assert parse_move("left") == Move(OTHER, 0.0, "left")
