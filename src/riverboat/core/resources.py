"""How much memory there is and how much this process holds."""

from __future__ import annotations

import mmap
import sys
import time as clock

from riverboat.core import cgroups

MOMENT = 0.02  # seconds: whoever makes thousands of small things asks for each of them
_seen: tuple[float, int | None] = (-MOMENT, None)


def available_memory() -> int | None:
    """Return the bytes that can still be allocated, where the system says; as of a moment ago.

    Limits of a container count.
    """
    global _seen
    now = clock.monotonic()
    if now - _seen[0] > MOMENT:
        _seen = now, _ask()
    return _seen[1]


def _ask() -> int | None:
    """Ask the system and the control groups; the smaller answer holds."""
    left = [each for each in (_free(), cgroups.memory_left()) if each is not None]
    return min(left, default=None)


def _free() -> int | None:
    try:
        with open("/proc/meminfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def resident_memory(process: int | None = None) -> int | None:
    """Return the bytes of memory that a process holds (default: this one), or None where the system does not say."""
    try:
        with open(f"/proc/{'self' if process is None else process}/statm", encoding="utf-8") as line:
            return int(line.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


def peak_memory() -> int | None:
    """Return the most bytes of memory that this process has held so far, or None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # other systems count in KiB
