"""The experiments with continuous games, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.continuous.holdem import Betting
from riverboat.reproduce import (
    continuous_holdem_rivers,
    continuous_limit_river,
    continuous_three_players,
    continuous_von_neumann,
)


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


def test_three_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuous_three_players, "POTS", (1.0, 3.0))
    rows, notes = continuous_three_players.rivers()
    assert all(row.fine for row in rows)
    assert "b x b x b" in notes[1]  # at a pot of 3 there is a thin bet in the middle


def test_holdem_rivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rivers of one solved turn: shares add up, and losses are above zero and small."""
    monkeypatch.setattr(continuous_holdem_rivers, "MODELS", dict(list(continuous_holdem_rivers.MODELS.items())[:2]))
    rivers = list(continuous_holdem_rivers.reached(2, 0))
    us = continuous_holdem_rivers.player(Betting.of(rivers[0].spot()))
    found = [continuous_holdem_rivers.measure(river, us) for river in rivers]
    for figures in found:
        assert 0 < figures.floor < 2
        assert 0 < figures.loss < 5
        assert figures.to_exact < 0.06  # the exact one may still lose what it is exploitable for
    epsilon = np.array([[0.001, 0.1], [0.1, 0.001], [0.1, 0.1]])
    assert continuous_holdem_rivers.cover(epsilon, 1)[0] == pytest.approx(1 / 3)
    assert continuous_holdem_rivers.cover(epsilon, 2)[0] == pytest.approx(2 / 3)
