"""What commands share: durations, and where they write.

Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from riverboat.errors import InputError, shown

if TYPE_CHECKING:
    from rich.console import Console

UNBOUNDED = 100_000  # columns of what is no terminal
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_LONGEST_LINE, _TAIL = 470, 150  # characters of an error; its end has the way out
_LONGEST = 1e9  # seconds, thirty years
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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


class Speech:
    """What one thread writes on stderr at a time, and how to take away a line that another draws there."""

    lock = threading.RLock()
    wipe: Callable[[], None] | None = None  # of the progress that is shown


def say(text: str) -> None:
    """A line for the person, on stderr."""
    with Speech.lock:
        if Speech.wipe is not None:
            Speech.wipe()
        print(text, file=sys.stderr, flush=True)


def complaint(text: str) -> str:
    """An error as one line that a terminal can show: nothing that steers it, and cut in its middle where it is long."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE - _TAIL]} … {line[-_TAIL:]}"
    return f"error: {line}"


def plain_console(*, stderr: bool = False) -> Console:
    """Where people read: text as it is, no markup, as wide as the terminal. Files and pipes get all of it, however wide."""
    from rich.console import Console

    there = sys.stderr if stderr else sys.stdout
    width = None if there.isatty() else UNBOUNDED
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def emit(value: dict[str, Any]) -> None:
    """The one JSON object of a command, on stdout."""
    print(json.dumps(value, allow_nan=False, default=str))
