"""Signals, errors and exit codes: every error becomes one line and an exit code (docs/formats.md)."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, ClassVar, NoReturn

import typer

from riverboat.cli.progress import GrowthProgressLine, ProgressLine
from riverboat.cli.terminal import format_error, say, use_utf8
from riverboat.core import files
from riverboat.core.budget import build_context
from riverboat.core.errors import DiskError, InputError, MemoryLimitError, RiverboatError

# --- Signals: Ctrl-C, a closed terminal and a shutdown all save first ---

_SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # Windows has SIGBREAK and no SIGHUP


class Interrupted(KeyboardInterrupt):
    """Raised when a signal arrives; `last_exit_code` is 128 plus the last signal number, as in shells: 130, 143, 129."""

    last_exit_code: ClassVar[int] = 130

    def __init__(self, number: int) -> None:
        super().__init__(number)
        Interrupted.last_exit_code = 128 + number


@contextmanager
def _install_handler(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Install a handler for interrupt signals within a context; ignored signals stay ignored (`nohup`)."""
    before = {}
    if threading.current_thread() is threading.main_thread():  # other threads may not
        for name in _SIGNAL_NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def exit_immediately() -> NoReturn:
    """Exit with the code of the last signal, without waiting for other threads; everything must be saved already."""
    say("interrupted")
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(Interrupted.last_exit_code)


@contextmanager
def raise_on_signal() -> Iterator[None]:
    """Raise `Interrupted` when a signal arrives."""

    Interrupted.last_exit_code = 130

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _install_handler(stop):
        yield


@contextmanager
def defer_signals() -> Iterator[Callable[[], Interrupted | None]]:
    """Record a signal for work that can only be saved between two steps; a second signal exits at once.

    Yields a function that returns the recorded signal, or None.
    """
    received: list[Interrupted] = []

    def record(number: int, frame: FrameType | None) -> None:
        if received:
            say("interrupted again: unsaved work is lost")
            raise SystemExit(128 + number)
        received.append(Interrupted(number))
        say("stopping after a checkpoint")

    with _install_handler(record):
        yield lambda: received[0] if received else None


INTERNAL_ERROR_CODE = 70  # exit code of unexpected errors, EX_SOFTWARE in sysexits.h


def run_app(app: typer.Typer, arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    use_utf8()
    growth = GrowthProgressLine()
    try:
        with raise_on_signal(), build_context(growth):
            code: Any = app(arguments, standalone_mode=False)
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        _exit_with_message(*_describe_error(error))
    if code == 130:  # typer also returns it for any signal
        _exit_with_message(f"interrupted{growth.interrupted}", Interrupted.last_exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _exit_with_message(line: str, code: int) -> NoReturn:
    ProgressLine.close_all()
    if line:
        say(line)
    sys.exit(code)


def _is_broken_pipe(error: Exception) -> bool:
    """Return whether the reader of the output has closed it: `riverboat show … | head`.

    Windows reports an invalid argument instead.
    """
    if sys.platform == "win32" and isinstance(error, OSError) and error.errno == errno.EINVAL:
        return error.filename is None
    return isinstance(error, BrokenPipeError)


def _describe_error(error: Exception) -> tuple[str, int]:
    """Return the one-line message of an error, empty for a broken pipe, and the exit code."""
    if _is_broken_pipe(error):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise the interpreter complains at exit
        return "", 1
    if isinstance(error, RiverboatError):
        line, code = str(error), error.exit_code
    elif isinstance(error, MemoryError):
        line, code = f"not enough memory: {error}", MemoryLimitError.exit_code
    elif isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # files have names, so this is standard output
        place = error.filename or ("standard output" if full else None)
        reason, code = files.os_error_reason(error), DiskError.exit_code
        line = f"{place}: {reason}" if place else reason
    elif hasattr(error, "format_message"):  # invalid command line
        line, code = error.format_message(), InputError.exit_code
    else:  # unexpected
        if os.environ.get("RIVERBOAT_TRACEBACK"):
            raise error
        line = f"{type(error).__name__}: {error} (a bug in Riverboat; RIVERBOAT_TRACEBACK=1 shows the traceback)"
        code = INTERNAL_ERROR_CODE
    return format_error(line), code
