"""User-defined local rules, compiled in place of regret matching.

Kernels call the replaced functions by their global names. So compiling the same code with other globals gives kernels
for another rule. Built-in schedules use the kernels as they are, cached on disk; a user's rule is compiled once per
process.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from riverboat.compiled.jit import KERNEL_OPTIONS
from riverboat.core.errors import InputError
from riverboat.engines.cpu._kernels import board, node
from riverboat.engines.tables import TableFormat


class LocalRule(Protocol):
    """User-defined update rule: two compiled functions on arrays [actions, infosets] of a decision."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def strategy(self) -> Any:
        """Function (regret, prediction, t, out) that writes the strategy of iteration t to `out`."""

    @property
    def update(self) -> Any:
        """Function (regret, prediction, instant, t) that updates the tables by instantaneous regrets, in place."""


def check_rule(rule: LocalRule, dtype: str) -> None:
    """Raise InputError unless a rule's functions are compiled by Numba, and compile them for `dtype` and float64."""
    for name in ("strategy", "update"):
        if not isinstance(getattr(rule, name), Dispatcher):
            raise InputError(f"rule {rule.name!r}: {name} must be compiled: decorate it with @numba.njit")
    # Compile the rule by itself first: compiled from inside a kernel it would inherit the ban on allocations.
    for arrays in ([np.ones((2, 2), dtype)[:, :1] for _ in range(3)], [np.ones((2, 2)) for _ in range(3)]):
        rule.strategy(arrays[0], arrays[1], 1.0, arrays[2])
        rule.update(arrays[0], arrays[1], arrays[2], 1.0)


def recompile_callers(modules: tuple[ModuleType, ...], replacements: dict[str, Any]) -> None:
    """Recompile the kernels of some modules that call replaced functions, so that they call the replacements.

    `replacements` has compiled functions by name; the recompiled kernels are added to it.
    """
    for module in modules:
        names = {**vars(module), **replacements}
        for name, function in vars(module).items():
            if not isinstance(function, Dispatcher) or function.__module__ != module.__name__ or name in replacements:
                continue
            # In the order of the file: a function follows those it calls.
            if not set(function.py_func.__code__.co_names) & set(replacements):
                continue
            copy = FunctionType(function.py_func.__code__, names, name)
            replacements[name] = names[name] = njit(**KERNEL_OPTIONS)(copy)


@njit(nogil=True, inline="always")  # a call from a kernel, which must not allocate, could not return a view
def _as_matrix(table, at, rows, columns):  # type: ignore[no-untyped-def]
    """View a part of a flat table, from offset `at`, as a matrix."""
    return table[at : at + rows * columns].reshape(rows, columns)


@cache
def _compile_rule(rule: LocalRule, dtype: str) -> SimpleNamespace:
    """Return the names of the board kernels' module, with kernels compiled for a user-defined rule."""
    check_rule(rule, dtype)
    strategy, update = rule.strategy, rule.update

    @njit(nogil=True)
    def regret_matching(  # type: ignore[no-untyped-def]
        regret, prediction, at, num_actions, num_hands, t, stride, reach, begin, strategy_out, stores, child_reach, to
    ):
        block = _as_matrix(regret, at, num_actions, num_hands)
        predicted = _as_matrix(prediction, at, num_actions, num_hands) if len(prediction) > 0 else block
        reach_after = _as_matrix(child_reach, to, num_actions, stride)[:, :num_hands]
        strategy(block, predicted, t, reach_after)
        for a in range(num_actions):
            for h in range(num_hands):
                if stores:
                    strategy_out[to + a * stride + h] = reach_after[a, h]
                reach_after[a, h] *= reach[begin + h]

    @njit(nogil=True)
    def update_regrets(  # type: ignore[no-untyped-def]
        regret, prediction, at, num_actions, num_hands, step, stride, value, child_offsets, node, current, to, weight
    ):
        instant = _as_matrix(current, to, num_actions, stride)[:, :num_hands]
        for h in range(num_hands):
            value[node + h] = 0
            for a in range(num_actions):
                value[node + h] += instant[a, h] * value[child_offsets[a] + h]
            for a in range(num_actions):
                instant[a, h] = value[child_offsets[a] + h] - value[node + h]
        block = _as_matrix(regret, at, num_actions, num_hands)
        predicted = _as_matrix(prediction, at, num_actions, num_hands) if len(prediction) > 0 else block
        update(block, predicted, instant, step[4])

    @njit(nogil=True)
    def match_stop_or_enter(regret, prediction, t, first, out):  # type: ignore[no-untyped-def]
        block = regret[first : first + 2]
        predicted = prediction[first : first + 2] if len(prediction) > 0 else block
        strategy(block, predicted, t, out[first : first + 2])

    @njit(nogil=True)
    def match_choice(regret, prediction, t, out):  # type: ignore[no-untyped-def]
        block = regret[0].reshape((-1, 1))
        predicted = prediction[0].reshape((-1, 1)) if len(prediction) > 0 else block
        strategy(block, predicted, t, out[0].reshape((-1, 1)))

    @njit(nogil=True)
    def update_root_regrets(regret, prediction, step, instant):  # type: ignore[no-untyped-def]
        predicted = prediction if len(prediction) > 0 else regret
        chosen = len(regret) % 2  # whether the first action is the choice of a hand
        if chosen:
            block, guess = regret[0].reshape((-1, 1)), predicted[0].reshape((-1, 1))
            update(block, guess, instant[0].reshape((-1, 1)), step[4])
        if len(regret) > 1:
            update(regret[chosen:], predicted[chosen:], instant[chosen:], step[4])

    replacements: dict[str, Any] = {
        "regret_matching": regret_matching, "update_regrets": update_regrets,
        "match_stop_or_enter": match_stop_or_enter, "match_choice": match_choice,
        "update_root_regrets": update_root_regrets,
    }  # fmt: skip
    recompile_callers((node, board), replacements)
    return SimpleNamespace(**{**vars(board), **replacements})


def board_kernels(rule: LocalRule | None, form: TableFormat) -> Any:
    """Return the compiled kernels of board engines for a table format, with regret matching if `rule` is None."""
    if rule is None:
        return board
    if form.regret == "int16":
        raise InputError("a user-defined rule needs float32 or float64 regrets: dtype='compact' or 'float64'")
    return _compile_rule(rule, form.compute)
