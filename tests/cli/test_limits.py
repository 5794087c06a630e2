"""Invalid limits and options are rejected before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError

Run = Callable[..., tuple[int, str, str]]
SPOT = ["solve", "spot", "--board", "Td9d6hQc2s", "--pot", "20", "--stack", "40", "--oop", "AA", "--ip", "QQ"]
BAD_TARGETS = ["inf", "-inf", "nan", "0", "0.0", "-1", "1e400", "x", "", "%", "9" * 200_000]


@pytest.mark.parametrize("until", BAD_TARGETS, ids=lambda text: text[:8])
@pytest.mark.parametrize(
    "words", [[*SPOT, "--bets", "50%"], ["solve", "kuhn"], ["solve", "kuhn", "--method", "egt"]], ids=len
)
def test_targets_are_positive(run: Run, words: list[str], until: str) -> None:
    code, out, err = run(*words, f"--until={until}")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "--until" in err
    assert len(err) < 400


@pytest.mark.parametrize("until", ["inf%", "nan%", "-1%", "0%"])
def test_targets_in_percent_of_the_pot(run: Run, until: str) -> None:
    code, _, err = run(*SPOT, "--bets", "50%", f"--until={until}")
    assert code == 2
    assert f"--until '{until}'" in err
    assert "0.5%" in err


@pytest.mark.parametrize("method", ["cfr", "lp", "egt"])
@pytest.mark.parametrize(
    "limits",
    [{"until": float("nan")}, {"until": 0}, {"until": float("inf")}, {"iterations": -1}, {"time": -1.0}],
    ids=str,
)
def test_limits_in_python(method: str, limits: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(limits))):
        rb.solve("kuhn", method=method, **limits)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (SPOT, "--bets"),
        ([*SPOT, "--bets", "50%", "--rake-cap", "3"], "3.0"),
        ([*SPOT, "--bets", "50%", "--rake-cap", "nan", "--rake", "5%"], "nan"),
        ([*SPOT, "--bets", "50%", "--keep"], "--boards"),
        (["solve", "kuhn", "--keep"], "--boards"),
        ([*SPOT, "--bets", "50%", "--boards", "sample:1", "--keep"], "--out"),
        ([*SPOT, "--bets", "50%", "--rules", "shrot"], "'short'"),
        ([*SPOT, "--bets", "50%", "--rules", "short"], "2s"),
        (["solve", "examples/spots/turn.toml", "--rules", "short"], "--rules"),
        (["equity", "AA", "KK", "--rules", "shrot"], "'short'"),
        (["train", "demo", "--iterations", "-1", "--out", "nowhere"], "'--iterations'"),
        (["train", "demo", "--iterations", "0", "--out", "nowhere"], "'--iterations'"),
    ],
    ids=lambda found: " ".join(found[-2:]) if isinstance(found, list) else None,
)
def test_options_without_effect_are_rejected(run: Run, words: list[str], message: str) -> None:
    code, _, err = run(*words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not Path("nowhere").exists()


def test_empty_bets_check_down(run: Run) -> None:
    assert run(*SPOT, "--bets", "", "--iterations", 1)[0] == 0


def test_unreachable_locks_are_reported(run: Run, tmp_path: Path) -> None:
    spot = tmp_path / "spot.toml"
    spot.write_text(
        'board = "Td9d6hQc2s"\npot = 20\nstack = 40\n[ranges]\noop = "AA"\nip = "QQ"\n[bets]\nriver = { bet = "50%" }\n'
        '[[lock]]\nline = ""\nstrategy = { x = 1 }\n[[lock]]\nline = "b10"\nstrategy = { f = 1 }\n'
    )
    code, _, err = run("solve", spot, "--iterations", 3)
    assert code == 0
    assert "lock 2 at 'b10'" in err


def test_short_deck_in_the_terminal(run: Run) -> None:
    code, out, _ = run("equity", "AhKh", "7c7d", "--board", "6h7h9c", "--rules", "short", "--json")
    assert code == 0
    assert '"rules": "short"' in out
    words = [
        "solve",
        "spot",
        "--board",
        "Td9d6hQc8s",
        "--pot",
        "20",
        "--stack",
        "40",
        "--oop",
        "AA,77",
        "--ip",
        "QQ,66",
    ]
    assert run(*words, "--bets", "50%", "--rules", "short-trips", "--iterations", 3, "--json")[0] == 0
