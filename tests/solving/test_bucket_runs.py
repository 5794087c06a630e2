"""Runs over buckets: what `solve` does with `cards`, and what a resumed run must be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from riverboat.core.errors import InputError
from riverboat.solvers.run import Run, solve
from riverboat.solvers.run_loop import after_iterations

GAME = "flop_holdem:one-bet,ranks=4,suits=2"


def test_figures_are_those_of_the_full_game() -> None:
    """A few buckets cost what more iterations cannot win back."""
    plain, coarse = (solve(GAME, cards=cards, iterations=300) for cards in (None, "strength:2"))
    assert plain.exploitability < 1 < 10 < coarse.exploitability
    assert plain.infosets == coarse.infosets
    assert coarse.strategy.provenance["cards"] == "strength:2"


def test_a_run_goes_on_with_its_buckets(tmp_path: Path) -> None:
    whole = Run(GAME, cards="strength:4", dtype="float64")
    whole.go([after_iterations(12)])
    part = Run(GAME, cards="strength:4", dtype="float64", out=tmp_path / "run")
    part.go([after_iterations(6)])
    part.save()
    later = Run(GAME, cards="strength:4", out=tmp_path / "run", resume=True)
    later.go([after_iterations(12)])
    assert later.check().best == pytest.approx(whole.check().best, rel=1e-9)
    for cards, asked in ((None, "None"), ("strength:5", "'strength:5 ")):
        with pytest.raises(InputError, match=rf"this run has cards='strength:4 \(\w+\)', not {asked}"):
            Run(GAME, cards=cards, out=tmp_path / "run", resume=True)


def test_games_without_cards() -> None:
    with pytest.raises(InputError, match="whole games of hold'em"):
        solve("leduc", cards="strength:4", iterations=1)
    with pytest.raises(InputError, match="method 'cfr'"):
        solve("leduc", method="lp", cards="strength:4")
