"""What ends a command from outside: Ctrl-C, a terminal that is closed, a system that shuts down. All three save.

The library knows nothing of signals. Here they become `Interrupted`, at once or between two steps of work.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, ClassVar, NoReturn

from riverboat.cli.terminal import say

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # Windows has no SIGHUP, and SIGBREAK alone


class Interrupted(KeyboardInterrupt):
    """A signal came. `last` is the exit code of the last one, as shells count: 130, 143, 129."""

    last: ClassVar[int] = 130

    def __init__(self, number: int) -> None:
        super().__init__(number)
        Interrupted.last = 128 + number


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Let a function hear the signals; those that are ignored stay so (`nohup`)."""
    before = {}
    if threading.current_thread() is threading.main_thread():  # nobody else may
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def end_now() -> NoReturn:
    """End the process with the exit code of the last signal, whatever its other threads do: all is saved."""
    say("interrupted")
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(Interrupted.last)


@contextmanager
def raised() -> Iterator[None]:
    """A signal raises `Interrupted` wherever the program is."""

    Interrupted.last = 130

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled(stop):
        yield


@contextmanager
def noted() -> Iterator[Callable[[], Interrupted | None]]:
    """A signal is noted, for work that can only be saved between two steps; a second one ends the program at once.

    Gives a function that says whether one came.
    """
    seen: list[Interrupted] = []

    def note(number: int, frame: FrameType | None) -> None:
        if seen:
            say("interrupted again: what was not saved is lost")
            raise SystemExit(128 + number)
        seen.append(Interrupted(number))
        say("stopping: one moment for a checkpoint")

    with _handled(note):
        yield lambda: seen[0] if seen else None
