"""User-defined local rules, compiled in place of regret matching.

Kernels call the replaced functions by their global names. So compiling the same code with other globals gives kernels
for another rule. Built-in schedules use the kernels as they are, cached on disk; a user's rule is compiled once per
process.

Kernels have no argument for the parameters of a rule. Compiled code reads them from memory at a fixed address
(`running` fills it before a solver runs), so that other parameters need no other code.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dis import get_instructions
from functools import cache
from pathlib import Path
from threading import Lock
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numba import jit, njit, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.extending import intrinsic
from numba.np import arrayobj

from riverboat.core.arrays import Array
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

    @property
    def parameters(self) -> Array:
        """Last argument of both functions; without parameters they have no such argument. float64 [parameters]"""


class RuleFunctions(NamedTuple):
    """Compiled functions of a rule without their last argument, the parameters, which they read from memory."""

    strategy: Any
    update: Any


ARGUMENTS = {"strategy": "regret, prediction, t, out", "update": "regret, prediction, instant, t"}


SLICES: tuple[tuple[str, str], ...] = (("AAA", ""),)  # layouts of the three arrays that tabular kernels pass
BLOCKS = ("CCA", ""), ("CCC", "float64")  # those of kernels of boards, at decisions and at the root


def compile_functions(rule: LocalRule, dtype: str, layouts: Sequence[tuple[str, str]] = SLICES) -> RuleFunctions:
    """Compile a rule's functions, and return them without their last argument, the parameters.

    They are compiled for arrays of some layouts, each with its type, or `dtype` without one. Raises InputError, with file
    and line, if they are not compiled by Numba, take other arguments, or do not compile.
    """
    for name, arguments in ARGUMENTS.items():
        function = getattr(rule, name)
        if not isinstance(function, Dispatcher):
            raise InputError(f"rule {rule.name!r}: {name} must be compiled: decorate it with @numba.njit")
        listed = arguments + ", parameters" * (len(rule.parameters) > 0)
        try:
            inspect.signature(function.py_func).bind(*listed.split(", "))
        except TypeError:
            where = _describe_place(function.py_func.__code__.co_filename, function.py_func.__code__.co_firstlineno)
            raise InputError(f"rule {rule.name!r}: {name} must have the arguments ({listed}){where}") from None
    parameters = (rule.parameters.copy(),) if len(rule.parameters) else ()
    # Compile the rule by itself first: compiled from inside a kernel it would inherit the ban on allocations.
    for layout, kind in layouts:
        wide = (np.ones((2, 3), kind or dtype)[:, :2] for _ in layout)
        regret, prediction, last = (a if each == "A" else a.copy() for a, each in zip(wide, layout, strict=True))
        with _located_errors(rule, "strategy"):
            rule.strategy(regret, prediction, 1.0, last, *parameters)
        with _located_errors(rule, "update"):
            rule.update(regret, prediction, last, 1.0, *parameters)
    return _bind_parameters(rule.strategy, rule.update, len(rule.parameters))


@contextmanager
def _located_errors(rule: LocalRule, name: str) -> Iterator[None]:
    """Turn an error of a rule's function into an InputError that says what is wrong, in which file and line."""
    code = getattr(rule, name).py_func.__code__
    where, line = f"rule {rule.name!r}: {name}", code.co_firstlineno
    try:
        yield
    except NumbaError as error:
        what, text = _first_problem(str(error))
        lines = re.findall(rf'File "[^"]*{re.escape(Path(code.co_filename).name)}", line (\d+):', text)
        undefined = re.search(r"name '(\w+)' is not defined", what)
        if lines:
            line = int(lines[-1])
        elif undefined is not None:  # Numba does not say where
            places = (i.positions for i in get_instructions(code) if i.argval == undefined[1])
            line = next((place.lineno for place in places if place is not None and place.lineno), line)
        message = f"{where} does not compile: {what}{_describe_place(code.co_filename, line)}"
        raise InputError(message) from error
    except Exception as error:
        place = _describe_place(code.co_filename, line)
        raise InputError(f"{where} fails: {type(error).__name__}: {error}{place}") from error


