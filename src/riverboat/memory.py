"""How much memory there is and how much this process holds."""

from __future__ import annotations

import os
import time as clock

from riverboat import cgroups

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
