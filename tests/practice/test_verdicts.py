"""A verdict does not contradict itself: the move that it calls best has the highest EV that it shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.practice.drills import Drill, DrillOptions
from riverboat.practice.questions import source_of
from riverboat.practice.verdicts import Option, Verdict

MOVES = ("f", "c", "r300", "r900")


def check(verdict: Verdict) -> None:
    """The properties of every verdict whose values are known."""
    best = verdict.best
    assert best is not None
    assert best.ev == max(option.ev for option in verdict.options)
    told = verdict.to_dict()
    evs = {option["move"]: option["ev"] for option in told["options"]}
    assert evs[told["best"]] == max(evs.values())
    assert evs.get("f", 0.0) == 0.0  # the pot as it stands, less later chips: a fold wins and pays nothing
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
    options = tuple(Option(*each) for each in zip(MOVES, shares.tolist(), (0.0, *evs), strict=True))
    check(Verdict(options, "a test", 150.0, least))


def test_a_fold_that_is_right_is_not_shown_below_a_call() -> None:
    """A call that the blueprint hardly ever makes was shown with 9.6 chips below a fold that was called the best."""
    verdict = Verdict((Option("f", 0.98, 0.0), Option("c", 0.02, 9.6)), "values", 150.0, 0.05)
    assert verdict.best == verdict.of("f")
    assert verdict.of("c").ev == 0.0
    assert verdict.cost("c") == 0
    bad = Verdict((Option("f", 0.02, 0.0), Option("c", 0.98, -3.0)), "values", 150.0, 0.05)
    assert bad.best == bad.of("f")  # what a fold is worth is known however rare it is


def test_questions_of_a_solved_spot(river: str) -> None:
    drill = Drill(source_of(river), DrillOptions(), seed=3)
    folds = 0
    for _ in range(12):
        question = drill.ask()
        check(question.verdict)
        folds += "f" in question.moves
        drill.answer(question.moves[0])
    assert folds
