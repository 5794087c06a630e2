"""What a row may say: each rule by examples, and by attempts to get round it."""

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
from riverboat.papers.endgames import coin_toss, propositions
from riverboat.papers.essay import rps
from riverboat.papers.exploitation import rpst
from riverboat.papers.framework import MODULES, Report
from riverboat.papers.rows import FAILS, Explained, Row, finding, new, printed, summary, theorem, verdict_words
from riverboat.papers.translation import clairvoyance

SLIP = Explained(2.0, "a slip", within=0.1)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (printed("exact", 0.5, 0.5), "match"),
        (printed("off", 0.5, 0.5001), "differs"),
        (printed("rounded", 0.23, 0.225, digits=2), "match"),
        (printed("next digit", 0.23, 0.2249, digits=2), "differs"),
        (printed("told apart", 0.50, 0.51, interval=(0.49, 0.53), rivals=(0.55,)), "match"),
        (printed("not told apart", 0.50, 0.51, interval=(0.49, 0.53), rivals=(0.53,)), "blurred"),
        # A lucky hit of an estimate proves as little as a near miss.
        (printed("lucky hit", 0.50, 0.50, digits=2, interval=(0.4, 0.6), rivals=(0.53,)), "blurred"),
        (printed("outside", 0.50, 0.60, interval=(0.58, 0.62), rivals=(0.0,)), "differs"),
        (printed("paper's error too", 0.50, 0.53, interval=(0.51, 0.55), error=0.03, rivals=(0.6,)), "match"),
        (printed("paper's error too wide", 0.50, 0.53, interval=(0.51, 0.55), error=0.06, rivals=(0.6,)), "blurred"),
        (printed("explained", 1.0, 2.05, explained=SLIP), "explained"),
        (printed("moved on", 1.0, 2.2, explained=SLIP), "moved"),
        (printed("moved to the paper's", 1.0, 1.0, explained=SLIP), "moved"),
        (printed("noise", 1.0, 2.3, interval=(2.0, 2.6), rivals=(0.0,), explained=SLIP), "explained"),
        # A certified interval has no noise to hide in.
        (printed("proved", 1.0, 2.05, interval=(0.8, 3.3), rivals=(0.0,), certified=True, explained=SLIP), "explained"),
        (
            printed("proved, moved", 1.0, 2.2, interval=(0.8, 3.6), rivals=(0.0,), certified=True, explained=SLIP),
            "moved",
        ),
        (printed("drowned", 1.0, 2.3, interval=(0.8, 3.8), rivals=(0.0,), explained=SLIP), "blurred"),
        (theorem("holds", 0.0, 1e-10), "match"),
        (theorem("fails", 0.0, 1e-8), "differs"),
        (theorem("bound", 1.0, 0.5, "<="), "match"),
        (theorem("over the bound", 1.0, 1.1, "<="), "differs"),
        (theorem("floor", 1.0, 1.1, ">="), "match"),
        (theorem("under the floor", 1.0, 0.9, ">="), "differs"),
        (finding("order", 10.0, 10.0), "match"),
        (finding("another order", 10.0, 9.0), "differs"),
        (new("ours", 3.0), "new"),
        (new("above zero", 3.0, (2.0, 4.0), null=0.0), "significant"),
        (new("around zero", 0.1, (-0.2, 0.4), null=0.0), "not significant"),
    ],
    ids=lambda x: x.name if isinstance(x, Row) else "",
)
def test_verdicts(row: Row, verdict: str) -> None:
    assert row.verdict == verdict
    assert row.fine == (verdict not in FAILS)
    assert Report((row,)).fine == row.fine
    assert verdict_words(row)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: new("x", math.nan), "must be finite"),
        (lambda: new("x", 1.0, (2.0, 3.0)), "outside its interval"),
        (lambda: replace(new("x", 1.0), low=0.0), "low and high"),
        (lambda: replace(new("x", 1.0), paper=2.0), "only new figures have none"),
        (lambda: replace(printed("x", 1.0, 1.0), paper=None), "only new figures have none"),
        (lambda: new("x", 1.0, null=0.0), "without an interval"),
        (lambda: Explained(1.0, "", within=0.1), "say why"),
        (lambda: Explained(1.0, "a slip", within=0.0), "must be above 0"),
        # An interval as wide as one likes would agree with everything.
        (lambda: printed("x", 1.0, 2.0, interval=(-9.0, 9.0)), "an estimate without rivals"),
        (lambda: printed("x", 1.0, 2.0, error=9.0), "an estimate without rivals"),
        # So would the tolerance of an explanation.
        (lambda: printed("x", 1.0, 2.0, explained=Explained(2.0, "a slip", within=0.6)), "at most 0.5"),
        # What a theorem demands leaves no room but for rounding.
        (lambda: theorem("x", 1.0, 1.1, rounding=0.2), "more than rounding errors"),
    ],
)
def test_what_is_refused(make: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        make()  # type: ignore[operator]


numbers = st.floats(-10, 10)


@given(numbers, numbers, st.floats(0, 10), st.floats(0, 10), st.lists(numbers, min_size=1, max_size=3), st.booleans())
def test_a_match_tells_rivals_apart(
    paper: float, ours: float, half: float, error: float, rivals: list[float], explain: bool
) -> None:
    """Whatever the tolerances: a row that passes is nearer to the paper's figure, or to where it was, than to others."""
    explained = None
    if explain and abs(paper - 3.0) > 0.5:
        explained = Explained(3.0, "invented", within=0.2)
    row = printed(
        "x", paper, ours, interval=(ours - half, ours + half), error=error, rivals=rivals, explained=explained
    )
    if row.verdict == "match":
        assert all(abs(ours - paper) <= abs(ours - rival) + 1e-8 for rival in rivals)
    if row.verdict == "explained":
        apart = max(abs(paper - 3.0), min(abs(paper - rival) for rival in rivals))
        assert abs(ours - 3.0) <= apart + 1e-9


def test_kinds_are_counted_apart() -> None:
    rows = [printed("a", 1.0, 1.0), printed("b", 1.0, 2.0, explained=SLIP), theorem("c", 0.0, 0.0), new("d", 1.0)]
    assert summary(rows) == (
        "1 of 2 printed figures match, 1 explained; 1 of 1 check of a theorem holds; 1 figure of our own"
    )
    assert summary([]) == ""


# --- the experiments themselves -----------------------------------------------------------------


def functions_that_explain(source: str) -> list[str]:
    """Functions in which `Explained` is called: there its value could be the result it is compared with."""
    return [
        f.name
        for f in ast.walk(ast.parse(source))
        if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))
        for call in ast.walk(f)
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "Explained"
    ]


