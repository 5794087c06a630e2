"""Verdicts are consistent: the best action has the highest displayed EV."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.practice.drills import Drill, DrillOptions
from riverboat.practice.questions import make_source
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption

MOVES = ("f", "c", "r300", "r900")


def check(verdict: DecisionVerdict) -> None:
    """Check the properties of a verdict with known values."""
    best = verdict.best
    assert best is not None
    assert best.ev == max(option.ev for option in verdict.options)
    told = verdict.to_dict()
    evs = {option["move"]: option["ev"] for option in told["options"]}
    assert evs[told["best"]] == max(evs.values())
    assert evs.get("f", 0.0) == 0.0  # a fold wins nothing of the current pot and pays nothing
    for move, ev in evs.items():
        assert verdict.cost(move) == pytest.approx(evs[told["best"]] - ev)
    assert verdict.cost(told["best"]) == 0


@given(
    evs=st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3),
    weights=st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda w: sum(w) > 0),
    least=st.sampled_from([0.0, 0.05, 0.5]),
)
def test_any_verdict(evs: list[float], weights: list[float], least: float) -> None:
    shares = np.array(weights) / sum(weights)
    options = tuple(VerdictOption(*each) for each in zip(MOVES, shares.tolist(), (0.0, *evs), strict=True))
    check(DecisionVerdict(options, "a test", 150.0, least))


def test_value_of_a_rare_call_is_capped() -> None:
    """A call that the blueprint hardly ever makes had an EV of 9.6 chips, above a fold that was called the best."""
    verdict = DecisionVerdict((VerdictOption("f", 0.98, 0.0), VerdictOption("c", 0.02, 9.6)), "values", 150.0, 0.05)
    assert verdict.best == verdict.option_for("f")
    assert verdict.option_for("c").ev == 0.0
    assert verdict.cost("c") == 0
    bad = DecisionVerdict((VerdictOption("f", 0.02, 0.0), VerdictOption("c", 0.98, -3.0)), "values", 150.0, 0.05)
    assert bad.best == bad.option_for("f")  # the value of a fold is known however rare it is


def test_questions_of_a_solved_spot(river: str) -> None:
    drill = Drill(make_source(river), DrillOptions(), seed=3)
    folds = 0
    for _ in range(12):
        question = drill.next_question()
        check(question.verdict)
        folds += "f" in question.moves
        drill.answer(question.moves[0])
    assert folds
