"""Memory and processors that are available to this process, with the limits of containers."""

from __future__ import annotations

import math
import mmap
import os
import sys
import time as clock
from contextlib import suppress
from functools import cache
from pathlib import Path

# --- limits of control groups (containers) ---

FILESYSTEM_ROOT = Path("/")
_NO_CGROUP_LIMIT = 1 << 60  # version 1 writes a number near 2^63 for "no limit"


@cache
def cpu_quota(root: Path = FILESYSTEM_ROOT) -> float | None:
    """Return how many processors the control groups of this process allow, or None without a limit."""
    quotas = []
    for folder in _cgroup_folders("cpu", root):
        with suppress(OSError, ValueError, ZeroDivisionError):
            if (folder / "cpu.max").exists():
                quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()  # "max" is no number
            else:
                quota, period = (_read_text(folder / f"cpu.cfs_{part}_us") for part in ("quota", "period"))
            if int(quota) > 0:  # -1: no limit
                quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def cgroup_memory_left(root: Path = FILESYSTEM_ROOT) -> int | None:
    """Return the bytes that the control groups of this process still allow, or None without a limit.

    Cached file pages that were not used lately can be reclaimed, so they count as free.
    """
    left = []
    for folder in _cgroup_folders("memory", root):
        for limit, usage, cached in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with suppress(OSError, ValueError):
                most = int(_read_text(folder / limit))  # "max" is no number
                if most < _NO_CGROUP_LIMIT:
                    used = int(_read_text(folder / usage)) - (_read_stat(folder / "memory.stat", cached) or 0)
                    left.append(max(0, most - max(0, used)))
    return min(left, default=None)


@cache
def _cgroup_folders(controller: str, root: Path) -> tuple[Path, ...]:
    """Return the folders of control groups of both versions, from the process's own to the root; they do not change."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    tree, found = root / "sys/fs/cgroup", []
    for line in lines:
        number, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        if number != "0" and controller not in names.split(","):
            continue
        tops = [tree, tree / "unified"] if number == "0" else [tree / names, tree / controller]
        inner = Path(group.lstrip("/"))
        for top in tops:
            for folder in (top / inner, *(top / parent for parent in inner.parents)):
                if ".." not in folder.parts and folder.is_dir():
                    found.append(folder)
    return tuple(dict.fromkeys(found))


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _read_stat(path: Path, name: str) -> int | None:
    """Read a number from a file of names and numbers; None if it is missing."""
    with suppress(OSError, ValueError):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{name} "):
                return int(line.split()[1])
    return None


READING_LIFETIME = 0.02  # seconds for which free memory is not read again: builders of many small objects ask often
_last_reading: tuple[float, int | None] = (-READING_LIFETIME, None)


def available_memory() -> int | None:
    """Return the bytes that can still be allocated, if the system reports them, at most 20 ms old.

    Limits of containers count.
    """
    global _last_reading
    now = clock.monotonic()
    if now - _last_reading[0] > READING_LIFETIME:
        _last_reading = now, _read_available_memory()
    return _last_reading[1]


def _read_available_memory() -> int | None:
    """Read the free memory of the system and the limits of control groups, and return the smaller."""
    left = [each for each in (_read_meminfo(), cgroup_memory_left()) if each is not None]
    return min(left, default=None)


def _read_meminfo() -> int | None:
    kilobytes = _read_stat(Path("/proc/meminfo"), "MemAvailable:")
    return None if kilobytes is None else 1024 * kilobytes


def resident_memory(process: int | None = None) -> int | None:
    """Return the resident memory of a process in bytes (default: this one); None if the system does not report it."""
    try:
        with open(f"/proc/{'self' if process is None else process}/statm", encoding="utf-8") as line:
            return int(line.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes, or None if the system does not report it."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # other systems count in KiB


# --- processors ---


def available_cores() -> int:
    """Return the number of processors that this process can keep busy, at least 1.

    CPU affinity (`taskset`, batch systems) and the quotas of containers count; `os.cpu_count` ignores both.
    """
    quota = cpu_quota()
    limit = math.inf if quota is None else math.ceil(quota)
    return max(1, int(min(_schedulable_cores(), limit)))


def _schedulable_cores() -> int:
    """Return the number of processors that the system may run this process on."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
