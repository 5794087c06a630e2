"""Limits that control groups set on this process: a container's share of processors and memory.

Both versions are read, from the group of the process up to the root: every level may limit. A container that hides its place
in the hierarchy sees its own limits at the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path("/")
_NO_LIMIT = 1 << 60  # version 1 writes a number near 2^63 where there is none


def cpu_quota(root: Path = ROOT) -> float | None:
    """Return how many processors the groups of this process may use, None without a limit."""
    quotas = []
    for folder in _groups("cpu", root):
        with suppress(OSError, ValueError, ZeroDivisionError):
            if (folder / "cpu.max").exists():
                quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()  # "max" is no number
            else:
                quota, period = (_text(folder / f"cpu.cfs_{part}_us") for part in ("quota", "period"))
            if int(quota) > 0:  # -1: no limit
                quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def memory_left(root: Path = ROOT) -> int | None:
    """Return the bytes that the groups of this process may still take, None without a limit.

    What the system keeps of files and nobody has used lately can be taken back, so it counts as free.
    """
    left = []
    for folder in _groups("memory", root):
        for limit, usage, cached in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with suppress(OSError, ValueError):
                most = int(_text(folder / limit))  # "max" is no number
                if most < _NO_LIMIT:
                    used = int(_text(folder / usage)) - _entry(folder / "memory.stat", cached)
                    left.append(max(0, most - max(0, used)))
    return min(left, default=None)


@cache
def _groups(controller: str, root: Path) -> tuple[Path, ...]:
    """Find the folders of the groups that this process is in; it stays there."""
    return tuple(dict.fromkeys(_folders(controller, root)))


def _folders(controller: str, root: Path) -> Iterator[Path]:
    """List the folders of groups, from the process's own to the root, in both versions."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    tree = root / "sys/fs/cgroup"
    for line in lines:
        number, _, rest = line.partition(":")
        names, _, place = rest.partition(":")
        if number != "0" and controller not in names.split(","):
            continue
        tops = [tree, tree / "unified"] if number == "0" else [tree / names, tree / controller]
        inner = Path(place.lstrip("/"))
        for top in tops:
            for folder in (top / inner, *(top / parent for parent in inner.parents)):
                if ".." not in folder.parts and folder.is_dir():
                    yield folder


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _entry(path: Path, name: str) -> int:
    """Read a number from a file of names and numbers; 0 where it is not there."""
    with suppress(OSError, ValueError):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{name} "):
                return int(line.split()[1])
    return 0
