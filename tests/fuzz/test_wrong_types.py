"""Every public function with values of wrong types for each of its parameters.

An invalid value raises an error of ours in one line; the exceptions are values that a parameter allows, which are listed
here. Nothing else may happen: no other exception, no silence, no endless run.
"""

from __future__ import annotations

import functools
import inspect
import math
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

import riverboat as rb
from riverboat import research
from riverboat.core.errors import RiverboatError


def some_function(*_: Any, **__: Any) -> int:
    """A function that fits no parameter but callbacks."""
    return 0


NASTY: dict[str, Any] = {
    "None": None, "5": 5, "x": "x", "[]": [], "object": object(), "function": some_function, "class": dict,
    "array": np.zeros(3), "nan": math.nan, "-1": -1, "huge": 10**30,
}  # fmt: skip
SECONDS = 60  # most of one call


@njit
def uniform(regret: Any, prediction: Any, t: Any, out: Any) -> None:
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            out[a, h] = 1.0 / regret.shape[0]


@njit
def nothing(regret: Any, prediction: Any, instant: Any, t: Any) -> None:
    """Update nothing."""


class Call(NamedTuple):
    """A public function with valid arguments by name; other parameters have their defaults."""

    function: Callable[..., Any]
    valid: dict[str, Any]
    allowed: Mapping[str, str] = MappingProxyType(
        {}
    )  # by parameter: names of values that it allows, besides None where it is the default
    costly: bool = False  # then allowed values are not tried


SPOT = {"board": "Qs Jh 2h 8c 3d", "pot": 100, "stack": 200, "oop": "AA,KK", "ip": "QQ,JJ", "bets": "50%"}


@functools.cache
def strategy() -> rb.Strategy:
    return rb.Strategy.uniform("kuhn")


@functools.cache
def solution() -> Any:
    return rb.solve(rb.Spot.make(**SPOT), iterations=2).strategy


@functools.cache
def swept() -> research.SweepResult:
    return rb.sweep("kuhn", iterations=2)


def solve(**options: Any) -> Any:
    """`rb.solve` with a limit, which a wrong `iterations` must not remove."""
    return rb.solve(**{"iterations": 2, **options})


solve.__signature__ = inspect.signature(rb.solve)  # type: ignore[attr-defined]


def match(first: Any = "always-call", second: Any = "always-fold", **options: Any) -> Any:
    return rb.match(first, second, **options)


match.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("first", "second")),
        *list(inspect.signature(rb.match).parameters.values())[1:],
    ]
)
TRAINING = {"recipe": "leduc.toml", "out": "out", "iterations": 64, "abstraction": "lossless"}
CALLBACKS = dict.fromkeys(("progress", "callback", "stop", "observe", "preparing", "note"), "function")
NUMBERS = "5 -1 huge"

