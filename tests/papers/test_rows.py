"""Verdicts of rows: each rule by examples, and by attempts to circumvent it."""

from __future__ import annotations

import ast
import importlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.papers import essay, proposal, translation
from riverboat.papers.endgames import small_games
from riverboat.papers.exploitation import safe_exploitation
from riverboat.papers.framework import ExperimentReport
from riverboat.papers.registry import EXPERIMENTS
from riverboat.papers.rows import (
    FAILED_VERDICTS,
    ComparisonRow,
    ExplainedDifference,
    finding_row,
    format_verdict,
    mean_row,
    new_row,
    printed_row,
    summarize_rows,
    theorem_row,
    variation_row,
)

SLIP = ExplainedDifference(2.0, "a slip", 0.1, test="without the slip")
GUESS = ExplainedDifference(2.0, "a guess", 0.1)
PUZZLE = ExplainedDifference(2.0, within=0.1, tried="two readings")


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (printed_row("exact", 0.5, 0.5), "match"),
        (printed_row("off", 0.5, 0.5001), "differs"),
        (printed_row("rounded", 0.23, 0.225, digits=2), "match"),
        (printed_row("next digit", 0.23, 0.2249, digits=2), "differs"),
        (printed_row("separated", 0.50, 0.51, interval=(0.49, 0.53), rivals=(0.55,)), "match"),
        (printed_row("not separated", 0.50, 0.51, interval=(0.49, 0.53), rivals=(0.53,)), "blurred"),
        # A lucky hit of an estimate proves as little as a near miss.
        (printed_row("lucky hit", 0.50, 0.50, digits=2, interval=(0.4, 0.6), rivals=(0.53,)), "blurred"),
        (printed_row("outside", 0.50, 0.60, interval=(0.58, 0.62), rivals=(0.0,)), "differs"),
        (printed_row("paper's error too", 0.50, 0.53, interval=(0.51, 0.55), error=0.03, rivals=(0.6,)), "match"),
        (
            printed_row("paper's error too wide", 0.50, 0.53, interval=(0.51, 0.55), error=0.06, rivals=(0.6,)),
            "blurred",
        ),
        (printed_row("explained", 1.0, 2.05, explained=SLIP), "explained"),
        (printed_row("cause without a test", 1.0, 2.05, explained=GUESS), "untested"),
        (printed_row("no cause", 1.0, 2.05, explained=PUZZLE), "not found"),
        (printed_row("moved on", 1.0, 2.2, explained=SLIP), "moved"),
        (printed_row("moved to the paper's", 1.0, 1.0, explained=SLIP), "moved"),
        (printed_row("noise", 1.0, 2.3, interval=(2.0, 2.6), rivals=(0.0,), explained=SLIP), "explained"),
        # A certified interval has no noise to hide in.
        (
            printed_row("proved", 1.0, 2.05, interval=(0.8, 3.3), rivals=(0.0,), certified=True, explained=SLIP),
            "explained",
        ),
        (
            printed_row("proved, moved", 1.0, 2.2, interval=(0.8, 3.6), rivals=(0.0,), certified=True, explained=SLIP),
            "moved",
        ),
        (printed_row("drowned", 1.0, 2.3, interval=(0.8, 3.8), rivals=(0.0,), explained=SLIP), "blurred"),
        (theorem_row("holds", 0.0, 1e-10), "match"),
        (theorem_row("fails", 0.0, 1e-8), "differs"),
        (theorem_row("bound", 1.0, 0.5, "<="), "match"),
        (theorem_row("over the bound", 1.0, 1.1, "<="), "differs"),
        (theorem_row("floor", 1.0, 1.1, ">="), "match"),
        (theorem_row("under the floor", 1.0, 0.9, ">="), "differs"),
        (finding_row("order", 10.0, 10.0), "match"),
        (finding_row("another order", 10.0, 9.0), "differs"),
        (finding_row("rises", 1.0, 1.2, ">=", half_width=0.1), "match"),
        (finding_row("falls", 1.0, 0.8, ">=", half_width=0.1), "differs"),
        (finding_row("may rise", 1.0, 1.05, ">=", half_width=0.1), "blurred"),
        (variation_row("gives the paper's", 0.5, 0.502, digits=2), "match"),
        (variation_row("does not", 0.5, 0.506, digits=2), "differs"),
        (variation_row("gives it too roughly", 0.5, 0.51, half_width=0.1, rivals=(0.6,)), "blurred"),
        (new_row("ours", 3.0), "new"),
        (new_row("above zero", 3.0, (2.0, 4.0), null=0.0), "significant"),
        (new_row("around zero", 0.1, (-0.2, 0.4), null=0.0), "not significant"),
    ],
    ids=lambda x: x.name if isinstance(x, ComparisonRow) else "",
)
def test_verdicts(row: ComparisonRow, verdict: str) -> None:
    assert row.verdict == verdict
    assert row.passes == (verdict not in FAILED_VERDICTS)
    assert ExperimentReport((row, variation_row("without the slip", 1.0, 1.0))).passes == row.passes
    assert format_verdict(row)


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda: new_row("x", math.nan), "ours=nan"),
        (lambda: new_row("x", 1.0, (2.0, 3.0)), r"ours=1\.0 .*2\.0 to 3\.0"),
        (lambda: replace(new_row("x", 1.0), low=0.0), "high=None"),
        (lambda: replace(new_row("x", 1.0), paper=2.0), r"'new' with paper=2\.0"),
        (lambda: replace(printed_row("x", 1.0, 1.0), paper=None), "'printed' with paper=None"),
        (lambda: new_row("x", 1.0, null=0.0), "null=0"),
        (lambda: ExplainedDifference(1.0, "", within=0.1), "explained at 1:.*why"),
        (lambda: ExplainedDifference(1.0, "a slip", 0.1, tried="two readings"), "explained at 1:.*tried"),
        (lambda: ExplainedDifference(1.0, within=0.1, tried="two readings", test="row"), "explained at 1:.*'row'"),
        # An explanation is tested by a row of the same report that compares.
        (lambda: ExperimentReport((printed_row("x", 1.0, 2.0, explained=SLIP),)), "'x'.*'without the slip'"),
        (
            lambda: ExperimentReport((printed_row("x", 1.0, 2.0, explained=SLIP), new_row("without the slip", 1.0))),
            "'x'.*'without the slip'",
        ),
        (lambda: ExplainedDifference(1.0, "a slip", within=0.0), "explained at 1, within 0:"),
        # An arbitrarily wide interval would agree with everything.
        (lambda: printed_row("x", 1.0, 2.0, interval=(-9.0, 9.0)), "rivals"),
        (lambda: printed_row("x", 1.0, 2.0, error=9.0), "rivals"),
        # So would the tolerance of an explanation.
        (
            lambda: printed_row("x", 1.0, 2.0, explained=ExplainedDifference(2.0, "a slip", within=0.6)),
            r"within 0\.6: .*\b0\.5\b",
        ),
        # A theorem row allows rounding errors only.
        (lambda: theorem_row("x", 1.0, 1.1, rounding=0.2), r"rounding 0\.2"),
    ],
)
def test_invalid_rows(make: object, pattern: str) -> None:
    with pytest.raises(InputError, match=pattern):
        make()  # type: ignore[operator]


