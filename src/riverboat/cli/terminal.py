"""Shared parts of the commands: output on stdout and stderr, and tables.

Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from riverboat.core.tables import FIGURE, PROSE, Cell, ReportColumn, ReportTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

QUIT_WORDS = ("q", "quit", "exit")
COMPILING_MESSAGE = "compiling, once: the next start is quick"
UNBOUNDED_WIDTH = 100_000  # columns if the output is not a terminal
_MAX_ERROR_LENGTH, _ERROR_TAIL = 470, 150  # characters of an error; its tail says what to do


class StderrState:
    """Lock on stderr, and a callback that erases the progress line shown there."""

    lock = threading.RLock()
    erase_progress: Callable[[], None] | None = None  # erases the progress line that is shown


def say(text: str) -> None:
    """Print a line for the user on stderr."""
    with StderrState.lock:
        if StderrState.erase_progress is not None:
            StderrState.erase_progress()
        print(text, file=sys.stderr, flush=True)


def format_error(text: str) -> str:
    """Return an error as one printable line, shortened in the middle if it is long."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    if len(line) > _MAX_ERROR_LENGTH:
        line = f"{line[: _MAX_ERROR_LENGTH - _ERROR_TAIL]} … {line[-_ERROR_TAIL:]}"
    return f"error: {line}"


def use_utf8() -> None:
    """Write UTF-8 to files and pipes on every platform, and replace characters that a terminal cannot show.

    Without it a ≥ or a ♠ could abort a command on Windows. PYTHONIOENCODING is respected.
    """
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            keep = stream.isatty() or os.environ.get("PYTHONIOENCODING")
            stream.reconfigure(encoding=stream.encoding if keep else "utf-8", errors=errors)


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console for plain text without markup: as wide as the terminal, unlimited for files and pipes."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNBOUNDED_WIDTH
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def emit(value: dict[str, Any]) -> None:
    """Print the JSON object of a command on stdout."""
    print(json.dumps(value, allow_nan=False, default=str))


def print_result(result: Any, parts: Iterable[Any], json: bool) -> None:
    """Print the result of a command: its JSON object, or its parts, which are lines and tables, as text.

    `result` is the object, or has it as `to_dict()`. Parts are computed only if they are printed.
    """
    if json:
        emit(result if isinstance(result, dict) else result.to_dict())
    else:
        print_parts(parts)


def print_parts(parts: Iterable[Any], *, stderr: bool = False) -> None:
    """Print lines and tables as text."""
    console = plain_console(stderr=stderr)
    for part in parts:
        console.print(part)


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, and say so."""
    from riverboat.plots.figures import save_figure  # not for every command

    save_figure(figure, path)
    say(f"picture: {path}")


def print_line(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def read_words(prompt: str, lines: TextIO) -> str:
    """Return what a person types, in lower case with single spaces; raise EOFError at the end or if it says to quit."""
    print(prompt, end="", flush=True)
    text = lines.readline()
    if not lines.isatty():
        print(text.rstrip("\n"))  # echo input from a file; typed input is on the screen already
    words = " ".join(text.split()).lower()
    if not text or words in QUIT_WORDS:
        raise EOFError
    return words


# --- tables ---


def figure(name: str, rank: int = 0) -> ReportColumn:
    """Return a column of formatted numbers."""
    return ReportColumn(name, FIGURE, rank=rank)


def prose(name: str, rank: int = 0) -> ReportColumn:
    """Return a column of texts that may be wrapped."""
    return ReportColumn(name, PROSE, rank=rank)


def make_table(columns: Iterable[str | ReportColumn], rows: Iterable[Sequence[Cell]], title: str = "") -> ReportTable:
    """Return a table; columns given by name hold short texts."""
    named = (ReportColumn(column) if isinstance(column, str) else column for column in columns)
    return ReportTable(title, tuple(named), tuple(map(tuple, rows)))


def format_counts(counts: Iterable[int]) -> str:
    """Return the numbers of buckets of the streets as text."""
    return " – ".join(f"{count:,}" for count in counts)
