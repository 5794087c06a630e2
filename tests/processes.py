"""Processes that tests start: each leads a group of its own, and the whole group ends with the test, whatever happens.

    def test_something(processes):
        process = processes.riverboat("solve", "leduc", "--time", "600s")
        process.send_signal(signal.SIGTERM)

Signals that pytest itself ignores (`nohup`, `&`) are not ignored by the processes that it starts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

MARK = "RIVERBOAT_TEST_PROCESS"  # in the environment of everything that a process of pytest starts
TRACKERS = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")  # end with the interpreter
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGUSR1") if hasattr(signal, name)]


class Processes:
    """Processes of a test, with all their descendants."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[Any]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def start(self, *command: object, ignored: Collection[int] = (), **options: Any) -> subprocess.Popen[Any]:
        """Start a command in a group of its own. Signals have their default effect there, except those `ignored`."""
        with _dispositions(ignored):
            process = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
        self.started.append(process)
        return process

    def python(self, *arguments: object, **options: Any) -> subprocess.Popen[Any]:
        """Start this interpreter."""
        return self.start(sys.executable, *arguments, **options)

    def riverboat(self, *arguments: object, **options: Any) -> subprocess.Popen[Any]:
        """Start a command of Riverboat."""
        return self.python("-m", "riverboat.cli.main", *arguments, **options)

    def end(self) -> None:
        """End all groups, close all pipes."""
        for process in self.started:
            end_group(process)
        self.started.clear()


def end_group(process: subprocess.Popen[Any]) -> None:
    """Kill a process that leads a group, and the rest of the group."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


@contextmanager
def _dispositions(ignored: Collection[int]) -> Iterator[None]:
    """Choose the signal dispositions of processes that are started now; pytest itself is not affected.

    A handler of ours becomes the default action in the new program, whereas an ignored signal would stay ignored.
    """
    before = {each: signal.getsignal(each) for each in SIGNALS}
    try:
        for each, handler in before.items():
            if each in ignored:
                signal.signal(each, signal.SIG_IGN)
            elif handler is signal.SIG_IGN:
                signal.signal(each, _do_nothing)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _do_nothing(*_: object) -> None:
    pass


def mark() -> None:
    """Mark the processes that this process starts from now on."""
    os.environ[MARK] = str(os.getpid())


def left_over() -> dict[int, str]:
    """Find running processes that this one has started, also orphans, with their command lines."""
    wanted, result = f"{MARK}={os.getpid()}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            if wanted in (folder / "environ").read_bytes().split(b"\0") and not any(x in command for x in TRACKERS):
                result[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")[:200]
    return result