CALLS: dict[str, Call] = {
    "CFR": Call(rb.CFR, {"tree": "kuhn"}, {"seed": "5", "threads": "5", "tick": "5"}),
    "CFR.step": Call(lambda count: rb.CFR("kuhn").step(count), {"count": 2}, {"count": "5"}),
    "Rule": Call(rb.Rule, {"strategy": uniform, "update": nothing}, {
        "strategy": "function", "update": "function", "name": "x", "gamma": "5 huge", "parameters": "[] array",
    }),
    "Schedule": Call(rb.schedules.Schedule, {"name": "mine"}, {
        "name": "x", "alpha": NUMBERS, "beta": NUMBERS, "gamma": "5 huge", "rise": NUMBERS,
    }),
    "dcfr": Call(rb.dcfr, {}, {"alpha": NUMBERS, "beta": NUMBERS, "gamma": "5 huge", "rise": NUMBERS}),
    "cfr_plus": Call(rb.schedules.cfr_plus, {}, {"gamma": "5 huge"}),
    "pcfr_plus": Call(rb.schedules.pcfr_plus, {}, {"gamma": "5 huge"}),
    "linear": Call(rb.schedules.linear, {}),
    "vanilla": Call(rb.schedules.vanilla, {}),
    "schedules.parse": Call(rb.schedules.parse, {"text": "dcfr"}),
    "SequenceForm": Call(rb.SequenceForm, {"tree": "kuhn"}),
    "Strategy": Call(rb.Strategy, {"tree": strategy().tree, "probabilities": strategy().probabilities}),
    "Strategy.uniform": Call(rb.Strategy.uniform, {"tree": "kuhn"}),
    "Strategy.from_mapping": Call(rb.Strategy.from_mapping, {"tree": "kuhn", "rows": {"K:": {"r": 1.0}}}),
    "Strategy.from_mapping row": Call(lambda row: rb.Strategy.from_mapping("kuhn", {"K:": row}), {"row": {"r": 1.0}}),
    "Strategy.from_mapping number": Call(
        lambda p: rb.Strategy.from_mapping("kuhn", {"K:": {"r": p}}), {"p": 1.0}
    ),
    "Strategy.from_function": Call(rb.Strategy.from_function, {"game": "kuhn", "function": lambda _: [0.5, 0.5]}),
    "Strategy.from_function row": Call(
        lambda row: rb.Strategy.from_function("kuhn", lambda _: row), {"row": [0.5, 0.5]}
    ),
    "Strategy.from_sums": Call(rb.Strategy.from_sums, {"tree": strategy().tree, "sums": np.zeros(24)}),
    "Strategy[key]": Call(lambda key: strategy()[key], {"key": "K:"}),
    "Solution[key]": Call(lambda key: solution()[key], {"key": ""}, {"key": "x"}),
    "SolutionNode[action]": Call(lambda action: solution()[""][action], {"action": "x"}, {"action": "x"}),
    "Solution.to_frame": Call(lambda line=None: solution().to_frame(line), {}, {"line": "x"}),
    "Solution.expected_value": Call(
        lambda player, respond=False: solution().expected_value(player, respond=respond), {"player": 0}
    ),
    "Spot.make": Call(rb.Spot.make, SPOT, {
        "pot": "5", "stack": "5", "rake": "", "rake_cap": "", "raise_cap": "5 huge", "most_raises": "5 huge",
        "least_bet": "5", "name": "x", "played": "x", "locks": "[]", "bets": "", "raise_sizes": "",
    }),
    "agent": Call(rb.agent, {"name": "always-call"}, {"seed": "5"}),
    "as_strategy": Call(research.as_strategy, {"strategy": {"K:": {"r": 1.0}}, "game": "kuhn"}, {"name": "x"}),
    "ask": Call(rb.ask, {"strategy": strategy(), "line": "c"}, {"board": "[]"}),
    "check_agent": Call(research.check_agent, {"agent": "always-call"}, {"tables": "5", "seed": "5"}, costly=True),
    "check_game": Call(research.check_game, {"game": "kuhn"}, {"limit": "5", "seed": "5"}),
    "check_schedule": Call(research.check_schedule, {"schedule": "dcfr", "iterations": 200}, {"target": "5 huge"}),
    "check_strategy": Call(research.check_strategy, {"strategy": strategy()}, {"names": "5"}),
    "compile_game": Call(rb.compile_game, {"game": "kuhn"}, {"progress": "function"}),
    "exploit": Call(rb.exploit, {"model": {"K:": {"r": 1.0}}, "p": 0.5, "game": "kuhn"}),
    "exploit epsilon": Call(
        lambda epsilon: rb.exploit(strategy(), epsilon=epsilon), {"epsilon": 0.5}, {"epsilon": "5 huge"}
    ),
    "game": Call(rb.game, {"spec": "kuhn"}, {"note": "function"}),
    "lines_after_chance": Call(
        lambda tree, event=1: research.lines_after_chance(tree, event), {"tree": rb.compile_game("leduc")}, {"event": "5"}
    ),
    "load": Call(rb.load, {"folder": "stored"}),
    "match": Call(match, {"hands": 4}, {"time": "5 huge", "seed": "5", "threads": "5"} | CALLBACKS),
    "matrix": Call(rb.matrix, {"payoffs": [[1, -1], [-1, 1]]}, {"name": "x"}),
    "play": Call(rb.play, {"agent": "always-call"}, {"seed": "5"}),
    "play.act": Call(lambda move: rb.play("always-call", seed=1).act(move), {"move": "c"}),
    "quality": Call(rb.quality, {"strategy": strategy()}, {"threads": "5", "most_minutes": "5 huge", "hands": "5"}),
    "refine": Call(
        rb.refine, {"base": rb.Strategy.uniform("leduc"), "where": "cc/Kh/", "players": (0,), "solver": 2}, {"solver": "5"}
    ),
    "respond": Call(rb.respond, {"strategy": strategy()}, {"player": ""}),
    "save": Call(rb.save, {"strategy": strategy(), "folder": "new"}, {"folder": "x"}),
    "solve": Call(solve, {"game": "kuhn"}, {
        "iterations": "5", "threads": "5", "seed": "5", "check_every": "5", "time": "5 huge", "checkpoint_seconds": "5 huge",
        "until": "5 huge", "stop": "[]", "callback": "function", "out": "x", "log": "x",
    }),
    "sweep": Call(rb.sweep, {"games": "kuhn", "iterations": 2}, {
        "seeds": "5", "iterations": "5", "until": "5 huge", "time": "5 huge", "progress": "function", "out": "x",
    }),
    "SweepResult.save": Call(lambda path: swept().save(path), {"path": "s.csv"}),
    "SweepResult.plot": Call(lambda path: swept().plot(path), {"path": "s.svg"}),
    "trace": Call(rb.trace, {"game_or_tree": "kuhn", "deal": "QJ"}, {"iterations": "5"}),
    "train": Call(rb.train, TRAINING, costly=True, allowed={
        "recipe": "None", "out": "x", "time": "5 huge", "iterations": "5", "threads": "5", "seed": "5", "blades": "None",
        "check_seconds": "5 huge", "checkpoint_seconds": "5 huge", "callback": "function", "stop": "function", "cluster": "x",
        "begin": "x",
    }),
    "abstract": Call(rb.abstract, {"recipe": "tiny", "out": "out"}, costly=True, allowed={
        "out": "x", "threads": "5", "progress": "function",
    }),
}  # fmt: skip


