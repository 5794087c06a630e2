"""Commands that say how good agents are."""

from __future__ import annotations

import json

import pytest

from riverboat.interfaces import cli


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main([*words])
    return int(end.value.code or 0)


def test_lbr_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lbr", "always-fold", "--hands", "16", "--actions", "fc", "--seed", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mbb_per_game"] == pytest.approx(250)
    assert found["ci95"] == pytest.approx(0, abs=1e-6)
    assert (found["hands"], found["deals"], found["actions"], found["from"], found["seed"]) == (
        16,
        2,
        "fc",
        "preflop",
        3,
    )
    assert found["is"].startswith("lower bound")
    assert (found["agent"], found["game"], found["unit"]) == ("always-fold", "nolimit-200bb", "mbb/g")


def test_lbr_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lbr", "always-fold", "--game", "leduc", "--from", "flop", "--hands", "40") == 0
    shown = capsys.readouterr().out
    assert "exploitability of always-fold is at least" in shown
    assert "fcpa from the flop on" in shown
