"""Matches against independent programs: the example runs as a second process over loopback."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from riverboat.cli import main

PLAYER = Path(__file__).parents[2] / "examples" / "acpc_player.py"


def test_the_example_plays_a_match_over_loopback(capsys: pytest.CaptureFixture[str]) -> None:
    """The example raises to 300 as the dealer, and calls.

    Against a player who only calls, a pair of hands with exchanged cards would be even without that raise. With it, the pair
    is worth 200 chips or a tie.
    """
    words = ["match", "always-call", f"acpc:{sys.executable} {PLAYER}", "--game", "nolimit-200bb", "--hands", "12"]
    with pytest.raises(SystemExit) as end:
        main.main([*words, "--json"])
    assert not end.value.code
    played = json.loads(capsys.readouterr().out)
    assert played["hands"] == 12
    pairs = 12 / 1000 * played["mbb_per_game"] * 100 / 200
    assert pairs == pytest.approx(round(pairs))
    assert played["ci95"] > 0
