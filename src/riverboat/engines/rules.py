"""A user's compiled rule in place of regret matching.

Kernels call what is replaced by its global name, so compiling the same code with other globals gives kernels for another
rule. Built-in schedules use the kernels as they are, cached on disk; a user's rule is compiled once per process.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from riverboat.compiled.jit import OPTIONS
from riverboat.core.errors import InputError
from riverboat.engines.cpu._kernels import board, gadget
from riverboat.engines.cpu._kernels import node as _node_kernels
from riverboat.engines.tables import Format


class LocalRule(Protocol):
    """Compiled functions of the numbers of some information sets, [moves, sets] each."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def strategy(self) -> Any:
        """(regret, prediction, t, out): what is played."""
        ...

    @property
    def update(self) -> Any:
        """(regret, prediction, instant, t): what is learnt."""
        ...


def check_rule(rule: LocalRule, dtype: str) -> None:
    """Refuse a rule that is not compiled, and compile one that is."""
    for what in ("strategy", "update"):
        if not isinstance(getattr(rule, what), Dispatcher):
            raise InputError(f"rule {rule.name!r}: {what} must be compiled: put @numba.njit above it")
    # Compile the rule by itself first: compiled from inside a kernel it would inherit that it may not allocate.
    for some in ([np.ones((2, 2), dtype)[:, :1] for _ in range(3)], [np.ones((2, 2)) for _ in range(3)]):
        rule.strategy(some[0], some[1], 1.0, some[2])
        rule.update(some[0], some[1], some[2], 1.0)


def rebind(modules: tuple[ModuleType, ...], made: dict[str, Any]) -> None:
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
def _specialise(rule: LocalRule, dtype: str) -> SimpleNamespace:
    check_rule(rule, dtype)
    strategy, update = rule.strategy, rule.update

    @njit(nogil=True)
    def play(  # type: ignore[no-untyped-def]
        regret, prediction, at, width, rows, t, stride, reach, begin, sigma, keeps, out, to
    ):
        block = regret[at : at + width * rows].reshape(width, rows)
        guess = prediction[at : at + width * rows].reshape(width, rows) if len(prediction) > 0 else block
        after = out[to : to + width * stride].reshape(width, stride)[:, :rows]
        strategy(block, guess, t, after)
        for a in range(width):
            for h in range(rows):
                if keeps:
                    sigma[to + a * stride + h] = after[a, h]
                after[a, h] *= reach[begin + h]

    @njit(nogil=True)
    def absorb(  # type: ignore[no-untyped-def]
        regret, prediction, at, width, rows, step, stride, value, kids, node, sigma, to, weight
    ):
        instant = sigma[to : to + width * stride].reshape(width, stride)[:, :rows]
        for h in range(rows):
            value[node + h] = 0
            for a in range(width):
                value[node + h] += instant[a, h] * value[kids[a] + h]
            for a in range(width):
                instant[a, h] = value[kids[a] + h] - value[node + h]
        block = regret[at : at + width * rows].reshape(width, rows)
        guess = prediction[at : at + width * rows].reshape(width, rows) if len(prediction) > 0 else block
        update(block, guess, instant, step[4])

    @njit(nogil=True)
    def root_play(regret, prediction, t, out):  # type: ignore[no-untyped-def]
        strategy(regret, prediction if len(prediction) > 0 else regret, t, out)

    @njit(nogil=True)
    def root_absorb(regret, prediction, step, instant):  # type: ignore[no-untyped-def]
        update(regret, prediction if len(prediction) > 0 else regret, instant, step[4])

    made: dict[str, Any] = {"play": play, "absorb": absorb, "root_play": root_play, "root_absorb": root_absorb}
    rebind((_node_kernels, gadget, board), made)
    return SimpleNamespace(**{**vars(board), **made})


def board_loops(rule: LocalRule | None, form: Format) -> Any:
    """The compiled loops over boards, for regret matching or for a rule, with tables of a format."""
    if rule is None:
        return board
    if form.regret == "int16":
        raise InputError("a rule of your own needs float32 or float64 regrets: dtype='compact' or 'float64'")
    return _specialise(rule, form.work)
