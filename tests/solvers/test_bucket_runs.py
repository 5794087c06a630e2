"""Runs with card buckets: `solve` with `cards`, and resuming."""

from __future__ import annotations

from pathlib import Path

import pytest

from riverboat.api.solve import solve
from riverboat.core.errors import InputError
from riverboat.solvers.run import CFRRun
from riverboat.solvers.run_loop import after_iterations

GAME = "flop_holdem:one-bet,ranks=4,suits=2"


def test_figures_are_those_of_the_full_game() -> None:
    """The loss through a few buckets remains, however many iterations."""
    plain, coarse = (solve(GAME, cards=cards, iterations=300) for cards in (None, "strength:2"))
    assert plain.exploitability < 1 < 10 < coarse.exploitability
    assert plain.infosets == coarse.infosets
    assert coarse.strategy.provenance["cards"] == "strength:2"


def test_resume_needs_the_same_buckets(tmp_path: Path) -> None:
    full = CFRRun(GAME, cards="strength:4", dtype="float64")
    full.iterate([after_iterations(12)])
    part = CFRRun(GAME, cards="strength:4", dtype="float64", out=tmp_path / "run")
    part.iterate([after_iterations(6)])
    part.save()
    later = CFRRun(GAME, cards="strength:4", out=tmp_path / "run", resume=True)
    later.iterate([after_iterations(12)])
    assert later.check().best == pytest.approx(full.check().best, rel=1e-9)
    for cards, requested in ((None, "None"), ("strength:5", "'strength:5 ")):
        with pytest.raises(InputError, match=rf"cards='strength:4 \(\w+\)', not {requested}"):
            CFRRun(GAME, cards=cards, out=tmp_path / "run", resume=True)


def test_games_without_card_abstraction() -> None:
    with pytest.raises(InputError, match="leduc: card"):
        solve("leduc", cards="strength:4", iterations=1)
    with pytest.raises(InputError, match="method 'cfr'"):
        solve("leduc", method="lp", cards="strength:4")
