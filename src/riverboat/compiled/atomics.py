"""Atomic operations for compiled loops, and a barrier for threads that stay in them."""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

from riverboat.compiled.jit import inline
from riverboat.core.arrays import Array

_I64 = ir.IntType(64)
# Entries of a team's state, each on a cache line of its own: a counter of units of work comes first.
_ARRIVED, _GENERATION, _ABANDONED, TEAM_STATE_SIZE = 8, 16, 24, 32
_SPINS = 2000  # polls of the barrier before a thread yields its core: about the time of a wake-up by the system
# LLVM's name of the instruction for waiting loops, and its arguments.
_PAUSE: tuple[str, list[int]] | None = {
    "x86_64": ("llvm.x86.sse2.pause", []),
    "amd64": ("llvm.x86.sse2.pause", []),
    "arm64": ("llvm.aarch64.hint", [1]),
    "aarch64": ("llvm.aarch64.hint", [1]),
}.get(platform.machine().lower())
_YIELD = "riverboat_yield"
if sys.platform == "win32":
    _yield_function = ctypes.WinDLL("kernel32").SwitchToThread
else:
    _yield_function = ctypes.CDLL(None).sched_yield
binding.add_symbol(_YIELD, ctypes.cast(_yield_function, ctypes.c_void_p).value)  # before stored code is loaded


def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return a pointer to an element of an int64 array: `args` begin with the array and the index."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.gep(data, [context.cast(builder, args[1], sig.args[1], types.int64)])


@intrinsic
def fetch_add(_context: Any, counter: Any) -> Any:
    """Atomically increment `counter[0]` (int64) and return its old value."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", pointer, ir.Constant(_I64, 1), "monotonic")

    return types.int64(counter), code


@intrinsic
def _arrive(_context: Any, array: Any, index: Any) -> Any:
    """Atomically increment `array[index]` (int64) with acquire-release order, and return its old value."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _element(context, builder, sig, args), ir.Constant(_I64, 1), "acq_rel")

    return types.int64(array, index), code


@intrinsic
def load_acquire(_context: Any, array: Any, index: Any) -> Any:
    """Read `array[index]` (int64), and see everything that was written before its value was stored."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_element(context, builder, sig, args), "acquire", 8)

    return types.int64(array, index), code


@intrinsic
def store_release(_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write `array[index]` (int64) after everything that was written before."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = context.cast(builder, args[2], sig.args[2], types.int64)
        builder.store_atomic(number, _element(context, builder, sig, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, index, value), code


def _call(builder: Any, name: str, result: Any, numbers: list[int]) -> None:
    """Call an external function, or an intrinsic of LLVM, with 32-bit integers."""
    kind = ir.IntType(32)
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(result, [kind] * len(numbers)), name)
    builder.call(function, [ir.Constant(kind, number) for number in numbers])


@intrinsic
def _pause(_context: Any) -> Any:
    """Tell the processor that the thread waits in a loop."""

    def code(context: Any, builder: Any, _sig: Any, _args: Any) -> Any:
        if _PAUSE is not None:
            _call(builder, _PAUSE[0], ir.VoidType(), _PAUSE[1])
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def _yield_thread(_context: Any) -> Any:
    """Let another thread run on this core."""

    def code(context: Any, builder: Any, _sig: Any, _args: Any) -> Any:
        _call(builder, _YIELD, ir.IntType(32), [])
        return context.get_dummy_value()

    return types.void(), code


def abandon_team(state: Array) -> None:
    """Make all threads return from `barrier` now and later, since one of them has failed."""
    state[_ABANDONED] = 1


@inline
def barrier(state, threads):
    """Wait until all threads of a team have reached the barrier; return False if the team was abandoned instead.

    `state`: int64 [TEAM_STATE_SIZE], zeros at first.
    """
    if threads == 1:
        return True
    generation = load_acquire(state, _GENERATION)
    if _arrive(state, _ARRIVED) == threads - 1:
        state[_ARRIVED] = 0
        store_release(state, _GENERATION, generation + 1)
        return True
    spins = 0
    while load_acquire(state, _GENERATION) == generation:
        if load_acquire(state, _ABANDONED) != 0:
            return False
        spins += 1
        if spins < _SPINS:
            _pause()
        else:
            _yield_thread()
    return True
