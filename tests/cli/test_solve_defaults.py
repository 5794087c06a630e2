"""`rb.solve` and `riverboat solve` have the same defaults."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import riverboat as rb
from riverboat.api import estimate as estimates
from riverboat.api.options import options_of
from riverboat.api.solve import solve as solve_verb
from riverboat.api.sweep import sweep
from riverboat.cli import main as cli
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.core.formatting import parse_duration
from riverboat.games.base import Game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.exact import solve as _exact  # noqa: F401 - loaded before it is patched
from riverboat.solvers.result import Result, SolveProgress
from riverboat.solvers.run import CFRRun
from riverboat.solvers.solver_run import SolveLimits, effective_limits

FLAGS = ["--board", "Td9d6hQc2s", "--pot", "100", "--stack", "300", "--oop", "99+", "--ip", "22+", "--bets", "60%"]
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+", ip="22+", bets="60%")
SPOT_FILE = "examples/spots/river.toml"


class Begun(Exception):
    """Raised before the first iteration, when all options are known."""


def settings_of(monkeypatch: pytest.MonkeyPatch, solve: Any) -> dict[str, Any]:
    """Return the limits, the answer, and all options of the run that a solve is about to start."""
    found: dict[str, Any] = {}

    def finish(run: Any, limits: SolveLimits, *_: object, **__: object) -> Result:
        run.set_limits(limits)
        solver = run.solver
        found.update(limits._asdict(), check_every=run.check_every, folder=getattr(run, "folder", None))
        if isinstance(run, CFRRun):
            found.update(answer=run.answer, checkpoint=run.checkpoint_seconds, schedule=str(solver.schedule))
            found.update(dtype=solver.dtype, threads=solver.threads, seed=solver.seed)
        raise Begun

    with monkeypatch.context() as patched:
        patched.setattr("riverboat.api.solve.run_to_end", finish)
        patched.setattr("riverboat.solvers.exact.solve.run_to_end", finish)
        with pytest.raises((Begun, SystemExit)):  # the command turns every exception into an exit
            solve()
    assert found
    return found


@pytest.mark.parametrize("limits", [{}, {"iterations": 30}, {"until": 0.7}, {"time": 30.0}])
@pytest.mark.parametrize(
    ("words", "game", "method"),
    [
        (["spot", *FLAGS], SPOT, "cfr"),
        ([SPOT_FILE], SPOT_FILE, "cfr"),
        (["leduc"], "leduc", "cfr"),
        (["flop_holdem:one-bet,ranks=4,suits=2"], "flop_holdem:one-bet,ranks=4,suits=2", "cfr"),
        (["tests/data/game.efg"], "tests/data/game.efg", "cfr"),
        (["kuhn"], "kuhn", "egt"),
    ],
    ids=["spot by flags", "spot file", "small game", "hold'em", "Gambit file", "EGT"],
)
def test_both_paths_do_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], game: Any, method: Any, limits: dict[str, Any]
) -> None:
    if str(game).endswith(".efg"):
        path = tmp_path / "game.efg"
        rb.save(rb.game("kuhn"), path)
        words, game = [str(path)], str(path)
    flags = [word for name, value in limits.items() for word in (f"--{name}", f"{value}{'s' * (name == 'time')}")]
    how = [] if method == "cfr" else ["--method", method]
    api = settings_of(monkeypatch, lambda: rb.solve(game, method=method, **limits))
    command = settings_of(monkeypatch, lambda: main(["solve", *words, *how, *flags]))
    assert api == command
    assert {key: api[key] for key in limits} == limits


def test_the_defaults_of_kinds_of_games() -> None:
    spot: Game = SPOT
    assert (
        effective_limits(spot, "cfr", SolveLimits())
        == effective_limits(spot, "egt", SolveLimits())
        == SolveLimits(until=0.5)
    )
    assert effective_limits(game_from_spec("kuhn"), "cfr", SolveLimits()) == SolveLimits(iterations=1000)
    assert effective_limits(game_from_spec("kuhn"), "lp", SolveLimits()) == SolveLimits()
    given = SolveLimits(time=1.0)
    assert effective_limits(spot, "cfr", given) is given
    assert rb.solve(SPOT).exploitability <= 0.5
    assert (
        effective_limits(spot, "cfr", SolveLimits()).until == estimates.DEFAULT_TARGET
    )  # used by the web page and --estimate


def test_custom_stoppers_replace_the_default_limits() -> None:
    assert rb.solve("kuhn", stop=[lambda now: now.iteration >= 1200]).iterations == 1200

    def enough(now: SolveProgress) -> bool:
        return now.iteration >= 40

    assert rb.solve(SPOT, stop=[enough]).iterations == 40
    assert rb.solve("kuhn", method="egt", stop=[enough]).iterations == 40


def defaults(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


ALIKE = {  # a default of the command in the notation of the Python API
    "checkpoint": ("checkpoint_seconds", parse_duration),
    "checkpoint_seconds": ("checkpoint_seconds", parse_duration),
}


@pytest.mark.parametrize(("command", "verb"), [("solve", solve_verb), ("sweep", sweep)])
def test_defaults_of_commands_are_those_of_the_api(command: Any, verb: Any) -> None:
    api, compared = defaults(verb), []
    for name, default in defaults(cli.make_command(command)).items():
        there, read = ALIKE.get(name, (name, lambda given: given))
        if there not in api:
            there, read = name, lambda given: given
        if there in api:
            assert read(default) == api[there], name
            compared.append(there)
    assert set(api) - set(compared) <= {
        "callback",
        "stop",
        "progress",
        "observer",
    }  # arguments that only a program can give


def test_every_option_of_the_verb_is_one_of_the_command() -> None:
    command = inspect.signature(cli.make_command("solve")).parameters
    options = options_of(solve_verb)
    assert set(options) <= set(command)
    assert all(option.help for option in options.values())


# --- Names of games ---


@pytest.mark.parametrize(
    ("typed", "meant"), [("spots", "spot"), ("sopt", "spot"), ("kuhm", "kuhn"), ("leducc", "leduc"), ("rp", "rps")]
)
def test_misspelled_games_get_a_suggestion(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    """Suggestions include all names that the command takes, also `spot`."""
    with pytest.raises(SystemExit) as ended:
        main(["solve", typed])
    assert ended.value.code == 2
    assert f"{meant!r}?" in capsys.readouterr().err
    with pytest.raises(InputError, match=f"'{meant}'"):
        rb.game(typed)


def test_spot_needs_its_flags() -> None:
    with pytest.raises(InputError, match=r"Spot\.make"):
        rb.game("spot")
