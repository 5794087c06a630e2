"""Test harness: start a command, kill it at random times, resume it until it is done, and compare.

with Nursery(folder) as nursery:
    found = torment(nursery, case, seed=1, trials=20)
    found.equal                        # trials that ended with the result of an uninterrupted run
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import riverboat
from processes import Processes
from riverboat.core import artifacts

INTERRUPTED = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}
PATIENCE = 120.0  # time limit of any command, in seconds
MAX_SESSIONS = 60  # resumes of a trial, after which it counts as making no progress


class Nursery:
    """Start commands in a fraction of a second, in processes forked from one that has everything loaded and compiled."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, Processes()
        tests = Path(__file__).parent
        places = (
            Path(riverboat.__file__).parents[1],
            tests.parent,
            tests.parent.parent,
        )  # the package under test, and the tests
        path = os.pathsep.join(str(place) for place in places)
        cache = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data")}
        self.process = self.processes.python(
            tests / "nursery.py", cwd=folder, env={**os.environ, **cache, "PYTHONPATH": path},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.processes.end()

    @property
    def output(self) -> str:
        """Output of the last command."""
        return (self.folder / "output").read_text(errors="replace")

    def run(self, words: list[Any], kill: Callable[[int], None] | None = None, *, load: bool = False) -> int:
        """Run a command and return its exit code; meanwhile `kill` may wait and send a signal to its process.

        With `load` it runs before the fork, so that later commands have everything in memory.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = [str(word) for word in words], str(self.folder / "output"), load
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        number = int(self.process.stdout.readline())
        late = threading.Timer(PATIENCE, os.kill, (number, signal.SIGKILL))
        late.start()
        killer = None if kill is None else threading.Thread(target=_quietly, args=(kill, number))
        if killer is not None:
            killer.start()
        code = int(self.process.stdout.readline())
        late.cancel()
        if killer is not None:
            killer.join()
        return code


def _quietly(kill: Callable[[int], None], process: int) -> None:
    with suppress(ProcessLookupError):  # it had already ended
        kill(process)


@dataclass(frozen=True)
class Case:
    """A command that can be killed and resumed.

    `begin` and `resume` receive the trial's folder. `result` reads the values to compare from it. `done` lists exit
    codes other than 0 of a finished command.
    """

    begin: Callable[[Path], list[Any]]
    resume: Callable[[Path, random.Random], list[Any]]
    result: Callable[[Path], Any]
    check: Callable[[Path], None] = lambda folder: None
    exact: bool = True


@dataclass
class Found:
    """Results of a case."""

    trials: int = 0
    equal: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kills = ", ".join(f"{count} {name}" for name, count in sorted(self.killed.items())) or "none"
        return f"{self.equal} of {self.trials} equal; killed: {kills}"


def whole(folder: Path) -> None:
    """Read every artifact in a folder: each must be complete, whatever was killed."""
    for manifest in sorted(folder.rglob(artifacts.MANIFEST)):
        if not any(part.startswith(".") for part in manifest.relative_to(folder).parts):
            artifacts.read(manifest.parent)


def torment(nursery: Nursery, case: Case, seed: int, trials: int, kills: int = 4) -> Found:
    """Kill a command at random times, resume it until it is done, and compare with an uninterrupted run.

    Each trial has a folder of its own and one to `kills` random kills. Delays are drawn from the duration of an
    uninterrupted run, so that they fall anywhere in it.
    """
    draws, result = random.Random(seed), Found()
    for name in ("loaded", "expected"):
        started = time.monotonic()
        code = nursery.run(case.begin(nursery.folder / name), load=name == "loaded")
        assert code == 0, nursery.output
        seconds = time.monotonic() - started
    expected = case.result(nursery.folder / "expected")
    for trial in range(trials):
        folder = nursery.folder / f"trial-{trial}"
        result.trials += 1
        try:
            _trial(nursery, case, folder, draws, seconds, draws.randint(1, kills), result)
            got = case.result(folder)
            assert not case.exact or got == expected, "another result"
            assert not list(folder.rglob(".*.tmp*")), "drafts are left"
            result.equal += 1
        except Exception as error:  # run all trials, and report all failures
            result.wrong.append(f"trial {trial}: {type(error).__name__}: {error}"[:500])
    return result


def _trial(
    nursery: Nursery, case: Case, folder: Path, draws: random.Random, seconds: float, kills: int, found: Found
) -> None:
    command, code = case.begin(folder), -1
    for session in range(MAX_SESSIONS):
        which = draws.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        delay = draws.uniform(0.0, 1.1 * seconds)

        def kill(process: int, which: int = which, delay: float = delay) -> None:
            time.sleep(delay)
            os.kill(process, which)

        code = nursery.run(command, kill if session < kills else None)
        if code == 0:
            return
        if session >= kills:
            break
        allowed = {-signal.SIGKILL} if which == signal.SIGKILL else {INTERRUPTED[which], -which}
        assert code in allowed, f"exit code {code} after {which.name}: {nursery.output[-3000:]}"
        assert "Traceback" not in nursery.output, nursery.output[-1000:]
        found.killed[which.name] += 1
        whole(folder)
        case.check(folder)
        command = case.resume(folder, draws)
    raise AssertionError(f"exit code {code} without a kill: {nursery.output[-3000:]}")
