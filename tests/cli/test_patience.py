"""Growing trees are never silent: they are rejected at once, report progress, and end with a message."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import time as clock
from types import SimpleNamespace

import pytest

from riverboat.cli import progress
from riverboat.core import budget
from riverboat.core.budget import BuildProgress
from riverboat.formats.gambit import loads_efg
from riverboat.games import registry, tree_layout

# A dozen OpenSpiel games, one for each kind of outcome.
SOLVED = ["kuhn_poker", "matrix_rps", "python_kuhn_poker", "matrix_pd"]
REFUSED = {
    "nfg_game": r"needs parameters: write it as open_spiel:nfg_game\(filename=…\)",
    "cached_tree": "needs parameters",
    "efg_game(filename=nowhere.efg)": "OpenSpiel says",
    "mfg_garnet": "mean-field",
    "negotiation": "chance outcomes",
    "backgammon": "information_state_string",
}
BRIEFLY = ["--iterations", "1", "--time", "1s", "--memory", "2GB"]  # the same on every machine
BUDGET = 2.5  # seconds after which a growing game is interrupted
TICK = 0.001  # simulated seconds per reading of the clock


class Hurried(progress.GrowthProgressLine):
    """Interrupts work that takes longer than the budget, as a user would."""

    def __call__(self, grown: BuildProgress) -> None:
        super().__call__(grown)
        if grown.state == "growing" and grown.seconds > BUDGET:
            raise KeyboardInterrupt


@pytest.fixture
def even_time(monkeypatch):
    """Simulate the clock and memory, so that trees grow at the same pace on every machine, and interrupt long ones."""
    ticks = itertools.count()
    even = SimpleNamespace(monotonic=lambda: TICK * next(ticks))
    monkeypatch.setattr(budget, "clock", even)
    monkeypatch.setattr(tree_layout, "clock", even)
    monkeypatch.setattr(budget, "resident_memory", lambda: None)
    monkeypatch.setattr("riverboat.cli.termination.GrowthProgressLine", Hurried)


@pytest.fixture
def names() -> list[str]:
    pyspiel = pytest.importorskip("pyspiel")
    import open_spiel.python.games  # noqa: F401  # registers the games that are written in Python

    # Registered where PokerKit is installed: a single call of its states takes minutes, during which nothing is interrupted.
    return sorted({*pyspiel.registered_names()} - {"python_pokerkit_wrapper"})


def solve(run, name):
    """Return the exit code, the last line, and whether it was the only line apart from progress."""
    code, out, err = run("solve", f"open_spiel:{name}", *BRIEFLY, "--json")
    assert "Traceback" not in err
    progress = re.compile(r"building the tree of|\S+ dcfr(:|  )")
    lines = [line for line in err.splitlines() if not progress.match(line)]
    assert len(lines) == (code != 0), (name, lines)
    return code, lines[0] if lines else out


@pytest.mark.parametrize("name", SOLVED)
def test_open_spiel_games_that_are_small(run, names, name):
    assert solve(run, name)[0] == 0


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_open_spiel_games(run, names, name):
    code, line = solve(run, name)
    assert code == 2
    assert re.search(REFUSED[name], line)


@pytest.mark.parametrize("name", ["phantom_ttt", "blackjack", "bargaining"])
def test_open_spiel_game_that_does_not_fit(run, names, even_time, name):
    code, line = solve(run, name)
    assert code == 3
    assert re.search(rf"open_spiel:{name}: about [0-9.]+e\+[0-9]+ histories, which need .* 2 GB are allowed", line)


@pytest.mark.slow
def test_every_open_spiel_game_ends_with_a_message(run, names, even_time):
    """Every game is solved, rejected in one line, or interrupted with progress; there are no tracebacks and no long
    silence.
    """
    ends = {}
    for name in names:
        code, line = ends[name] = solve(run, name)
        assert code in (0, 2, 3, 130), ends[name]
        assert code != 130 or line.startswith(f"interrupted while building the tree of open_spiel:{name}")
    assert sum(code == 0 for code, _ in ends.values()) >= 9
    print(*(f"{name} {end}" for name, end in ends.items()), sep="\n")


# Options too large for any machine: rejected by their range or an estimate, or interrupted while the tree grows.
ABSURD = {
    "kuhn:cards=1000000000": 2,
    "kuhn:suits=1000000000": 2,
    "kuhn:stack=1e18": 2,
    "kuhn:stack=10000,menu=*": 3,
    "kuhn:cap=1000000000": 130,
    "kuhn:stack=1e15,menu=1c": 130,
    "leduc:ranks=1000000": 2,
    "leduc:stack=10000,menu=*": 3,
    "leduc:cap=1000000": 130,
    "leduc:ranks=2000": 130,
    "bluff:9,9": 2,
    "bluff:1000000000,1": 2,
    "holdem": 3,
    "holdem:4-1000000000000": 130,
    "holdem:ranks=1000000000": 2,
    "coin_toss:left=inf": 2,
    "clairvoyance:stack=1e18": 2,
    "clairvoyance:stack=1e308": 2,
    "clairvoyance:chip=1e-300": 2,
    "rps:moves=1000000": 2,
    "rpst:moves=1000000": 2,
    "negotiation:limits=1000000000": 2,
    "negotiation:offers=1000000000": 2,
    "rhode_island:ranks=100000": 2,
    "rhode_island:cap=1000000000": 130,
    "flop_holdem:ranks=1000000000": 2,
    "flop_holdem:large,stack=1000000000000": 2,
}


@pytest.mark.parametrize(("name", "expected"), ABSURD.items())
def test_absurd_options_are_rejected_or_report_progress(run, request, name, expected):
    if expected == 130:
        request.getfixturevalue("even_time")
    code, out, err = run("solve", name, *BRIEFLY, "--json")
    assert (code, out) == (expected, "")
    *told, line = err.splitlines()
    assert all(re.match(r"(building|listing|numbering|ordering) the ", said) for said in told)
    assert line.startswith("interrupted while building the " if code == 130 else "error: ")


def test_every_game_has_absurd_options():
    assert {name.partition(":")[0] for name in ABSURD} == set(registry.GAMES)


def test_reading_a_long_file_reports_progress(monkeypatch):
    monkeypatch.setattr(budget, "CHECK_INTERVAL", 0.0)
    moves = " ".join(f'"{k}"' for k in range(40))
    ends = "\n".join('t "" 1 "" { 0 0 }' for _ in range(40))
    told: list[BuildProgress] = []
    with budget.build_context(told.append):
        loads_efg(f'EFG 2 R "long" {{ "A" "B" }}\np "" 1 1 "" {{ {moves} }} 0\n{ends}', "long")
    assert told[0].task == "reading long"
    assert (told[-1].state, told[-1].count, told[-1].expected) == ("done", 42, 42)


def test_growth_progress_line_is_removed(capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_LINE_SECONDS", 0.01)
    told = progress.GrowthProgressLine()
    told(BuildProgress("building the tree of x", "histories", 4000, 2.5e6, 1.0))
    while not (said := capsys.readouterr().err):
        clock.sleep(0.01)
    assert said.startswith("building the tree of x  0 %  4,000 of about 2.5e+06 histories")
    told(BuildProgress("building the tree of x", "histories", 240_000, None, 60.0, "interrupted"))
    assert told.line is None
    assert told.interrupted == " while building the tree of x, at 240,000 histories"


@pytest.mark.posix
def test_ctrl_c_prints_a_message(processes):
    pytest.importorskip("pyspiel")
    command = (
        "solve",
        "open_spiel:dots_and_boxes",
        "--memory",
        "900000GB",
    )  # otherwise it is rejected before the first line
    with processes.riverboat(*command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        *_, last = process.stderr
    assert process.returncode == 130
    assert re.match(r"building the tree of open_spiel:dots_and_boxes  .*[0-9,]+ of about", first)
    assert re.match(r"interrupted while building the tree of open_spiel:dots_and_boxes, at [0-9,]+ histories", last)


@pytest.mark.parametrize("threads", [0, -1, 10**6])
@pytest.mark.parametrize(
    "command",
    [
        ["solve", "kuhn", "--iterations", "1"],
        ["equity", "AA", "KK"],
        ["features", "preflop"],
        ["abstract", "tiny", "--estimate"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_threads_have_one_range(run, command, threads):
    code, out, err = run(*command, "--threads", threads)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: .*threads.*(must be 1 to 1,024|(greater|less) than or equal to \d+)", err.strip())
