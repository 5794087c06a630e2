"""How a broken promise is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from riverboat.core.errors import RiverboatError

TOLERANCE = 1e-6  # of sums of probabilities; the same that compiling allows


def fail(where: str, what: str, expected: str) -> NoReturn:
    """Raise with the place, what was found there and what was promised."""
    raise AssertionError(f"{where}: {what}; expected {expected}")


def place(name: str, line: Sequence[str]) -> str:
    """A state of a game, in words."""
    return f"{name} after {' '.join(map(repr, line))}" if line else f"{name} at the root"


@contextmanager
def at(where: str) -> Iterator[None]:
    """Say where the code under test raised; our own refusals of it become broken promises."""
    try:
        yield
    except RiverboatError as error:
        raise AssertionError(f"{where}: refused: {error}") from error
    except Exception as error:
        error.add_note(f"raised by what is being checked: {where}")
        raise
