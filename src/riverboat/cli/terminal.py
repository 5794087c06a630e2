"""What commands share: durations and sizes, and where they write.

Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from riverboat.core.errors import InputError, shown
from riverboat.core.formatting import duration as duration

if TYPE_CHECKING:
    from rich.console import Console

COMPILING = "compiling, once: the next start is quick"
UNBOUNDED = 100_000  # columns of what is no terminal
_LONGEST_LINE, _TAIL = 470, 150  # characters of an error; its end has the way out


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


def use_utf8() -> None:
    """Write UTF-8 to files and pipes, where Windows has a code page, and replace what a terminal cannot show.

    Without it a ≥ or a ♠ would end a command. PYTHONIOENCODING is respected.
    """
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            keep = stream.isatty() or os.environ.get("PYTHONIOENCODING")
            stream.reconfigure(encoding=stream.encoding if keep else "utf-8", errors=errors)


def plain_console(*, stderr: bool = False) -> Console:
    """Where people read: text as it is, no markup, as wide as the terminal. Files and pipes get all of it, however wide."""
    from rich.console import Console

    there = sys.stderr if stderr else sys.stdout
    width = None if there.isatty() else UNBOUNDED
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def emit(value: dict[str, Any]) -> None:
    """The one JSON object of a command, on stdout."""
    print(json.dumps(value, allow_nan=False, default=str))


def size_of_memory(text: str) -> int:
    """Bytes from `2GB`, `512MB` or `1.5GiB`."""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"--memory {shown(text)}: write 2GB, 512MB or 1.5GiB")
    power = " kmgt".index(match[2].lower() or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)
