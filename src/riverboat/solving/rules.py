"""A user's compiled rule in place of regret matching, in every traversal.

The kernels call `match` and `learn` by their global names, so compiling the same code with other globals gives
kernels for another rule. Built-in schedules use the kernels as they are, cached on disk; a user's rule is
compiled once per process.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from riverboat.errors import InputError
from riverboat.jit import OPTIONS
from riverboat.solving import _kernels, _loops
from riverboat.solving.schedules import AnySchedule, Rule
from riverboat.walks import _board_kernels, _node_kernels


def _check(rule: Rule, dtype: str) -> None:
    for what in ("strategy", "update"):
        if not isinstance(getattr(rule, what), Dispatcher):
            raise InputError(f"rule {rule.name!r}: {what} must be compiled: put @numba.njit above it")
    # Compile the rule by itself first: compiled from inside a kernel it would inherit that it may not allocate.
    some = [np.ones((2, 2), dtype)[:, :1] for _ in range(3)]
    rule.strategy(some[0], some[1], 1.0, some[2])
    rule.update(some[0], some[1], some[2], 1.0)


def _rebind(modules: tuple[ModuleType, ...], made: dict[str, Any]) -> None:
    """Compile again what calls the functions in `made`, and add it to them."""
    for module in modules:
        names = {**vars(module), **made}
        for name, function in vars(module).items():
            if not isinstance(function, Dispatcher) or function.__module__ != module.__name__ or name in made:
                continue
            # In the order of the file: a function stands below those it calls.
            if not set(function.py_func.__code__.co_names) & set(made):
                continue
            copy = FunctionType(function.py_func.__code__, names, name)
            made[name] = names[name] = njit(**OPTIONS)(copy)


@cache
def _specialise(rule: Rule, dtype: str) -> SimpleNamespace:
    _check(rule, dtype)
    strategy, update = rule.strategy, rule.update

    @njit(nogil=True)
    def match(regret, prediction, at, width, low, high, t, out, to):  # type: ignore[no-untyped-def]
        guess = prediction if len(prediction) > 0 else regret  # the rule must not use it where none is kept
        strategy(regret[at : at + width, low:high], guess[at : at + width, low:high], t, out[to : to + width, low:high])

    @njit(nogil=True)
    def learn(  # type: ignore[no-untyped-def]
        regret, prediction, at, width, low, high, positive, negative, floor, t, instant, to
    ):
        guess = prediction if len(prediction) > 0 else regret
        update(
            regret[at : at + width, low:high], guess[at : at + width, low:high], instant[to : to + width, low:high], t
        )

    @njit(**OPTIONS)
    def reach_on(regret, prediction, at, width, low, high, t, reach, here, after, row):  # type: ignore[no-untyped-def]
        match(regret, prediction, at, width, low, high, t, after, row)
        for a in range(width):
            for h in range(low, high):
                after[row + a, h] *= reach[here, h]

    @njit(**OPTIONS)
    def absorb(  # type: ignore[no-untyped-def]
        regret, prediction, average, at, width, low, high, step, share, instant, reach, row
    ):
        for a in range(width):
            for h in range(low, high):
                instant[row + a, h] *= share[h]  # nobody reads it after this
        learn(regret, prediction, at, width, low, high, step[0], step[1], step[2], step[4], instant, row)
        for a in range(width):
            for h in range(low, high):
                average[at + a, h] = average[at + a, h] * step[3] + reach[row + a, h]

    made: dict[str, Any] = {"match": match, "learn": learn, "reach_on": reach_on, "absorb": absorb}
    _rebind((_kernels, _loops), made)
    return SimpleNamespace(**{**vars(_kernels), **vars(_loops), **made})


_BUILT_IN = SimpleNamespace(**{**vars(_kernels), **vars(_loops)})


def kernels(schedule: AnySchedule, dtype: str) -> SimpleNamespace:
    """The compiled loops for a schedule or a rule."""
    return _BUILT_IN if schedule.rule is None else _specialise(schedule.rule, dtype)


@cache
def _specialise_boards(rule: Rule, dtype: str) -> SimpleNamespace:
    _check(rule, dtype)
    strategy, update = rule.strategy, rule.update

    @njit(nogil=True)
    def play(regret, prediction, at, width, rows, t, stride, out, to):  # type: ignore[no-untyped-def]
        block = regret[at : at + width * rows].reshape(width, rows)
        guess = prediction[at : at + width * rows].reshape(width, rows) if len(prediction) > 0 else block
        strategy(block, guess, t, out[to : to + width * stride].reshape(width, stride)[:, :rows])

    @njit(nogil=True)
    def absorb(  # type: ignore[no-untyped-def]
        regret, prediction, at, width, rows, step, stride, value, kids, node, room, to
    ):
        instant = room[to : to + width * stride].reshape(width, stride)[:, :rows]
        for a in range(width):
            for h in range(rows):
                instant[a, h] = value[kids[a] + h] - value[node + h]
        block = regret[at : at + width * rows].reshape(width, rows)
        guess = prediction[at : at + width * rows].reshape(width, rows) if len(prediction) > 0 else block
        update(block, guess, instant, step[4])

    made: dict[str, Any] = {"play": play, "absorb": absorb}
    _rebind((_node_kernels, _board_kernels), made)
    return SimpleNamespace(**{**vars(_board_kernels), **made})


def board_kernels(schedule: AnySchedule, dtype: str) -> Any:
    """The compiled loops over boards for a schedule or a rule."""
    return _board_kernels if schedule.rule is None else _specialise_boards(schedule.rule, dtype)
