"""What callers give to the library: refused in one line where it is of another kind, or out of range."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from pathlib import Path
from typing import Any

from riverboat.core.errors import MAX_THREADS, InputError, shown

MOST = 2**63 - 1
_LONGEST = 4096  # characters of a name or a path


def _refuse(name: str, value: object, must: str) -> InputError:
    return InputError(f"{name}={shown(value)}: must be {must}")


def whole(name: str, value: Any, low: int = 0, high: int = MOST) -> None:
    """A whole number in a range."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not low <= int(value) <= high:
        raise _refuse(name, value, f"a whole number from {low:,}" + (f" to {high:,}" if high < MOST else ""))


def number(name: str, value: Any, low: float = 0.0) -> None:
    """A number that is not below another."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value) or value < low:
        raise _refuse(name, value, f"a number from {low:g}")


def threads(value: Any, name: str = "threads") -> None:
    """As many as a machine may have."""
    whole(name, value, 1, MAX_THREADS)


def text(name: str, value: Any) -> None:
    """A name, on one line."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        raise _refuse(name, value, f"a text on one line, of at most {_LONGEST:,} characters")


def path(name: str, value: Any) -> None:
    """Where a file or a folder is."""
    if not isinstance(value, str | Path) or not 0 < len(str(value)) <= _LONGEST or not str(value).isprintable():
        raise _refuse(name, value, f"a path, of at most {_LONGEST:,} characters")


def unless_none(check: Callable[..., None], name: str, value: Any, *more: Any) -> None:
    """The same where nothing may be given as well."""
    if value is not None:
        check(name, value, *more)
