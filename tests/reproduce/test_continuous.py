"""The experiments with continuous games, at a small size."""

from __future__ import annotations

import pytest

from riverboat.reproduce import continuous_limit_river, continuous_von_neumann


def test_von_neumann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuous_von_neumann, "STEPS", (7, 13))
    report = continuous_von_neumann.run(False, 0)
    assert report.fine
    assert [report.row(name).ours for name in ("a: bets below", "b: bets above", "c: calls above")] == pytest.approx(
        [0.1, 0.7, 0.4], abs=1e-9
    )


def test_limit_river(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuous_limit_river, "POTS", (1.0, 2.0))
    report = continuous_limit_river.run(False, 0)
    assert report.fine
    assert report.row("pot 2: models").ours == 128
    assert report.row("pot 2: models that are equilibria").ours >= 4