def test_explanations_are_constants() -> None:
    assert functions_that_explain("def run():\n    return Explained(ours, 'it is what it is', 1.0)") == ["run"]
    for module in MODULES.values():
        source = importlib.import_module(f"riverboat.papers.{module}").__file__
        assert source is not None
        text = Path(source).read_text(encoding="utf-8")
        assert not functions_that_explain(text), module
        assert "Row(" not in text.replace("list[Row](", ""), (
            f"{module}: rows are made by printed, theorem, finding, new"
        )


QUICK = (coin_toss.coin_toss, rps.run, propositions.run, rpst.run, clairvoyance.run)


def rows_of(run: object) -> tuple[Row, ...]:
    return tuple(coin_toss.coin_toss()) if run is coin_toss.coin_toss else run(False, 0).rows  # type: ignore[operator]


@pytest.mark.parametrize("run", QUICK, ids=lambda run: run.__module__.rpartition(".")[2])
def test_no_row_passes_by_construction(run: object) -> None:
    """Every row that compares passes as it is, and fails for another value of ours: too high or too low."""
    for row in rows_of(run):
        assert row.fine, row
        if row.kind == "new":
            continue
        ways = []
        for shift in (-7.3, 7.3):
            moved = {} if row.low is None else {"low": row.low + shift, "high": (row.high or 0.0) + shift}
            ways.append(replace(row, ours=row.ours + shift, **moved).fine)  # type: ignore[arg-type]
        assert not all(ways), row
        if row.relation == "=":
            assert not any(ways), row


def test_a_wrong_algorithm_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explained rows too: they are compared with what we had, not with what we have."""
    with monkeypatch.context() as patch:
        patch.setattr(rps, "regret_matching", lambda regrets: np.maximum(regrets, 0) / 5)  # the essay's own slip
        found = {row.name: row.verdict for row in rps.run(False, 0).rows}
        assert found["regrets (2, 1, 1): rock"] == "moved"
    with monkeypatch.context() as patch:
        patch.setattr(clairvoyance, "menu", lambda stack: (0.5, float(stack)) if stack > 1 else (1.0,))
        assert not clairvoyance.run(False, 0).fine
    with monkeypatch.context() as patch:
        patch.setattr(propositions, "purify", lambda rows: rows)
        assert not propositions.run(False, 0).fine