numbers = st.floats(-10, 10)


@given(numbers, numbers, st.floats(0, 10), st.floats(0, 10), st.lists(numbers, min_size=1, max_size=3), st.booleans())
def test_a_match_separates_rivals(
    paper: float, ours: float, half: float, error: float, rivals: list[float], explain: bool
) -> None:
    """For all tolerances, a row that passes is nearer to the paper's value, or to the explained one, than to rivals."""
    explained = None
    if explain and abs(paper - 3.0) > 0.5:
        explained = ExplainedDifference(3.0, "invented", within=0.2)
    row = printed_row(
        "x", paper, ours, interval=(ours - half, ours + half), error=error, rivals=rivals, explained=explained
    )
    if row.verdict == "match":
        assert all(abs(ours - paper) <= abs(ours - rival) + 1e-8 for rival in rivals)
    if row.verdict == "explained":
        resolution = max(abs(paper - 3.0), min(abs(paper - rival) for rival in rivals))
        assert abs(ours - 3.0) <= resolution + 1e-9


def test_kinds_are_counted_separately() -> None:
    rows = [
        printed_row("a", 1.0, 1.0),
        printed_row("b", 1.0, 2.0, explained=SLIP),
        printed_row("b2", 1.0, 2.0, explained=GUESS),
        printed_row("b3", 1.0, 2.0, explained=PUZZLE),
        theorem_row("c", 0.0, 0.0),
        variation_row("without the slip", 1.0, 1.0),
        new_row("d", 1.0),
    ]
    assert summarize_rows(rows) == (
        "1 of 4 printed figures match, 1 explained, 1 with an untested cause, 1 without a reading that gives the figure; "
        "1 of 1 check of a theorem holds; 1 of 1 test confirms its cause; 1 figure of our own"
    )
    assert summarize_rows([]) == ""


