"""One definition of an option: the signature and docstring of an API function make its command and its web form."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import ValidationError
from typer.testing import CliRunner

from riverboat.api.abstract import abstract
from riverboat.api.options import (
    Flag,
    Limits,
    Threads,
    options_of,
    parameter_help,
    parse_byte_size,
    parse_seconds,
    parse_target,
    read_function,
)
from riverboat.api.solve import solve
from riverboat.api.spots import spot_from_match_state, spot_from_texts
from riverboat.api.train import train
from riverboat.cli import main as cli
from riverboat.cli.command import Command, given, options_for
from riverboat.core.errors import InputError
from riverboat.web.models import JobRequest


def example(
    game: str | object,
    *,
    threads: Threads = 2,
    share: Annotated[float, Limits(0, 1)] | None = None,
    pause: Annotated[float | str, Flag("--wait")] = 60.0,
    kind: Literal["a", "b"] = "a",
    force: bool = False,
    callback: Any = None,
    listener: InputError | None = None,
) -> None:
    """Do something.

    Parameters
    ----------
    game
        Name of a game. It may have options.
    threads
        Threads to use
        on this machine.
    share
        Share of the work.
    pause
        Time to wait.
    kind
        a or b.
    force
        Whether to overwrite.
    callback, listener
        Called with the progress.

    Returns
    -------
    None
    """
    if kind == "b":
        raise InputError("kind 'b': not supported; give share=…")


SOURCE = f"{__name__}:example"
FOUND: dict[str, Any] = {}


def run(name: str, *, force: bool = True, paths: list[Path] | None = None, **options: Any) -> bool:
    """Run it.

    Parameters
    ----------
    name
        Name of the run.
    force
        Whether to overwrite.
    paths
        Files to read.
    """
    FOUND.clear()
    FOUND.update(options, name=name, own=force, paths=paths)
    example(name, **options_for(SOURCE, options))
    return name != "unfinished"


def test_options_come_from_signature_and_docstring() -> None:
    options = options_of(example)
    assert list(options) == ["game", "threads", "share", "pause", "kind", "force"]  # a program gives the others
    threads = options["threads"]
    assert (threads.type, threads.default, threads.minimum, threads.maximum) == (int, 2, 1, 1024)
    assert threads.help == "Threads to use on this machine."
    assert options["game"].help == "Name of a game."
    assert options["game"].default is inspect.Parameter.empty
    assert (options["share"].type, options["share"].optional, options["share"].maximum) == (float, True, 1)
    assert (options["pause"].type, options["pause"].flag_name) == (str, "--wait")
    assert (options["force"].type, options["force"].flag_name) == (bool, "--force")


def call(*words: str) -> tuple[int, dict[str, Any], str]:
    """Run a command with the options of `example`; return its exit code, options, and the error."""
    app = typer.Typer(rich_markup_mode=None)
    app.command()(Command(f"{__name__}:run", SOURCE))
    result = CliRunner().invoke(app, list(words))
    error = "" if result.exception is None else str(result.exception)
    return result.exit_code, dict(FOUND), error + result.output


def test_command_has_the_options_of_the_function() -> None:
    code, found, _ = call("x", "--threads", "3", "--wait", "5m", "--paths", "a", "--paths", "b")
    assert code == 0
    assert found == {
        "name": "x", "own": True, "paths": [Path("a"), Path("b")], "threads": 3, "share": None, "pause": "5m", "kind": "a",
    }  # fmt: skip
    assert call("x")[1]["pause"] == "60s"
    assert call("unfinished")[0] == 1
    shown = " ".join(call("--help")[2].split())
    assert "Threads to use on this machine." in shown
    assert "Name of the run." in shown
    for words in (("--threads", "0"), ("--share", "1.5"), ("--unknown", "1")):
        assert call("x", *words)[0] == 2


@pytest.mark.parametrize("words", cli.COMMANDS)
def test_signatures_are_read_without_imports(words: str) -> None:
    """Names and types in a signature are those of the imported function."""
    command = cli.make_command(words)
    for source in (command.source, *command.api):
        module, name = source.split(":")
        assert options_of(read_stub(source)) == options_of(getattr(importlib.import_module(module), name))


def read_stub(source: str) -> Any:
    """Read a function as if its module was not imported."""
    module = source.partition(":")[0]
    loaded = sys.modules.pop(module, None)
    try:
        return read_function(source)
    finally:
        if loaded is not None:
            sys.modules[module] = loaded


def test_errors_name_the_flag() -> None:
    code, _, error = call("x", "--kind", "b")
    assert code == 1
    assert error.startswith("--kind 'b'")
    assert "give --share" in error


def test_given_options_are_neither_absent_nor_off() -> None:
    assert given({"a": None, "b": False, "c": 0, "d": "", "e": True}) == {"c": 0, "d": "", "e": True}


@pytest.mark.parametrize(
    ("function", "commands"),
    [
        (solve, "solve"),
        (spot_from_texts, "solve"),
        (spot_from_match_state, "solve"),
        (train, "train"),
        (abstract, "abstract"),
    ],
)
def test_every_option_of_a_verb_is_one_of_its_command(function: Any, commands: Any) -> None:
    options = {name: option for name, option in options_of(function).items() if name != "state"}
    assert set(options) <= set(inspect.signature(cli.make_command(commands)).parameters)
    assert [name for name, option in options.items() if not option.help] == []
    assert set(parameter_help(function)) >= set(options)


def test_texts_of_the_terminal() -> None:
    assert parse_seconds("90s") == parse_seconds(90.0) == 90.0
    assert parse_byte_size("1.5GiB") == parse_byte_size(3 << 29) == 3 << 29
    assert parse_target("0.5%", "% of pot") == parse_target(0.5, "% of pot") == 0.5
    for wrong in (
        lambda: parse_byte_size("some"),
        lambda: parse_target("1%", "chips"),
        lambda: parse_target("0", "chips"),
    ):
        with pytest.raises(InputError):
            wrong()


def test_requests_have_the_limits_of_the_verb() -> None:
    threads = options_of(solve)["threads"]
    assert JobRequest(threads=threads.maximum).threads == threads.maximum
    for wrong in (0, 1 + int(threads.maximum or 0)):
        with pytest.raises(ValidationError):
            JobRequest(threads=wrong)
    assert JobRequest.model_json_schema()["properties"]["until"]["description"] == options_of(solve)["until"].help
