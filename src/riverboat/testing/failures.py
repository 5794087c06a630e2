"""Failure messages of the contract suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from riverboat.core.errors import RiverboatError

TOLERANCE = 1e-6  # of sums of probabilities, as in the compilation of trees


def fail(where: str, what: str, expected: str) -> NoReturn:
    """Raise AssertionError with the place, the problem and the expectation.

    Parameters
    ----------
    where
        Place of the problem.
    what
        What was found.
    expected
        What was expected.

    Returns
    -------
    NoReturn
        Never.

    Raises
    ------
    AssertionError
        Always.

    Examples
    --------
    >>> fail("kuhn at the root", "no moves", "at least one")
    Traceback (most recent call last):
    ...
    AssertionError: kuhn at the root: no moves; expected at least one
    """
    raise AssertionError(f"{where}: {what}; expected {expected}")


def describe_state(name: str, line: Sequence[str]) -> str:
    """Describe a state of a game in words.

    Parameters
    ----------
    name
        Name of the game.
    line
        Labels from the root to the state.

    Returns
    -------
    str
        The place for messages.

    Examples
    --------
    >>> describe_state("kuhn", ["c"])
    "kuhn after 'c'"
    """
    return f"{name} after {' '.join(map(repr, line))}" if line else f"{name} at the root"


@contextmanager
def report_location(where: str) -> Iterator[None]:
    """Add the place to exceptions of the code under test; errors of Riverboat become AssertionError.

    Parameters
    ----------
    where
        Place for messages.

    Yields
    ------
    None
        Once.

    Examples
    --------
    >>> with report_location("my game"):
    ...     raise RiverboatError("no such hand")
    Traceback (most recent call last):
    ...
    AssertionError: my game: raised an error: no such hand
    """
    try:
        yield
    except RiverboatError as error:
        raise AssertionError(f"{where}: raised an error: {error}") from error
    except Exception as error:
        error.add_note(f"raised by the object under test: {where}")
        raise
