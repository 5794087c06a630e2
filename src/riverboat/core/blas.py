"""Single-threaded BLAS for products of small matrices, where starting threads costs more than it gains.

On a busy machine the threads of BLAS wait for each other: a search with thousands of products took twenty times as long
with two threads as with one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_OPENBLAS_SYMBOLS = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@cache
def _openblas_thread_functions() -> tuple[Any, Any] | None:
    """Return the getter and setter of the thread count of NumPy's OpenBLAS, or None for another library."""
    home = Path(np.__file__).parent
    for path in sorted([*(home.parent / "numpy.libs").glob("*openblas*"), *(home / ".dylibs").glob("*openblas*")]):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:  # pragma: no cover  # not a library for this machine
            continue
        for name in _OPENBLAS_SYMBOLS:
            if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Compute matrix products inside the block on the calling thread, where the library supports it."""
    calls = _openblas_thread_functions()
    before = calls[0]() if calls is not None else 1
    if calls is None or before == 1:
        yield
        return
    calls[1](1)
    try:
        yield
    finally:
        calls[1](before)
