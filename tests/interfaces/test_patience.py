"""Nothing that grows is silent: it is refused at once, told while it grows, and ends with a word."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time as clock

import pytest

from riverboat.growth import Grown
from riverboat.interfaces import growing

# A dozen of OpenSpiel's games, one for each way in which they end.
SOLVED = ["kuhn_poker", "matrix_rps", "python_kuhn_poker"]
REFUSED = {
    "nfg_game": r"needs parameters: write it as open_spiel:nfg_game\(filename=…\)",
    "cached_tree": "needs parameters",
    "efg_game(filename=nowhere.efg)": "OpenSpiel says",
    "leduc_poker(players=3)": "3 players; this needs a two-player zero-sum game",
    "blackjack": "1 players",
    "bargaining": "not zero-sum: one history pays",
    "matrix_pd": "not zero-sum",
    "mfg_garnet": "mean-field",
    "negotiation": "chance is only sampled",
    "backgammon": "does not name its information states",
}
BUDGET = 6.0  # seconds after which a game that still grows is interrupted


class Hurried(growing.Told):
    """Interrupts what takes longer than the budget, as a person would."""

    def __call__(self, grown: Grown) -> None:
        super().__call__(grown)
        if grown.state == "growing" and grown.seconds > BUDGET:
            raise KeyboardInterrupt


@pytest.fixture
def names() -> list[str]:
    pyspiel = pytest.importorskip("pyspiel")
    import open_spiel.python.games  # noqa: F401  # registers the games that are written in Python

    return sorted(pyspiel.registered_names())


def solve(run, name):
    """Exit code, the last line, and whether it was the only one but for progress."""
    code, out, err = run("solve", f"open_spiel:{name}", "--iterations", 1, "--time", "1s", "--json")
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if not line.startswith("building the tree of")]
    assert len(lines) == (code != 0), (name, lines)
    return code, lines[0] if lines else out


@pytest.mark.parametrize("name", SOLVED)
def test_open_spiel_games_that_are_small(run, names, name):
    assert solve(run, name)[0] == 0


@pytest.mark.parametrize("name", REFUSED)
def test_open_spiel_games_that_are_refused_at_once(run, names, name):
    code, line = solve(run, name)
    assert code == 2
    assert re.search(REFUSED[name], line)


def test_an_open_spiel_game_that_grows_without_end(run, names):
    code, line = solve(run, "phantom_ttt")
    assert code == 3
    assert re.search(
        r"open_spiel:phantom_ttt: about [0-9.]+e\+1[01] histories, which need .* allow more by memory", line
    )


@pytest.mark.slow
def test_every_open_spiel_game_ends_with_a_word(run, names, monkeypatch):
    """Solved, refused in one line, or interrupted after telling how it grows; never a traceback, never long silence."""
    monkeypatch.setattr("riverboat.interfaces.cli.Told", Hurried)
    ends = {}
    for name in names:
        started = clock.monotonic()
        code, line = solve(run, name)
        ends[name] = code, round(clock.monotonic() - started, 1), line
        assert code in (0, 2, 3, 130), ends[name]
        assert code != 130 or line.startswith(f"interrupted while building the tree of open_spiel:{name}")
    assert sum(code == 0 for code, _, _ in ends.values()) >= 9
    print(*(f"{name} {end}" for name, end in ends.items()), sep="\n")


def test_told_speaks_within_two_seconds_and_goes_on(capsys):
    told = growing.Told()
    for quarter in range(240):  # a minute
        told(Grown("building the tree of x", "histories", 1000 * quarter, 2.5e6, quarter / 4))
    told(Grown("building the tree of x", "histories", 240_000, None, 60.0, "done"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "building the tree of x: 4,000 of about 2.5e+06 histories, 1 s"
    seconds = [int(line.rpartition(", ")[2].removesuffix(" s")) for line in lines]
    assert all(later - earlier <= max(2, 0.15 * later) for earlier, later in zip([0, *seconds], seconds, strict=False))


def test_ctrl_c_has_a_word():
    pytest.importorskip("pyspiel")
    command = [sys.executable, "-m", "riverboat.interfaces.cli", "solve", "open_spiel:dots_and_boxes"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        *_, last = process.stderr
    assert process.returncode == 130
    assert re.match(r"building the tree of open_spiel:dots_and_boxes: [0-9,]+", first)
    assert re.match(r"interrupted while building the tree of open_spiel:dots_and_boxes, at [0-9,]+ histories", last)
