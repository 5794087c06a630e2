"""Formatting and parsing of sizes, durations and shell words."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from riverboat.core.errors import InputError, short_repr

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_MAX_SECONDS = 1e9  # seconds, thirty years
_SECONDS_PER_UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def format_bytes(count: float) -> str:
    """Format a size with three digits, in powers of 1,000: `1.5 GB`.

    Parameters
    ----------
    count
        Size in bytes.

    Returns
    -------
    str
        The size with its unit, from B to TB.

    Examples
    --------
    >>> format_bytes(1_500_000_000), format_bytes(12)
    ('1.5 GB', '12 B')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:  # numbers that would round to 1,000 take the next unit
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    if count >= 1e6:
        return "over a million TB"
    return f"{count:.3g} TB" if count < 999.5 else f"{count:,.0f} TB"


def format_seconds(seconds: float) -> str:
    """Format a duration: `42 µs`, `120 ms`, `1.5 s`, `45 s`, `3 min 20 s`, `2 h 5 min`, `40 days`.

    Parameters
    ----------
    seconds
        Duration in seconds.

    Returns
    -------
    str
        The duration with its unit.

    Examples
    --------
    >>> format_seconds(0.12), format_seconds(200)
    ('120 ms', '3 min 20 s')
    """
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


def parse_duration(text: str) -> float:
    """Parse `90s`, `5m`, `8h`, `1h30m` or a bare number into seconds.

    Parameters
    ----------
    text
        Numbers with the units s, m, h and d, without spaces.

    Returns
    -------
    float
        The duration in seconds.

    Raises
    ------
    InputError
        The text has another form, or is longer than about thirty years.

    Examples
    --------
    >>> parse_duration("1h30m"), parse_duration("90")
    (5400.0, 90.0)
    """
    bare = re.fullmatch(_NUMBER, text)
    parts = [(text, "s")] if bare else re.findall(rf"({_NUMBER})([smhd])", text)
    if not bare and (not parts or "".join(number + unit for number, unit in parts) != text):
        raise InputError(f"time {short_repr(text)}: write 90s, 5m, 8h or 1h30m")
    seconds = sum(float(number) * _SECONDS_PER_UNIT[unit] for number, unit in parts)
    if seconds > _MAX_SECONDS:
        raise InputError(f"time {short_repr(text)}: at most {_MAX_SECONDS / _SECONDS_PER_UNIT['d']:,.0f} days")
    return seconds


def shell_quote(text: str | Path) -> str:
    """Quote a path or a word for a shell: `'my runs/x'`.

    Parameters
    ----------
    text
        The path or word.

    Returns
    -------
    str
        The word as the shell of this system reads it.

    Examples
    --------
    >>> shell_quote("runs/leduc")
    'runs/leduc'
    """
    if sys.platform == "win32":
        from subprocess import list2cmdline  # slow to load

        return list2cmdline([str(text)])
    return shlex.quote(str(text))


def split_command(command: str) -> list[str]:
    """Split a command line as a shell does.

    Parameters
    ----------
    command
        The command line. On Windows a backslash separates folders.

    Returns
    -------
    list of str
        The words, without quotes.

    Raises
    ------
    ValueError
        A quote is not closed.

    Examples
    --------
    >>> split_command('riverboat solve "my spot.toml"')
    ['riverboat', 'solve', 'my spot.toml']
    """
    if sys.platform == "win32":
        return [word.strip('"') for word in shlex.split(command, posix=False)]
    return shlex.split(command)