def _first_problem(message: str) -> tuple[str, str]:
    """Return the first line of one of Numba's messages that says what is wrong, and the message without colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith(_NOISE)]
    return (lines[0] if lines else "Numba gives no reason").rstrip(":"), text


# Beginnings of lines of Numba's messages that do not say what is wrong.
_NOISE = "Failed in nopython mode", "During: ", "There are ", "- Of which", "Overload ", "File ", "Rejected as"


def _describe_place(file: str, line: int) -> str:
    return f" ({file}, line {line})"


# --- parameters ---


def _view_floats(_: Any, address: Any, count: Any) -> Any:
    """Return `count` float64 numbers at an address as an array, without reference counts."""
    array_type = types.Array(types.float64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        make, fill = cast(Any, arrayobj.make_array), cast(Any, arrayobj.populate_array)
        array = make(array_type)(context, builder)
        size = context.get_constant(types.intp, 8)
        data = builder.inttoptr(values[0], array.data.type)
        fill(array, data, [values[1]], [size], size, None)
        return array._getvalue()

    return array_type(address, count), generate


_view: Any = intrinsic(_view_floats)


class _ParameterMemory(NamedTuple):
    """Memory from which compiled code reads the parameters of a rule."""

    numbers: Array  # float64 [parameters]: never freed, since compiled code has its address
    lock: Any  # held while a solver runs


@cache
def _parameter_memory(strategy: Any, update: Any, count: int) -> _ParameterMemory:
    return _ParameterMemory(np.zeros(count), Lock())


@cache
def _bind_parameters(strategy: Any, update: Any, count: int) -> RuleFunctions:
    """Return functions of a rule that read its parameters from memory."""
    if not count:
        return RuleFunctions(strategy, update)
    address = _parameter_memory(strategy, update, count).numbers.ctypes.data

    @njit(nogil=True)
    def bound_strategy(regret, prediction, t, out):  # type: ignore[no-untyped-def]
        strategy(regret, prediction, t, out, _view(address, count))

    @njit(nogil=True)
    def bound_update(regret, prediction, instant, t):  # type: ignore[no-untyped-def]
        update(regret, prediction, instant, t, _view(address, count))

    return RuleFunctions(bound_strategy, bound_update)


@contextmanager
def running(rule: LocalRule | None) -> Iterator[None]:
    """Let the compiled code of a rule use its parameters inside the block; solvers of the same code take turns.

    If a kernel does not compile with the rule, the error is one line.
    """
    if rule is None:
        yield
        return
    with ExitStack() as stack:
        if len(rule.parameters):
            memory = _parameter_memory(rule.strategy, rule.update, len(rule.parameters))
            stack.enter_context(memory.lock)
            memory.numbers[:] = rule.parameters
        try:
            yield
        except NumbaError as error:
            what = f"rule {rule.name!r} does not compile inside of a kernel: {_first_problem(str(error))[0]}"
            code = rule.strategy.py_func.__code__
            raise InputError(what + _describe_place(code.co_filename, code.co_firstlineno)) from error


# --- kernels ---

_copies = itertools.count()


def recompile_callers(modules: tuple[ModuleType, ...], replacements: dict[str, Any]) -> None:
    """Recompile the kernels of some modules that call replaced functions, so that they call the replacements.

    `replacements` has compiled functions by name; the recompiled kernels are added to it. They are compiled as the
    originals are: inlined functions have no machine code of their own.
    """
    number = next(_copies)  # names of compiled code must differ from those of other rules
    for module in modules:
        names = {**vars(module), **replacements}
        for name, function in vars(module).items():
            if not isinstance(function, Dispatcher) or function.__module__ != module.__name__ or name in replacements:
                continue
            # In the order of the file: a function follows those it calls.
            if not set(function.py_func.__code__.co_names) & set(replacements):
                continue
            copy = FunctionType(function.py_func.__code__, names, name)
            copy.__module__, copy.__qualname__ = module.__name__, f"{name}_{number}"
            compiler: Any = function
            options = dict(function.targetoptions)
            if function.targetoptions.get("forceinline"):
                options["pipeline_class"] = compiler._compiler.pipeline_class
            replacements[name] = names[name] = jit(**options)(copy)


@njit(nogil=True, inline="always")  # a call from a kernel, which must not allocate, could not return a view
def _as_matrix(table, at, rows, columns):  # type: ignore[no-untyped-def]
    """View a part of a flat table, from offset `at`, as a matrix."""
    return table[at : at + rows * columns].reshape(rows, columns)


@cache
def _compile_rule(functions: RuleFunctions) -> SimpleNamespace:
    """Return the names of the board kernels' module, with kernels compiled for a user-defined rule."""
    strategy, update = functions

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
    return _compile_rule(compile_functions(rule, form.compute, BLOCKS))
