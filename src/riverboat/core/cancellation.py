"""Cooperative cancellation: long computations call `poll` between two steps, and whoever started them may stop them there.

    with polled(check):          # `check` raises CancelledError to stop, or waits to let something else go first
        solve_many(spots)

The library owns no clock and no threads of others: without `polled`, `poll` does nothing. The check belongs to the thread
that entered `polled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from riverboat.core.errors import RiverboatError

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


class CancelledError(RiverboatError):
    """A computation was stopped by whoever started it."""


@contextmanager
def polled(check: Callable[[], None] | None) -> Iterator[None]:
    """Call `check` at every `poll` inside; None switches polling off."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def is_polled() -> bool:
    """Return whether somebody may stop this computation, so that it should work in small steps."""
    return _CHECK.get() is not None


def poll() -> None:
    """Give whoever started this computation the chance to stop or to delay it."""
    check = _CHECK.get()
    if check is not None:
        check()
