"""Sizes, times and paths as people read and type them."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from riverboat.core.errors import InputError, shown

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_LONGEST = 1e9  # seconds, thirty years
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def show_bytes(count: float) -> str:
    """`1.5 GB`: three digits, in powers of 1,000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:  # what would be rounded to 1,000 has the next unit
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    if count >= 1e6:
        return "over a million TB"
    return f"{count:.3g} TB" if count < 999.5 else f"{count:,.0f} TB"


def show_seconds(seconds: float) -> str:
    """`42 µs`, `120 ms`, `1.5 s`, `45 s`, `3 min 20 s`, `2 h 5 min`, `40 days`."""
    if 0 < seconds < 0.9995:
        return f"{1e6 * seconds:.3g} µs" if seconds < 0.9995e-3 else f"{1e3 * seconds:.3g} ms"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    return f"{seconds / 86400:,.3g} days"


def duration(text: str) -> float:
    """Seconds from `90s`, `5m`, `8h`, `1h30m` or a bare number of seconds."""
    bare = re.fullmatch(_NUMBER, text)
    parts = [(text, "s")] if bare else re.findall(rf"({_NUMBER})([smhd])", text)
    if not bare and (not parts or "".join(number + unit for number, unit in parts) != text):
        raise InputError(f"time {shown(text)}: write 90s, 5m, 8h or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds > _LONGEST:
        raise InputError(f"time {shown(text)}: at most {_LONGEST / _UNITS['d']:,.0f} days")
    return seconds


def quote(text: str | Path) -> str:
    """A path or a word as it is typed in a shell: `'my runs/x'`."""
    if sys.platform == "win32":
        from subprocess import list2cmdline  # slow to load

        return list2cmdline([str(text)])
    return shlex.quote(str(text))


def split_command(command: str) -> list[str]:
    """Split a command line as a shell does. On Windows a backslash separates folders. ValueError for an open quote."""
    if sys.platform == "win32":
        return [word.strip('"') for word in shlex.split(command, posix=False)]
    return shlex.split(command)