def test_intervals_by_half_width_and_of_means() -> None:
    row = new_row("a", np.float64(2.0), half_width=0.5)
    assert (row.ours, row.low, row.high) == (2.0, 1.5, 2.5)
    assert type(row.ours) is float
    assert type(new_row("count", 3).ours) is int  # integers remain integers in JSON
    assert printed_row("b", 1.0, 1.2, half_width=0.3, rivals=(2.0,)).verdict == "match"
    mean = mean_row("c", [1.0, 2.0, 3.0], null=0.0)
    assert mean.ours == 2.0
    assert mean.half_width == pytest.approx(1.96 / 3**0.5)
    assert mean.verdict == "significant"
    assert mean_row("d", [1.0]).half_width == 0.0


# --- Experiments ---


def functions_that_explain(source: str) -> list[str]:
    """Return the functions that call `ExplainedDifference`: its value there could be the result under test."""
    return [
        f.name
        for f in ast.walk(ast.parse(source))
        if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))
        for call in ast.walk(f)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", getattr(call.func, "attr", "")) == "ExplainedDifference"
    ]


def test_explanations_are_constants() -> None:
    assert functions_that_explain("def run():\n    return ExplainedDifference(ours, 'it is what it is', 1.0)") == [
        "run"
    ]
    for module in {experiment.function.partition(":")[0] for experiment in EXPERIMENTS.values()}:
        source = importlib.import_module(f"riverboat.papers.{module}").__file__
        assert source is not None
        text = Path(source).read_text(encoding="utf-8")
        assert not functions_that_explain(text), module
        assert "ComparisonRow(" not in text, (
            f"{module}: make rows with printed_row, theorem_row, finding_row, variation_row or new_row"
        )


QUICK = (
    small_games.coin_toss_rows,
    essay.run_rps,
    proposal.run_propositions,
    safe_exploitation.run_rpst,
    translation.run_clairvoyance,
)


def rows_of(run: object) -> tuple[ComparisonRow, ...]:
    return tuple(small_games.coin_toss_rows()) if run is small_games.coin_toss_rows else run(False, 0).rows  # type: ignore[operator]


@pytest.mark.parametrize("run", QUICK, ids=lambda run: run.__module__.rpartition(".")[2])
def test_no_row_passes_by_construction(run: object) -> None:
    """Every row with a comparison passes as it is, and fails for another value of ours, too high or too low."""
    for row in rows_of(run):
        assert row.passes, row
        if row.kind == "new":
            continue
        shifted_passes = []
        for shift in (-7.3, 7.3):
            moved = {} if row.low is None else {"low": row.low + shift, "high": (row.high or 0.0) + shift}
            shifted_passes.append(replace(row, ours=row.ours + shift, **moved).passes)  # type: ignore[arg-type]
        assert not all(shifted_passes), row
        if row.relation == "=":
            assert not any(shifted_passes), row


def test_a_wrong_algorithm_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explained rows fail too: they are compared with the value at the time of the explanation."""
    with monkeypatch.context() as patch:
        patch.setattr(essay, "regret_matching", lambda regrets: np.maximum(regrets, 0) / 5)  # the error in the essay
        verdicts = {row.name: row.verdict for row in essay.run_rps(False, 0).rows}
        assert verdicts["regrets (2, 1, 1): rock"] == "moved"
    with monkeypatch.context() as patch:
        patch.setattr(translation, "pot_and_all_in", lambda stack: (0.5, float(stack)) if stack > 1 else (1.0,))
        assert not translation.run_clairvoyance(False, 0).passes
    with monkeypatch.context() as patch:
        patch.setattr(proposal, "purify", lambda rows: rows)
        assert not proposal.run_propositions(False, 0).passes
