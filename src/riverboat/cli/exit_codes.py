"""How commands end: every error is one line and an exit code (docs/formats.md)."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, NoReturn

import typer

from riverboat.cli import signals
from riverboat.cli.growth_progress import Told
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import complaint, say, use_utf8
from riverboat.core import atomic_io
from riverboat.core.budget import heard
from riverboat.core.errors import DiskError, InputError, MemoryLimitError, RiverboatError

FAULT = 70  # exit code of what nobody thought of, EX_SOFTWARE elsewhere


def run(app: typer.Typer, arguments: list[str] | None = None) -> NoReturn:
    """Run a command to its exit code."""
    use_utf8()
    told = Told()
    try:
        with signals.raised(), heard(told):
            code: Any = app(arguments, standalone_mode=False)
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        _end(*_told(error))
    if code == 130:  # also what typer makes of any signal
        _end(f"interrupted{told.interrupted}", signals.Interrupted.last)
    sys.exit(code if isinstance(code, int) else 0)


def _end(line: str, code: int) -> NoReturn:
    ProgressLine.stop()
    if line:
        say(line)
    sys.exit(code)


def _reader_left(error: Exception) -> bool:
    """Tell whether who reads along has enough: `riverboat show … | head`. Windows calls that an invalid argument."""
    if isinstance(error, BrokenPipeError):
        return True
    return (
        sys.platform == "win32" and isinstance(error, OSError) and (error.errno, error.filename) == (errno.EINVAL, None)
    )


def _told(error: Exception) -> tuple[str, int]:
    """What a person is told of an error, in one line, and the exit code."""
    if _reader_left(error):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return "", 1
    if isinstance(error, RiverboatError):
        line, code = str(error), error.exit_code
    elif isinstance(error, MemoryError):
        line, code = f"not enough memory: {error}", MemoryLimitError.exit_code
    elif isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # files have names: this is what was printed
        place = error.filename or ("standard output" if full else None)
        line, code = f"{place}: {atomic_io.reason(error)}" if place else atomic_io.reason(error), DiskError.exit_code
    elif hasattr(error, "format_message"):  # the command line itself is wrong
        line, code = error.format_message(), InputError.exit_code
    else:  # nobody thought of it
        if os.environ.get("RIVERBOAT_TRACEBACK"):
            raise error
        line, code = f"{type(error).__name__}: {error} (a fault of Riverboat; RIVERBOAT_TRACEBACK=1 shows where)", FAULT
    return complaint(line), code
