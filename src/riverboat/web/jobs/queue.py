"""Jobs: a queue of solves, each a command line in a process of its own that writes a run into the data folder.

What is known of a job lies in `.jobs/NAME/`: `job.json` (what was asked for, and where it stands), `spot.toml`, `log.jsonl`
(a line for each check), `result.json` (what the command printed) and `said.txt` (what it said on the way). The run itself is
`NAME/`, a folder like any other. So a server that starts again knows all jobs of the one before, and goes on with them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time as clock
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from riverboat.core import atomic_io
from riverboat.core.errors import InputError, RiverboatError, shown
from riverboat.core.formatting import show_bytes
from riverboat.web.data_folder import JOBS, DataFolder, MissingError
from riverboat.web.jobs.options import SPOT_FILE, check_files, check_options

QUEUED, RUNNING, STOPPING, STOPPED, DONE, MISSED, FAILED = (
    "queued", "running", "stopping", "stopped", "done", "missed", "failed",
)  # fmt: skip
STATES = (QUEUED, RUNNING, STOPPING, STOPPED, DONE, MISSED, FAILED)
ALIVE = (QUEUED, RUNNING, STOPPING)
MOST_JOBS = 500  # known at a time
WAIT = 20.0  # seconds that jobs have for their checkpoints when the server ends
_INTERRUPTED = (129, 130, 143)


@dataclass(frozen=True)
class Job:
    """What was asked for, and where it stands."""

    name: str  # of the run, and so of the job
    kind: str  # spot, or boards
    options: dict[str, Any]  # of the command, by its long names; true for those without a value
    bytes: int  # that it will need
    state: str = QUEUED
    created: float = 0.0  # seconds of the clock of the world
    started: float | None = None
    ended: float | None = None
    message: str = ""  # why it failed, or what it says in the end
    facts: dict[str, Any] = field(default_factory=dict)  # of the spot, for lists


class Jobs:
    """The queue. All methods may be called from any thread."""

    def __init__(self, data: DataFolder, *, most: int, memory: int, changed: Callable[[], None] = lambda: None) -> None:
        self.data, self.most, self.memory, self.changed = data, most, memory, changed
        self._lock = threading.RLock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._closing = False
        self._jobs = self._read()

    # --- what is known -------------------------------------------------------------------------

    def all(self) -> list[Job]:
        """The newest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.created)

    def get(self, name: str) -> Job:
        """One by its name."""
        with self._lock:
            if name not in self._jobs:
                raise MissingError(f"job {shown(name)}: there is none of that name; GET /api/jobs lists them")
            return self._jobs[name]

    def find(self, name: str) -> Job | None:
        """The same, or None."""
        with self._lock:
            return self._jobs.get(name)

    def process(self, name: str) -> int | None:
        """The number of a job's process, where one runs."""
        with self._lock:
            return self._processes[name].pid if name in self._processes else None

    # --- what is done with them ------------------------------------------------------------------

    def submit(self, spot: str, job: Job) -> Job:
        """Put a job at the end of the queue; `spot` is the text of its file."""
        with self._lock:
            if len(self._jobs) >= MOST_JOBS:
                raise InputError(f"{MOST_JOBS} jobs are known: delete some before another one")
            if job.name in self._jobs:
                raise InputError(f"job {shown(job.name)}: there is one of that name; choose another")
            if job.bytes > self.memory:
                raise InputError(
                    f"{job.name}: needs {show_bytes(job.bytes)}, and jobs may take {show_bytes(self.memory)} here; "
                    "fewer sizes or dtype 16-bit take less"
                )
            notes = self.data.notes(job.name)
            with atomic_io.told(notes):
                notes.mkdir(parents=True)
            atomic_io.write_text(notes / SPOT_FILE, spot)
            self._keep(replace(job, state=QUEUED, created=clock.time()))
        self._pump()
        return self.get(job.name)

    def stop(self, name: str) -> Job:
        """Take a job out of the queue, or let it write a checkpoint and end."""
        with self._lock:
            job = self.get(name)
            if job.state == QUEUED:
                self._keep(replace(job, state=STOPPED, ended=clock.time()))
            elif job.state == RUNNING:
                self._keep(replace(job, state=STOPPING))
                self._interrupt(name)
            elif job.state != STOPPING:
                raise InputError(f"job {shown(name)}: is {job.state}, and does not run")
            return self.get(name)

    def resume(self, name: str, options: dict[str, Any]) -> Job:
        """Go on with a job that is not running, with other limits if any are given."""
        with self._lock:
            job = self.get(name)
            if job.state in ALIVE:
                raise InputError(f"job {shown(name)}: is {job.state} already")
            if atomic_io.is_held(self.data.path(name)):
                raise InputError(
                    f"job {shown(name)}: a process is still writing its last checkpoint; try again in a moment"
                )
            kept = {key: value for key, value in job.options.items() if not options or key not in LIMITS}
            checked = check_options(kept | options, job.kind, self.data)
            self._keep(replace(job, state=QUEUED, options=checked, ended=None, message=""))
        self._pump()
        return self.get(name)

    def remove(self, name: str) -> None:
        """Delete a job and its run."""
        with self._lock:
            job = self.get(name)
            if job.state in (RUNNING, STOPPING):
                raise InputError(f"job {shown(name)}: is {job.state}; stop it first")
            self.data.remove(name)
            del self._jobs[name]
        self.changed()

    def close(self) -> None:
        """Let all jobs write a checkpoint and end; those that wait stay in the queue for the next server."""
        with self._lock:
            self._closing = True
            running = list(self._processes.values())
            for name in list(self._processes):
                self._interrupt(name)
        until = clock.monotonic() + WAIT
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - clock.monotonic()))

    # --- the queue -------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Start what may start: the oldest first, as long as there is room."""
        with self._lock:
            for job in reversed(self.all()):
                taken = sum(self._jobs[name].bytes for name in self._processes)
                full = len(self._processes) >= self.most or taken + job.bytes > self.memory
                if job.state == QUEUED and not full and not self._closing:
                    self._start(job)
        self.changed()

    def _start(self, job: Job) -> None:
        notes = self.data.notes(job.name)
        try:
            check_files(notes, self.data.path(job.name))
            words = self.words(replace(job, options=check_options(job.options, job.kind, self.data)))
        except RiverboatError as error:
            self._keep(replace(job, state=FAILED, ended=clock.time(), message=str(error)))
            return
        # -P: a module of the current folder is not imported in place of ours
        command = [sys.executable, "-P", "-m", "riverboat.web.jobs.process", *words]
        with (
            atomic_io.told(notes), (notes / "result.json").open("wb") as result, (notes / "said.txt").open("wb") as said,
        ):  # fmt: skip
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=result, stderr=said, start_new_session=True
            )  # fmt: skip
        self._processes[job.name] = process
        self._keep(replace(job, state=RUNNING, started=clock.time(), ended=None))
        threading.Thread(target=self._watch, args=(job.name, process), daemon=True).start()

    def words(self, job: Job) -> list[str]:
        """The command line of a job, as it can be typed too."""
        notes, options = self.data.notes(job.name), job.options
        words = ["solve", str(notes / SPOT_FILE), "--out", str(self.data.path(job.name)), "--resume", "--json"]
        words += ["--log", str(notes / "log.jsonl")] if job.kind == "spot" else []
        for name, value in options.items():
            words += [f"--{name}"] if value is True else [f"--{name}={value}"]
        return words

    def _watch(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a job, note it, and start the next."""
        code = process.wait()
        with self._lock:
            self._processes.pop(name, None)
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
            job = self._jobs.get(name)
            if job is not None:
                state = DONE if code == 0 else MISSED if code == 1 else STOPPED if code in _INTERRUPTED else FAILED
                message = "" if state in (DONE, STOPPED) else _last_line(self.data.notes(name) / "said.txt")
                if code < 0 and not message:
                    message = f"the process was killed by signal {-code}"
                with suppress(OSError):  # no room to note it: this server knows it all the same, and goes on
                    self._keep(replace(job, state=state, ended=clock.time(), message=message))
        self._pump()

    def _interrupt(self, name: str) -> None:
        pipe = self._processes[name].stdin
        if pipe is not None:
            with suppress(OSError):
                pipe.close()

    # --- on disk -----------------------------------------------------------------------------------

    def _keep(self, job: Job) -> None:
        self._jobs[job.name] = job
        atomic_io.write_text(self.data.notes(job.name) / "job.json", json.dumps(asdict(job), indent=1))
        self.changed()

    def _read(self) -> dict[str, Job]:
        """The jobs of earlier servers; those that ran when their server was killed have stopped, and wait to be resumed."""
        jobs: dict[str, Job] = {}
        for file in sorted((self.data.root / JOBS).glob("*/job.json")):
            job = _job(file)
            if job is None or job.name != file.parent.name:
                continue
            try:
                self.data.path(job.name)
                check_options(job.options, job.kind, self.data)
            except RiverboatError as error:  # somebody else's folder, or another release: shown, and never started
                jobs[job.name] = replace(job, state=FAILED, message=f"{file.name}: {error}")
                continue
            alive = job.state in ALIVE
            message = "the server ended; resume goes on from the last checkpoint" if alive else job.message
            jobs[job.name] = replace(job, state=STOPPED if alive else job.state, message=message)
        return jobs


LIMITS = ("until", "iterations", "time")


def _job(file: Path) -> Job | None:
    """What a file says, if it is whole and its entries are of the right types."""
    with suppress(OSError, ValueError, TypeError, RecursionError):  # pydantic's errors are ValueErrors
        job = TypeAdapter(Job).validate_json(file.read_bytes(), strict=True)
        return job if job.state in STATES else None
    return None


def _last_line(file: Path) -> str:
    with suppress(OSError):
        lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:500] if lines else ""
    return ""
