"""Errors that users see. Each message shows the value, the place and the way out.

RiverboatError
├── InputError          invalid names, options, files, strategies   exit code 2
│   ├── GameFileError   a malformed game file, with its line
│   └── UnknownKeyError a name that a mapping does not have: a KeyError too
├── RecallError         perfect recall is needed and missing        exit code 2
├── ZeroSumError        a zero-sum game is needed                   exit code 2
├── NumericalError      numbers overflowed: there is no result      exit code 2
├── CorruptError        an artifact on disk is torn or altered      exit code 2
├── MemoryLimitError    the work does not fit in memory             exit code 3
└── DiskError           the operating system rejects a file access  exit code 4
    └── UnsavedError    the result cannot be written; the error has it
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

MAX_REPR_LENGTH = 100  # characters of a value in a message
MAX_LISTED_NAMES = 40  # known names that are listed


class RiverboatError(Exception):
    """Base class of all errors that Riverboat raises on purpose."""

    exit_code = 2


def short_repr(value: object, max_length: int = MAX_REPR_LENGTH) -> str:
    """Return the `repr` of a value for a message, shortened where it is long.

    Parameters
    ----------
    value
        Any object.
    max_length
        Most characters of the result; a text may have two more, for its quotes.

    Returns
    -------
    str
        The `repr`, cut with an ellipsis; a description for objects whose `repr` fails.

    Examples
    --------
    >>> short_repr("QsJh2h")
    "'QsJh2h'"
    >>> short_repr(list(range(1000)), 12)
    '[0, 1, 2, 3…'
    """
    if isinstance(value, str):
        return repr(value if len(value) <= max_length else value[: max_length - 1] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # infinitely nested, or an integer of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


class InputError(RiverboatError, ValueError):
    """An argument, option or file of the user is invalid."""


class GameFileError(InputError):
    """A game file is malformed.

    Parameters
    ----------
    path
        The file.
    line
        Line of the problem, from 1.
    problem
        What is wrong, and what to write instead.
    """

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class UnknownKeyError(InputError, KeyError):
    """A mapping has no such key. `in`, `get` and `except KeyError` work as usual."""

    __str__ = Exception.__str__  # KeyError's puts the message in quotes


class RecallError(InputError):
    """A player has imperfect recall, and the method needs perfect recall."""


class ZeroSumError(InputError):
    """The game is not a two-player zero-sum game, and the method needs one."""


class CorruptError(RiverboatError):
    """A file of an artifact is missing or does not match its checksum."""


class NumericalError(RiverboatError, ArithmeticError):
    """Numbers overflowed or lost their meaning; no result is better than a wrong one."""


class MemoryLimitError(RiverboatError, MemoryError):
    """The requested work does not fit in memory."""

    exit_code = 3


class DiskError(RiverboatError, OSError):
    """The operating system cannot read or write: disk full, no permission, a file where a folder is needed."""

    exit_code = 4


class UnsavedError(DiskError):
    """The work is done, but its result could not be written.

    Parameters
    ----------
    message
        What could not be written, and why.
    result
        The result of the work, which the attribute of the same name holds.
    """

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


@contextmanager
def located_errors(where: object) -> Iterator[None]:
    """Put a location in front of the message of an InputError.

    Parameters
    ----------
    where
        Path of the file, or number of the line.

    Returns
    -------
    Iterator[None]
        Context of a `with` block.

    Raises
    ------
    InputError
        If the block raises one.

    Examples
    --------
    >>> with located_errors("line 3"):
    ...     raise InputError("no cards")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: line 3: no cards
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def join_names(names: Iterable[str]) -> str:
    """Join names by commas, at most the first `MAX_LISTED_NAMES`.

    Parameters
    ----------
    names
        Names in the order in which they are listed.

    Returns
    -------
    str
        The names; the number of those left out comes last.

    Examples
    --------
    >>> join_names(["kuhn", "leduc"])
    'kuhn, leduc'
    """
    listed = list(names)
    more = [f"… {len(listed) - MAX_LISTED_NAMES:,} more"] if len(listed) > MAX_LISTED_NAMES else []
    return ", ".join(listed[:MAX_LISTED_NAMES] + more)


def unknown_name_error(kind: str, name: str, known: Iterable[str], suggestions: Sequence[str] = ()) -> InputError:
    """Return an error for an unknown name that lists the known ones and suggests the closest.

    Parameters
    ----------
    kind
        What the name was expected to be, such as `game`.
    name
        The unknown name.
    known
        Names that exist, in any order.
    suggestions
        More names to suggest, which are not listed. One that ends with the unknown name is preferred.

    Returns
    -------
    InputError
        The error, for the caller to raise.

    Examples
    --------
    >>> print(unknown_name_error("game", "leduk", ["kuhn", "leduc"]))
    unknown game 'leduk'; did you mean 'leduc'? (known: kuhn, leduc)
    """
    names = sorted(known)
    close = [suggestion for suggestion in suggestions if suggestion.endswith(f":{name}")][:1]
    if not close and len(name) <= MAX_REPR_LENGTH:
        close = difflib.get_close_matches(name, [*names, *suggestions], n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return InputError(f"unknown {kind} {short_repr(name)}{hint} (known: {join_names(names)})")


MAX_THREADS = 1024


def check_threads(threads: int) -> None:
    """Raise InputError for a number of threads that no machine has.

    Parameters
    ----------
    threads
        Number of threads, from 1 to `MAX_THREADS`.

    Raises
    ------
    InputError
        The number is outside that range.

    Examples
    --------
    >>> check_threads(2)
    """
    if not 1 <= threads <= MAX_THREADS:
        raise InputError(f"threads={threads:,}: must be 1 to {MAX_THREADS:,}")
