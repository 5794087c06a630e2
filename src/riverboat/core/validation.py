"""Validate arguments of the public API."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from riverboat.core.errors import MAX_THREADS, InputError, short_repr, unknown_name_error

MAX_INT = 2**63 - 1
_MAX_TEXT_LENGTH = 4096  # characters of a name or a path


def _invalid_argument(name: str, value: object, requirement: str) -> InputError:
    return InputError(f"{name}={short_repr(value)}: must be {requirement}")


def check_integer(name: str, value: Any, minimum: int = 0, maximum: int = MAX_INT) -> None:
    """Raise InputError unless the value is an integer in a range.

    Parameters
    ----------
    name
        Name of the argument in the message.
    value
        The argument. NumPy's integers count, booleans do not.
    minimum
        Smallest integer allowed.
    maximum
        Largest integer allowed.

    Raises
    ------
    InputError
        The value is of another type, or outside the range.

    Examples
    --------
    >>> check_integer("iterations", 100, 1)
    >>> check_integer("iterations", 1.5, 1)
    Traceback (most recent call last):
    riverboat.core.errors.InputError: iterations=1.5: must be a whole number from 1
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not minimum <= int(value) <= maximum:
        limit = f" to {maximum:,}" if maximum < MAX_INT else ""
        raise _invalid_argument(name, value, f"a whole number from {minimum:,}{limit}")


def check_number(name: str, value: Any, minimum: float = 0.0) -> None:
    """Raise InputError unless the value is a number of at least `minimum`.

    Parameters
    ----------
    name
        Name of the argument in the message.
    value
        The argument. Infinity is allowed, NaN and booleans are not.
    minimum
        Smallest number allowed.

    Raises
    ------
    InputError
        The value is of another type, NaN or too small.

    Examples
    --------
    >>> check_number("until", 0.5)
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value) or value < minimum:
        raise _invalid_argument(name, value, f"a number from {minimum:g}")


def check_boolean(name: str, value: Any) -> None:
    """Raise InputError unless the value is True or False.

    Parameters
    ----------
    name
        Name of the argument in the message.
    value
        The argument. NumPy's booleans count.

    Raises
    ------
    InputError
        The value is of another type.

    Examples
    --------
    >>> check_boolean("resume", True)
    """
    if type(value).__name__ not in ("bool", "bool_"):  # bool, numpy.bool
        raise _invalid_argument(name, value, "True or False")


def check_thread_count(value: Any, name: str = "threads") -> None:
    """Raise InputError unless the value is a possible number of threads.

    Parameters
    ----------
    value
        The argument: an integer from 1 to `MAX_THREADS`.
    name
        Name of the argument in the message.

    Raises
    ------
    InputError
        The value is of another type, or outside that range.

    Examples
    --------
    >>> check_thread_count(8)
    """
    check_integer(name, value, 1, MAX_THREADS)


def check_text(name: str, value: Any) -> None:
    """Raise InputError unless the value is a printable text on one line.

    Parameters
    ----------
    name
        Name of the argument in the message.
    value
        The argument, of at most 4,096 characters.

    Raises
    ------
    InputError
        The value is no text, too long, or has characters that do not print.

    Examples
    --------
    >>> check_text("name", "leduc")
    """
    if not isinstance(value, str) or len(value) > _MAX_TEXT_LENGTH or not value.isprintable():
        raise _invalid_argument(name, value, f"a text on one line, of at most {_MAX_TEXT_LENGTH:,} characters")


def check_path(name: str, value: Any) -> None:
    """Raise InputError unless the value is a path.

    Parameters
    ----------
    name
        Name of the argument in the message.
    value
        The argument: a text or a `Path`, of 1 to 4,096 characters.

    Raises
    ------
    InputError
        The value is of another type, empty, too long, or has characters that do not print.

    Examples
    --------
    >>> check_path("out", "runs/leduc")
    """
    if not isinstance(value, str | Path) or not 0 < len(str(value)) <= _MAX_TEXT_LENGTH or not str(value).isprintable():
        raise _invalid_argument(name, value, f"a path, of at most {_MAX_TEXT_LENGTH:,} characters")


def check_name(kind: str, name: str, known: Collection[str]) -> None:
    """Raise InputError unless a name is known; the message suggests the closest.

    Parameters
    ----------
    kind
        What the name was expected to be, such as `game`.
    name
        The name.
    known
        Names that exist.

    Raises
    ------
    InputError
        The name is unknown.

    Examples
    --------
    >>> check_name("game", "leduk", ["kuhn", "leduc"])
    Traceback (most recent call last):
    riverboat.core.errors.InputError: unknown game 'leduk'; did you mean 'leduc'? (known: kuhn, leduc)
    """
    if name not in known:
        raise unknown_name_error(kind, name, known)


def optional(check: Callable[..., None], name: str, value: Any, *args: Any) -> None:
    """Apply a check unless the value is None.

    Parameters
    ----------
    check
        A check of this module that takes the name first.
    name
        Name of the argument in the message.
    value
        The argument, or None.
    *args
        Further arguments of the check.

    Raises
    ------
    InputError
        The value is not None, and the check rejects it.

    Examples
    --------
    >>> optional(check_integer, "seed", None)
    >>> optional(check_integer, "seed", 7, 0, 10)
    """
    if value is not None:
        check(name, value, *args)
