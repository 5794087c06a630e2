"""The errors that users see. Each message shows the value, the place and the way out.

RiverboatError
├── InputError          bad names, options, files, strategies       exit code 2
│   ├── GameFileError   a malformed game file, with its line
│   └── UnknownKeyError a name that a mapping does not have: a KeyError too
├── RecallError         perfect recall is needed and missing        exit code 2
├── ZeroSumError        a zero-sum game is needed                   exit code 2
├── NumericalError      numbers overflowed: no answer is given     exit code 2
├── CorruptError        an artefact on disk is torn or altered      exit code 2
├── MemoryLimitError    the work does not fit in memory             exit code 3
└── DiskError           the operating system refuses a file         exit code 4
    └── UnsavedError    … after the work was done: has its result
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

MOST_SHOWN = 100  # characters of a value in a message
MOST_NAMES = 40  # known names that are listed


class RiverboatError(Exception):
    """Root of everything that Riverboat raises on purpose."""

    exit_code = 2


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """A value as it stands in a message: as Python writes it, and cut where it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= most else value[: most - 1] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested without end, or a whole number of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= most else text[: most - 1] + "…"


class InputError(RiverboatError, ValueError):
    """Something given by the user cannot be understood or used."""


class GameFileError(InputError):
    """A game file is malformed."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class UnknownKeyError(InputError, KeyError):
    """A mapping has no such key, so that `in`, `get` and `except KeyError` work as everywhere."""

    __str__ = Exception.__str__  # that of KeyError writes the message in quotes


class RecallError(InputError):
    """A player forgets what it knew or did, and the method needs perfect recall."""


class ZeroSumError(InputError):
    """The game is not a two-player zero-sum game, and the method needs one."""


class CorruptError(RiverboatError):
    """A file of an artefact does not match its checksum, or is missing."""


class NumericalError(RiverboatError, ArithmeticError):
    """Numbers overflowed or lost their meaning; no answer is better than a wrong one."""


class MemoryLimitError(RiverboatError, MemoryError):
    """What was asked for does not fit in memory."""

    exit_code = 3


class DiskError(RiverboatError, OSError):
    """The operating system refuses to read or write: no room, no permission, a file where a folder is needed."""

    exit_code = 4


class UnsavedError(DiskError):
    """The work is done, and could not be written. `result` has it."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def listed(names: Iterable[str]) -> str:
    """Names with commas between them; the first ones of many."""
    every = list(names)
    more = [f"… {len(every) - MOST_NAMES:,} more"] if len(every) > MOST_NAMES else []
    return ", ".join(every[:MOST_NAMES] + more)


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An error for an unknown name that lists the known ones and the closest."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5) if len(name) <= MOST_SHOWN else []
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return InputError(f"unknown {kind} {shown(name)}{hint} (known: {listed(names)})")


def within(name: str, value: int, low: int, high: int) -> None:
    """Refuse a number outside its range."""
    if not low <= value <= high:
        raise InputError(f"{name}={value:,}: must be {low:,} to {high:,}")


MAX_THREADS = 1024


def check_threads(threads: int) -> None:
    """Refuse a number of threads that no machine has."""
    within("threads", threads, 1, MAX_THREADS)
