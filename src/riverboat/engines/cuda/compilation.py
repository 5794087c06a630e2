"""Compiling the walk for a GPU (`_cuda_kernels`), and whether there is one to run it on.

Numba compiles for the device when a kernel is first launched. Without a device its simulator runs the same functions in
Python (`NUMBA_ENABLE_CUDASIM=1`), a thread for each thread: good for tests of small trees.
"""

from __future__ import annotations

import ctypes
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import from_dtype

from riverboat.core.errors import InputError
from riverboat.engines.cuda._kernels import board as kernels
from riverboat.engines.cuda._kernels import node as node_kernels
from riverboat.engines.cuda._kernels import numbers
from riverboat.engines.cuda._kernels import root as root_kernels
from riverboat.engines.tables import Format

cuda: Any = numbers.cuda
SIMULATED: bool = numbers.SIMULATED
OWN_MEMORY = 232_448  # bytes that a block may have for itself
ALL_MEMORY, BLOCK_MEMORY = 233_472, 1024  # of one of the device's processors; what each block takes of it besides
QUARTERS, QUARTER_REGISTERS, WARP = 4, 16_384, 32  # its parts, their registers; threads that go together
DYNAMIC = 8  # the driver's number for a function's own memory
DEVICE = {} if SIMULATED else {"forceinline": True}
# A function stands below those that it calls.
ORDER = (
    "everyone", "next_piece", "clear_lists", "sum_all", "spend", "pay", "weigh", "descend_theirs", "descend_mine",
    "go_down", "absorb", "weight_of", "ascend", "hold", "go_up", "add_up", "root_weight", "adders", "block_sum",
    "root_total", "root_share", "enter_root", "absorb_root", "learn_root", "copy", "sit", "bring", "arrive", "followed",
    "finish", "bring_steps", "read_op", "foresee", "step_of", "follow", "inner_board", "collect", "last_boards",
)  # fmt: skip


def why_not() -> str | None:
    """Why nothing can run on a GPU here, or None."""
    if SIMULATED:
        return None
    try:
        return None if cuda.is_available() else "no CUDA device is there"
    except Exception as error:  # a driver that is there and does not answer
        return f"CUDA does not answer: {error}".splitlines()[0]


@cache
def compiled(
    form: Format, mode: int, guesses: bool, locked: bool, gadget: bool, near: bool, alone: bool, staked: bool
) -> Any:
    """The kernel `walk` for tables of a format, a mode, a schedule that predicts or not, and locks or none.

    Each has constants of its own: what is not needed is not in the code.
    """
    work = np.dtype(form.work)
    names: dict[str, Any] = {**vars(root_kernels), **vars(node_kernels), **vars(kernels)}
    names.update(MODE=mode, GUESSES=guesses, LOCKED=locked, GADGET=gadget, NEAR=near, ALONE=alone, STAKED=staked)
    names["real"] = np.float32 if work == np.float32 else np.float64
    names["KIND"] = from_dtype(work)
    device = cuda.jit(device=True, **DEVICE)
    wide = work == np.float64
    names["divide"] = device(numbers.divide if wide else numbers.divide_fast)
    inner = {**vars(numbers), "threshold": device(numbers.threshold)}
    for what, kind in (("regret", form.regret), ("average", form.average)):
        read, write = numbers.OF.get(kind, (numbers.fetch, numbers.keep))
        names[f"fetch_{what}"], names[f"keep_{what}"] = device(bound(read, inner)), device(bound(write, inner))
    for name in ORDER:
        names[name] = device(bound(names[name], names))
    limits = {} if SIMULATED else {"max_registers": _registers(alone)}
    return cuda.jit(bound(kernels.walk, names), **limits)


def threads_for(stride: int, memory: int, alone: bool) -> int:
    """Threads of a block: as many of all blocks as can be at work on one of the device's processors at a time.

    Three blocks are better than one or two of as many threads: while one waits for its threads, others go on.
    """
    warps = QUARTERS * (QUARTER_REGISTERS // (WARP * _registers(alone)))

    def at_work(threads: int) -> int:
        blocks = min(ALL_MEMORY // (memory + BLOCK_MEMORY), warps * WARP // threads)
        return threads * blocks * min(blocks, 3)

    return max(range(2 * WARP, min(max(2 * WARP, stride), warps * WARP) + 1, WARP), key=at_work)


def _registers(alone: bool) -> int:
    """Of a thread: with fewer it keeps more elsewhere, with more there are fewer threads."""
    return 96 if alone else 128


def prepare(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a kernel by a launch in which nothing is done, and let its blocks have all memory that they may have for
    themselves, which numba does not ask for."""
    if SIMULATED or kernel.overloads:
        return
    kernel[1, 32](*arguments)
    (made,) = kernel.overloads.values()
    handle = made._codelibrary.get_cufunc().handle
    number = ctypes.c_void_p(getattr(handle, "value", None) or int(handle))
    driver = ctypes.CDLL("libcuda.so.1")
    if driver.cuFuncSetAttribute(number, DYNAMIC, OWN_MEMORY):
        device = ctypes.c_int(cuda.get_current_device().id)
        code = driver.cuKernelSetAttribute(DYNAMIC, OWN_MEMORY, number, device)
        if code:
            raise InputError(f"the device does not give blocks {OWN_MEMORY} bytes of their own: error {code}")


def bound(function: Any, names: dict[str, Any]) -> FunctionType:
    """A function that finds other ones under the names that it uses."""
    return FunctionType(function.__code__, names, function.__name__)


@cache
def part_on_device(loop: Any) -> Any:
    """A part of compiled loops (`riverboat.compiled.jit.part`), and those that it calls, for the device."""
    function = loop.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = part_on_device(names[name])
    return cuda.jit(device=True, **DEVICE)(bound(function, names))
