"""Products of small matrices on one thread: what a numerical library starts for each of them costs more than it brings.

On a machine with other work its threads wait for each other: a search that made thousands of products took twenty times as
long with two threads as with one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@cache
def _calls() -> tuple[Any, Any] | None:
    """How many threads NumPy's own OpenBLAS uses, and how to say it; None where NumPy came with another library."""
    home = Path(np.__file__).parent
    for path in sorted([*(home.parent / "numpy.libs").glob("*openblas*"), *(home / ".dylibs").glob("*openblas*")]):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:  # pragma: no cover  # a file that is no library of this machine
            continue
        for name in _NAMES:
            if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Products inside are made by the thread that asks for them, where that can be said."""
    calls = _calls()
    before = calls[0]() if calls is not None else 1
    if calls is None or before == 1:
        yield
        return
    calls[1](1)
    try:
        yield
    finally:
        calls[1](before)
