"""`rb.solve` and `riverboat solve` are one verb: what is not said means the same in both."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import riverboat as rb
from riverboat.api.sweep import sweep
from riverboat.cli import main as cli
from riverboat.cli.files import commands
from riverboat.cli.main import main
from riverboat.cli.solve import options, spot_estimate
from riverboat.cli.solve.options import SolveOptions
from riverboat.cli.terminal import duration
from riverboat.core.errors import InputError
from riverboat.games.base import Game
from riverboat.games.registry import make
from riverboat.solvers import run as runs
from riverboat.solvers.limits import Limits, limits_for
from riverboat.solvers.result import Progress, Result
from riverboat.solvers.run import Run

FLAGS = ["--board", "Td9d6hQc2s", "--pot", "100", "--stack", "300", "--oop", "99+", "--ip", "22+", "--bets", "60%"]
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+", ip="22+", bets="60%")
SPOT_FILE = "examples/spots/river.toml"


class Begun(Exception):
    """Everything is known before the first iteration."""


def options_of(monkeypatch: pytest.MonkeyPatch, solve: Any) -> dict[str, Any]:
    """What a solve is about to do: its limits, its answer, and all that its run was made with."""
    found: dict[str, Any] = {}

    def finish(run: Any, limits: Limits, *_: object, **__: object) -> Result:
        run.aim(limits)
        solver = run.solver
        found.update(limits._asdict(), check_every=run.check_every, folder=getattr(run, "folder", None))
        if isinstance(run, Run):
            found.update(answer=run.answer, checkpoint=run.checkpoint_seconds, schedule=str(solver.schedule))
            found.update(dtype=solver.dtype, threads=solver.threads, seed=solver.seed)
        raise Begun

    with monkeypatch.context() as patched:
        patched.setattr("riverboat.solvers.run.finish", finish)
        patched.setattr("riverboat.solvers.exact.solve.finish", finish)
        patched.setattr("riverboat.cli.solve.solve.finish", finish)
        with pytest.raises((Begun, SystemExit)):  # the command ends by exiting, whatever was raised
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
    api = options_of(monkeypatch, lambda: rb.solve(game, method=method, **limits))
    command = options_of(monkeypatch, lambda: main(["solve", *words, *how, *flags]))
    assert api == command
    assert {key: api[key] for key in limits} == limits


def test_the_defaults_of_kinds_of_games() -> None:
    spot: Game = SPOT
    assert limits_for(spot, "cfr", Limits()) == limits_for(spot, "egt", Limits()) == Limits(until=0.5)
    assert limits_for(make("kuhn"), "cfr", Limits()) == Limits(iterations=1000)
    assert limits_for(make("kuhn"), "lp", Limits()) == Limits()
    given = Limits(time=1.0)
    assert limits_for(spot, "cfr", given) is given
    assert rb.solve(SPOT).exploitability <= 0.5
    assert limits_for(spot, "cfr", Limits()).until == spot_estimate.TARGET  # what the web page and --estimate count on


def test_stoppers_of_a_caller_take_the_place_of_defaults() -> None:
    assert rb.solve("kuhn", stop=[lambda now: now.iteration >= 1200]).iterations == 1200

    def enough(now: Progress) -> bool:
        return now.iteration >= 40

    assert rb.solve(SPOT, stop=[enough]).iterations == 40
    assert rb.solve("kuhn", method="egt", stop=[enough]).iterations == 40


def defaults(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


ALIKE = {  # a default of the command, as the Python API writes it
    "checkpoint": ("checkpoint_seconds", duration),
    "schedule": ("schedules", lambda given: tuple(given or ["dcfr"])),
}


@pytest.mark.parametrize(("command", "verb"), [(cli.solve, runs.solve), (commands.sweep, sweep)])
def test_defaults_of_commands_are_those_of_the_api(command: Any, verb: Any) -> None:
    api, compared = defaults(verb), []
    for name, default in defaults(command).items():
        there, read = ALIKE.get(name, (name, lambda given: given))
        if there not in api:
            there, read = name, lambda given: given
        if there in api:
            assert read(default) == api[there], name
            compared.append(there)
    assert set(api) - set(compared) <= {"callback", "stop", "progress"}  # what only a program can give


def test_options_are_those_of_the_command() -> None:
    """What the command hands on, where nothing was given."""
    plain = SolveOptions()
    for name, default in defaults(cli.solve).items():
        there, read = ALIKE.get(name, (name, lambda given: given))
        if hasattr(plain, there):
            assert read(default) == getattr(plain, there), name
    assert options.SolveOptions().limits == Limits()


# --- names of games ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"), [("spots", "spot"), ("sopt", "spot"), ("kuhm", "kuhn"), ("leducc", "leduc"), ("rp", "rps")]
)
def test_a_name_that_is_nearly_right_is_corrected(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    """Among all words that the command takes, `spot` for one by flags too."""
    with pytest.raises(SystemExit) as ended:
        main(["solve", typed])
    assert ended.value.code == 2
    assert f"{meant!r}?" in capsys.readouterr().err
    with pytest.raises(InputError, match=f"'{meant}'"):
        rb.game(typed)


def test_a_spot_is_no_game_without_its_cards() -> None:
    with pytest.raises(InputError, match=r"Spot\.make"):
        rb.game("spot")
