"""Run a command in this process and monitor it."""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from numba.core import event

from riverboat.agents import registry
from riverboat.cli import main
from riverboat.cli.progress import ProgressLine

from .case import Case
from .world import WORLD, State, state_of

BUSY = 8.0  # a case is interrupted after this many CPU seconds without output,
WAITING = 40.0  # or this many wall-clock seconds, because other programs run too,
LONGEST = 20.0  # or this many seconds with output


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

    code: int | None  # None: an exception escaped
    out: str
    err: str
    traceback: str
    first: float  # CPU seconds until the first output, without compilation,
    silence: float  # and the longest silence;
    waited: float  # the longest in wall-clock time
    seconds: float
    interrupted: bool
    before: State  # files on disk
    after: State


class Compiling(event.Listener):
    """A CPU clock that stops while Numba compiles or loads compiled code."""

    def __init__(self) -> None:
        self.depth, self.began, self.spent = 0, 0.0, 0.0
        event.register("numba:compiler_lock", self)

    def on_start(self, event: Any) -> None:
        """Note that a compilation starts."""
        if not self.depth:
            self.began = time.process_time()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Note that a compilation ends."""
        self.depth -= 1
        if not self.depth:
            self.spent += time.process_time() - self.began

    def now(self) -> float:
        """CPU seconds spent on anything else."""
        return (self.began if self.depth else time.process_time()) - self.spent


CLOCK = Compiling()


class Watch(threading.Thread):
    """Measure silence, and interrupt commands that seem to hang."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.started, self.heard, self.heard_wall = CLOCK.now(), CLOCK.now(), time.monotonic()
        self.first: float | None = None
        self.silence = self.waited = 0.0
        self.interrupted = False
        self.over = threading.Event()

    def hear(self) -> None:
        """Note that something was printed."""
        now, wall = CLOCK.now(), time.monotonic()
        self.silence = max(self.silence, now - self.heard)
        self.first = self.silence if self.first is None else self.first
        self.waited = max(self.waited, wall - self.heard_wall)
        self.heard, self.heard_wall = now, wall

    def run(self) -> None:
        """Check ten times a second."""
        while not self.over.wait(0.1):
            now, wall = CLOCK.now(), time.monotonic()
            if CLOCK.depth:
                self.heard_wall = wall
            hangs = now - self.heard > BUSY or wall - self.heard_wall > WAITING or now - self.started > LONGEST
            if hangs and not self.over.is_set():
                self.interrupted = True
                _thread.interrupt_main()
                return


class Ear(io.RawIOBase):
    """An in-memory file that notifies the watch of every write."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch, self.bytes = watch, bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.watch.hear()
        self.bytes += bytes(data)
        return len(data)


def run(case: Case, root: Path) -> Outcome:
    """Run a case in a folder of its own next to the world."""
    here = root / "here"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    for name, content in case.files.items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if case.copy is not None:
        shutil.copytree(root / WORLD / case.copy, here / "copy")
    if case.change is not None:
        case.change(here / "copy" if case.copy is not None else here)
    before = state_of(root)
    watch = Watch()
    out, err = Ear(watch), Ear(watch)
    code, trace = None, ""
    started = time.monotonic()
    with _streams(out, err, case.typed), _inside(here):
        watch.start()
        try:
            main.main([*case.words])
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 0
        except BaseException:
            trace = traceback.format_exc()
            ProgressLine.close_all()
        finally:
            watch.over.set()
            _quietly(watch)
            watch.hear()
    result = Outcome(
        code,
        out.bytes.decode(errors="replace"),
        err.bytes.decode(errors="replace"),
        trace,
        watch.first or 0.0,
        watch.silence,
        watch.waited,
        time.monotonic() - started,
        watch.interrupted,
        before,
        state_of(root),
    )
    shutil.rmtree(here, ignore_errors=True)
    return result


def _quietly(watch: Watch) -> None:
    """Wait for the watch, and ignore an interrupt that comes a moment too late."""
    with contextlib.suppress(KeyboardInterrupt):
        watch.join()
        time.sleep(0.0)


@contextlib.contextmanager
def _streams(out: Ear, err: Ear, typed: str) -> Iterator[None]:
    """Streams as in a script: no terminal, and stdout rejects characters that it cannot encode."""
    stored = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.StringIO(typed)
    sys.stdout = io.TextIOWrapper(out, "utf-8", "strict", write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = stored


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Set the current folder and the module path of the world, and hide the demo's agent."""
    stored = Path.cwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder.parent / WORLD))
    try:
        with (
            mock.patch.object(registry, "demo_folder", return_value=folder / "data" / "demo"),
            mock.patch.dict(os.environ, {"RIVERBOAT_TRACEBACK": "1"}),
        ):
            yield
    finally:
        sys.path.remove(str(folder.parent / WORLD))
        os.chdir(stored)
