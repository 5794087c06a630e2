"""Atomic operations and a clock for compiled loops; barriers and calls for teams of threads that stay in them.

Thread 0 of a team calls the others, and all run the call together. Afterwards the others poll for the next call for about
a millisecond before they leave, as with OpenMP's active wait policy: calls in quick succession wake nobody.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array

_I64 = ir.IntType(64)
_LINE = 8  # int64 numbers of a cache line
# Entries of a team's state, each on a cache line of its own: a counter of units of work comes first. The calls of thread k
# are at `_CALLS + k * _LINE`: twice the number of the last call, plus one while the thread is in the loop.
_ARRIVED, _GENERATION, _ABANDONED, _CALLS = 1 * _LINE, 2 * _LINE, 3 * _LINE, 4 * _LINE
_SPINS = 2000  # polls before a thread yields its core: about the time of a wake-up by the system
_YIELDS = 3000  # polls with yields before a thread leaves: about a millisecond
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


@intrinsic
def _compare_exchange(_context: Any, array: Any, index: Any, expected: Any, new: Any) -> Any:
    """Atomically write `new` to `array[index]` (int64) if it is `expected`; return whether it was."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = [context.cast(builder, args[k], sig.args[k], types.int64) for k in (2, 3)]
        pair = builder.cmpxchg(_element(context, builder, sig, args), *numbers, "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(array, index, expected, new), code


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


@intrinsic
def cycle_counter(_context: Any) -> Any:
    """Read the counter of the processor's cycles; 0 on processors where programs may not read it."""

    def code(_context: Any, builder: Any, _sig: Any, _args: Any) -> Any:
        if platform.machine().lower() not in ("x86_64", "amd64"):
            return ir.Constant(_I64, 0)
        return builder.call(
            builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(_I64, ())), ()
        )

    return types.int64(), code


def team_state_size(threads: int) -> int:
    """Return the length of a team's state: int64, zeros at first."""
    return _CALLS + threads * _LINE


def abandon_team(state: Array) -> None:
    """Make all threads return from `barrier` and `wait_for_call` now and later, since one of them has failed."""
    state[_ABANDONED] = 1


def is_abandoned(state: Array) -> bool:
    """Return whether a thread of the team has failed."""
    return bool(state[_ABANDONED])


@kernel
def call_team(state, threads, call, away):  # away: bool [threads] OUT
    """Make call number `call`, from 1, to all threads but the first, and mark those that have left the loop."""
    for thread in range(1, threads):
        while True:
            word = load_acquire(state, _CALLS + thread * _LINE)
            if _compare_exchange(state, _CALLS + thread * _LINE, word, 2 * call + 1):
                break
        away[thread] = word % 2 == 0


@inline
def wait_for_call(state, thread, last):
    """Wait for a call other than `last`, and return its number; 0 if none came for a millisecond: leave the loop then."""
    polls = 0
    while True:
        word = load_acquire(state, _CALLS + thread * _LINE)
        if word // 2 != last:
            return word // 2
        if load_acquire(state, _ABANDONED) != 0:
            return word * 0
        polls += 1
        if polls < _SPINS:
            _pause()
        elif polls < _SPINS + _YIELDS:
            _yield_thread()
        elif _compare_exchange(state, _CALLS + thread * _LINE, word, word - 1):
            return word * 0


@inline
def barrier(state, threads):
    """Wait until all threads of a team have reached the barrier; return False if the team was abandoned instead.

    `state`: int64 [team_state_size(threads)], zeros at first.
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
