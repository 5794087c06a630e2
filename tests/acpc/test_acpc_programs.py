"""Matches against independent programs: the example runs as a second process over loopback."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

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


CLIENT = "acpc:{python} -m riverboat.cli.main acpc client {agent} --game leduc"


def play(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """Run `riverboat match … --json` on Leduc; return its exit code and report."""
    with pytest.raises(SystemExit) as end:
        main.main(["match", *words, "--game", "leduc", "--json"])
    return int(end.value.code or 0), json.loads(capsys.readouterr().out)


def client(agent: str) -> str:
    return CLIENT.format(python=sys.executable, agent=agent)


def test_tables_share_the_deals_of_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    """The agents are deterministic, so that two tables win together what one wins."""
    one = play(capsys, "always-raise", client("always-call"), "--hands", "24")
    two = play(capsys, "always-raise", client("always-call"), "--hands", "24", "--workers", "2")
    assert (one[0], two[0]) == (0, 0)
    assert two[1]["score"] == one[1]["score"]
    assert two[1]["ci95"] == pytest.approx(one[1]["ci95"])
    assert (two[1]["hands"], two[1]["complete"]) == (24, True)


def test_a_sequential_test_ends_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    code, played = play(capsys, "always-raise", client("always-fold"), "--hands", "6000", "--until-settled=-50,50")
    assert code == 0
    assert (played["verdict"], played["stopped"], played["complete"]) == ("better", True, False)
    assert 2_000 <= played["hands"] < 6_000


def test_a_match_ends_by_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    code, played = play(capsys, "always-raise", client("always-call"), "--hands", "1000000", "--time", "1s")
    assert code == 0
    assert (played["stopped"], played["faults"]) == (True, [])
    assert 2 <= played["hands"] < 1_000_000
    assert played["hands"] % 2 == 0


LEAVER = """
import socket, sys
wire = socket.create_connection((sys.argv[1], int(sys.argv[2])))
wire.sendall(b"VERSION:2.0.0\\r\\n")
hands = set()
for line in wire.makefile("r", newline="\\r\\n"):
    state = line.strip()
    hands.add(state.split(":")[2])
    if len(hands) > 9:
        sys.exit()
    wire.sendall((state + ":" + ("c" if len(hands) > 1 else "x") + "\\r\\n").encode())
"""


def test_hands_before_a_fault_count(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The player leaves in its tenth hand; it answers also where it need not, and its first answer is invalid."""
    program = tmp_path / "leaver.py"
    program.write_text(LEAVER)
    code, played = play(capsys, "always-call", f"acpc:{sys.executable} {program}", "--hands", "40")
    assert code == 1
    assert (played["hands"], played["complete"], played["stopped"]) == (8, False, False)
    (fault,) = played["faults"]
    assert (fault["player"], fault["kind"]) == (1, "closed")
    assert played["replaced"][1] > 0
    assert played["ignored"][1] > 0
    with pytest.raises(SystemExit):
        main.main(["match", "always-call", f"acpc:{sys.executable} {program}", "--game", "leduc", "--hands", "40"])
    printed = capsys.readouterr().out
    assert "ended early: 8 of 40 hands" in printed
    assert "illegal actions were corrected" in printed


def test_a_program_that_does_not_start_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    sleeper = f'acpc:{sys.executable} -c "import time; time.sleep(30)"'
    started = time.monotonic()
    with pytest.raises(SystemExit) as end:
        main.main(["match", "always-call", sleeper, "--game", "leduc", "--hands", "4", "--start-timeout", "1s"])
    assert end.value.code == 2
    assert "0 hands" in capsys.readouterr().err
    assert time.monotonic() - started < 25
