"""A river spot by thresholds, from the file to the hands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riverboat.cli import main
from riverboat.continuous.holdem import solve_river
from riverboat.games.spots.spot import Spot

FILE = """
board = "Td9d6hQc2s"
pot = 400
stack = 4000
[ranges]
oop = "22+,A2s+,KTs+,QTs+,J9s+"
ip = "55+,A8s+,AJo+,K9s+,QJs,T9s"
[bets]
river = { bet = "25%" }
"""


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main(["continuous", *words])
    return int(end.value.code or 0)


def test_spot_by_thresholds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "river.toml", tmp_path / "bars.png"
    path.write_text(FILE)
    assert command(str(path), "--json", "--plot", str(picture)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["epsilon_share"] < 0.005
    assert 0 < found["loss"] < 2
    assert found["exact_exploitability"] <= 0.5
    assert set(found["situations"]) == {"root", "x", "x-b", "b"}
    for row in found["situations"].values():
        assert len(row["hands"]) == len(row["moves"]) - 1
        assert row["shares"] == sorted(row["shares"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert command(str(path)) == 0
    assert "exploitability" in capsys.readouterr().out
    assert command(str(path), "--method", "lp") == 2


def test_check_down_loses_nothing() -> None:
    """Without bets every strategy is optimal."""
    spot = Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="AA,KK", ip="QQ,JJ,TT", bets="")
    found = solve_river(spot, 20)
    assert found.exploitability == pytest.approx(0.0, abs=1e-6)
    assert found.certificate.epsilon_share == pytest.approx(0.0, abs=1e-12)
