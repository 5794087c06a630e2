"""How much memory there is and how much this process holds."""

from __future__ import annotations

import os


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