@contextmanager
def time_limit() -> Iterator[None]:
    """Fail instead of waiting for ever."""
    if sys.platform == "win32":
        yield
        return

    def stop(*_: Any) -> None:
        raise AssertionError(f"still running after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """What a call does: "accepted", "rejected", or a description of what must not happen."""
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except RiverboatError as error:
        lines = str(error).splitlines()
        return "rejected" if len(lines) == 1 and len(lines[0]) < 2000 else f"{len(lines)} lines: {str(error)[:200]!r}"
    except AssertionError as error:  # of contract suites, which say what is wrong
        contract = any(frame.function.startswith("check_") for frame in inspect.trace()) or "expected" in str(error)
        return "rejected" if contract and "still running" not in str(error) else f"AssertionError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "accepted"


def problems(name: str) -> list[str]:
    call = CALLS[name]
    found = []
    for parameter in inspect.signature(call.function).parameters.values():
        allowed = set(call.allowed.get(parameter.name, "").split())
        allowed |= {"None"} if parameter.default is None else set()
        for label, value in NASTY.items():
            if (parameter.name, label) == ("workers", "5"):
                continue  # starts processes
            if label in allowed and call.costly:
                continue
            got = outcome(call.function, {**call.valid, parameter.name: value})
            if got == ("accepted" if label in allowed else "rejected"):
                continue
            if label in allowed and got == "rejected" and parameter.default is None:
                continue  # None, but not with these other arguments
            found.append(f"{parameter.name}={label}: {got}")
    return found


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leduc.toml").write_text("game = 'leduc'\n", encoding="utf-8")
    rb.save(strategy(), "stored")


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_are_rejected(name: str) -> None:
    assert problems(name) == []


def test_every_public_function_is_called() -> None:
    """Results and errors are made by functions, not by users."""
    made = {"Result", "RiverboatError", "Solution", "Spot", "research", "schedules"}
    assert set(rb.__all__) - made <= {name.partition(".")[0] for name in CALLS}
