"""The essay's worked examples."""

from __future__ import annotations

from itertools import pairwise

import pytest

from riverboat.papers import essay


def test_rps() -> None:
    found = essay.run_rps(False, 0)
    # Regrets of 2, 1 and 1 sum to four.
    for move, share in (("rock", 1 / 2), ("paper", 1 / 4), ("scissors", 1 / 4)):
        row = found.row(f"regrets (2, 1, 1): {move}")
        assert row.ours == pytest.approx(share)
        assert row.verdict == "explained"
    assert found.row("regrets (2, 1, -2): scissors, raw regrets normalised").ours == -2
    assert found.row("regrets (2, 1, -2): scissors, positive parts").ours == 0
    assert found.row("value of the game").verdict == "match"
    assert found.passes


def test_kuhn() -> None:
    found = essay.run_kuhn_trace(False, 0)
    # By hand, queen against jack, uniform play: 1/2 after check and bet, 3/4 after a check, 3/2 after a bet.
    values = {"the start": 9 / 8, "c": 3 / 4, "cr": 1 / 2, "r": 3 / 2}
    for place, value in values.items():
        assert found.row(f"value to player 0 at {place}").ours == pytest.approx(value)
    assert found.row("regret of r at Q:").ours == pytest.approx(3 / 8)
    assert found.row("regret of c at Q:cr").ours == pytest.approx(3 / 4)
    assert found.row("first iteration: every probability").verdict == "match"
    row = found.row("value of the game")
    assert row.verdict == "match"
    assert row.low is not None
    assert row.high is not None
    assert row.high - row.low < 0.002
    errors = found.curves[0].y
    assert all(later < earlier for earlier, later in pairwise(errors))
