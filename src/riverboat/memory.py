"""How much memory there is, how much this process holds, and large tables of it."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from riverboat.arrays import Array

_PAGE = 1 << 21


def zeros(count: int, dtype: Any) -> Array:
    """An array of zeros, on large pages where the system has them: touched for the first time they cost a tenth."""
    kind = np.dtype(dtype)
    size = count * kind.itemsize
    if size < _PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, kind)
    memory = mmap.mmap(-1, -(-size // _PAGE) * _PAGE)
    memory.madvise(mmap.MADV_HUGEPAGE)
    found: Array = np.frombuffer(memory, kind, count)
    return found


def available_memory() -> int | None:
    """Bytes that can still be allocated, where the system tells."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def resident_memory() -> int | None:
    """Bytes of memory that this process holds, where the system tells."""
    try:
        with open("/proc/self/statm") as line:
            return int(line.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
