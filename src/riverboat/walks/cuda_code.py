"""Compiling the walk for a GPU (`_cuda_kernels`), and whether there is one to run it on.

Numba compiles for the device when a kernel is first launched. Without a device its simulator runs the same functions in
Python (`NUMBA_ENABLE_CUDASIM=1`), a thread for each thread: good for tests of small trees.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from riverboat.walks import _cuda_kernels as kernels
from riverboat.walks import _cuda_node_kernels as node_kernels
from riverboat.walks import _cuda_numbers as numbers
from riverboat.walks.tables import Format

cuda: Any = numbers.cuda
SIMULATED: bool = numbers.SIMULATED
REGISTERS = 96  # of a thread: with fewer it keeps more elsewhere, with more there are fewer threads
DEVICE = {} if SIMULATED else {"forceinline": True}
# A function stands below those that it calls.
ORDER = (
    "everyone", "sum_all", "four", "place", "settle", "weigh", "descend_theirs", "descend_mine", "go_down", "absorb",
    "ascend", "hold", "go_up", "arrive", "copy", "report", "begin_board", "open_board", "close_board", "followed",
    "collect", "last_boards",
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
def compiled(form: Format, mode: int, guesses: bool, locked: bool) -> Any:
    """The kernel `walk` for tables of a format, a mode, a schedule that predicts or not, and locks or none.

    Each has constants of its own: what is not needed is not in the code.
    """
    work = np.dtype(form.work)
    names: dict[str, Any] = {**vars(node_kernels), **vars(kernels)}
    names.update(MODE=mode, GUESSES=guesses, LOCKED=locked, NUMBERS=node_kernels.MEMORY // work.itemsize)
    names["real"] = np.float32 if work == np.float32 else np.float64
    device = cuda.jit(device=True, **DEVICE)
    for what, kind in (("regret", form.regret), ("average", form.average)):
        read, write = numbers.OF.get(kind, (numbers.fetch, numbers.keep))
        names[f"fetch_{what}"], names[f"keep_{what}"] = device(read), device(write)
    for name in ORDER:
        names[name] = device(_bound(names[name], names))
    limits = {} if SIMULATED else {"max_registers": REGISTERS}
    return cuda.jit(_bound(kernels.walk, names), **limits)


def _bound(function: Any, names: dict[str, Any]) -> FunctionType:
    """A function that finds other ones under the names that it uses."""
    return FunctionType(function.__code__, names, function.__name__)
