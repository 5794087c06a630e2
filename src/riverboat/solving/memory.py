"""How much memory there is."""

from __future__ import annotations


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
