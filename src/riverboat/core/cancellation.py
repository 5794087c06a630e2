"""Cooperative cancellation of long computations.

Long computations call `check_cancellation` between two steps, where their caller may stop or delay them:

    with cancellation_check(check):  # `check` raises CancelledError to stop, or waits to let other work go first
        solve_many(spots)

Outside of such a block `check_cancellation` does nothing: the library owns neither a clock nor its callers' threads. A
check belongs to the thread that entered the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from riverboat.core.errors import RiverboatError

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


class CancelledError(RiverboatError):
    """A computation was stopped by its caller."""


@contextmanager
def cancellation_check(check: Callable[[], None] | None) -> Iterator[None]:
    """Call `check` at every `check_cancellation` inside the block; None switches it off."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def has_cancellation_check() -> bool:
    """Return whether the caller may stop this computation, so that it should work in small steps."""
    return _CHECK.get() is not None


def check_cancellation() -> None:
    """Let the caller of this computation stop or delay it."""
    check = _CHECK.get()
    if check is not None:
        check()
