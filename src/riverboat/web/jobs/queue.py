"""Jobs: a queue of solves, each a command line in its own process that writes a run into the data folder.

The files of a job are in `.jobs/NAME/`: `job.json` (options and state), `spot.toml`, `log.jsonl` (a line per check),
`result.json` (the command's stdout) and `said.txt` (its stderr). The run itself is `NAME/`, an ordinary run folder. A
restarted server therefore knows all earlier jobs and can continue them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time as clock
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from riverboat.api import boards as many_boards
from riverboat.api.options import parse_target
from riverboat.api.solve import check_schedule
from riverboat.core import files
from riverboat.core.errors import InputError, RiverboatError, located_errors, short_repr
from riverboat.core.files import read_toml_text
from riverboat.core.formatting import format_bytes, parse_duration
from riverboat.formats import spot_file
from riverboat.web.data_folder import JOBS_FOLDER, DataFolder, MissingError
from riverboat.web.log_files import last_line
from riverboat.web.models import JobOptions, SolveLimitsRequest

# --- Options of a job; one function checks those of new jobs, resumed jobs and `job.json` files ---

SPOT_FILE = "spot.toml"
SPOT_UNIT = "% of pot"  # unit of exploitability


BOARDS_OPTIONS = ("boards", "line", "keep")
OPTION_CHECKS: dict[str, Callable[[str], object]] = {
    "time": parse_duration, "checkpoint": parse_duration, "schedule": check_schedule,
}  # fmt: skip


def check_options(options: Mapping[str, Any], kind: str, data: DataFolder, unit: str = SPOT_UNIT) -> dict[str, Any]:
    """Return the options of a job as the command line takes them; raise for unknown keys and invalid values.

    Parameters
    ----------
    options
        By the long names of `riverboat solve`.
    kind
        `spot`, or `boards` for many boards.
    data
        Folder that a file of boards must lie in.
    unit
        Unit of `until`.
    """
    if kind not in ("spot", "boards"):
        raise InputError(f"kind {short_repr(kind)}: must be spot or boards")
    try:
        given = JobOptions.model_validate(dict(options), strict=True).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"option {'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]) from None
    if "until" in given:
        parse_target(given["until"], unit)
    for name in OPTION_CHECKS.keys() & given:
        OPTION_CHECKS[name](given[name])
    if kind == "spot" and (extra := [name for name in BOARDS_OPTIONS if name in given]):
        raise InputError(f"option {extra[0]}: only for many boards")
    if kind == "boards":
        given["boards"] = check_boards(given.get("boards", ""), data)
    return given


def check_boards(text: str, data: DataFolder) -> str:
    """Return `all`, `sample:N`, or the path of a file in the data folder, given relative or absolute; else raise."""
    if text != "all" and not text.startswith("sample:"):
        full = Path(text)
        inside = full.is_absolute() and full.is_relative_to(data.root)
        text = str(data.path(full.relative_to(data.root).as_posix() if inside else text))
    many_boards.read_boards(text)
    return text


def check_files(notes: Path, run: Path) -> None:
    """Raise if folder `notes` of a job or its run folder has links, or if its spot file needs another file."""
    for link in (path for folder in (notes, run) for path in (folder, *folder.rglob("*")) if path.is_symlink()):
        raise InputError(f"{link}: is a link, through which a job could write elsewhere; remove it")
    file = notes / SPOT_FILE
    with located_errors(file):
        spot_file.loads(read_toml_text(file, "spot file"), None)


# States of jobs; missed: the solve has ended without reaching its target.
STATES = ("queued", "running", "stopping", "stopped", "done", "missed", "failed")
QUEUED, RUNNING, STOPPING, STOPPED, DONE, MISSED, FAILED = STATES
ACTIVE_STATES = (QUEUED, RUNNING, STOPPING)
MAX_JOBS = 500
SHUTDOWN_SECONDS = 20.0  # seconds for checkpoints of jobs at shutdown
_INTERRUPT_CODES = (129, 130, 143)


@dataclass(frozen=True)
class SolveJob:
    """A job: a solve by the command line, its options and its state."""

    name: str  # name of the job and of its run
    kind: str  # spot, or boards (a spot on many boards)
    options: dict[str, Any]  # options of the command by their long names; True for flags
    bytes: int  # estimated memory
    state: str = QUEUED
    created: float = 0.0  # seconds since the epoch
    started: float | None = None
    ended: float | None = None
    message: str = ""  # why it failed, or its last output
    facts: dict[str, Any] = field(default_factory=dict)  # properties of the spot, for lists


class JobQueue:
    """The queue of jobs: processes within limits on their number and memory. All methods are thread-safe."""

    def __init__(self, data: DataFolder, *, max_running: int, memory: int) -> None:
        self.data, self.max_running, self.memory = data, max_running, memory
        self._lock = threading.RLock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._closing = False
        self._jobs = self._load_jobs()

    # --- Queries ---

    def list_jobs(self) -> list[SolveJob]:
        """Return all jobs, the newest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.created)

    def get(self, name: str) -> SolveJob:
        """Return a job by name."""
        job = self.find(name)
        if job is None:
            raise MissingError(f"job {short_repr(name)}: does not exist; GET /api/jobs lists all jobs")
        return job

    def find(self, name: str) -> SolveJob | None:
        """Return a job by name, or None."""
        with self._lock:
            return self._jobs.get(name)

    def process_id(self, name: str) -> int | None:
        """Return the process id of a running job, or None."""
        with self._lock:
            return self._processes[name].pid if name in self._processes else None

    # --- Actions ---

    def submit(self, spot: str, job: SolveJob) -> SolveJob:
        """Append a job to the queue; `spot` is the text of its spot file."""
        with self._lock:
            if len(self._jobs) >= MAX_JOBS:
                raise InputError(f"{MAX_JOBS} jobs exist already: delete some first")
            if job.name in self._jobs:
                raise InputError(f"job {short_repr(job.name)}: exists already; choose another name")
            if job.bytes > self.memory:
                raise InputError(
                    f"{job.name}: needs {format_bytes(job.bytes)}, but the limit for jobs is {format_bytes(self.memory)}; "
                    "fewer bet sizes or dtype 16-bit need less"
                )
            notes = self.data.job_folder(job.name)
            with files.disk_errors(notes):
                notes.mkdir(parents=True)
            files.write_text(notes / SPOT_FILE, spot)
            self._save(replace(job, state=QUEUED, created=clock.time()))
        self._start_queued()
        return self.get(job.name)

    def stop(self, name: str) -> SolveJob:
        """Remove a queued job from the queue, or interrupt a running one, which then writes a checkpoint and ends."""
        with self._lock:
            job = self.get(name)
            if job.state == QUEUED:
                self._save(replace(job, state=STOPPED, ended=clock.time()))
            elif job.state == RUNNING:
                self._save(replace(job, state=STOPPING))
                self._interrupt(name)
            elif job.state != STOPPING:
                raise InputError(f"job {short_repr(name)}: is {job.state}, not running")
            return self.get(name)

    def resume(self, name: str, options: dict[str, Any]) -> SolveJob:
        """Queue a job again that is not running, to continue from its checkpoint; new limits replace all old ones."""
        with self._lock:
            job = self.get(name)
            if job.state in ACTIVE_STATES:
                raise InputError(f"job {short_repr(name)}: is already {job.state}")
            if files.is_locked(self.data.path(name)):
                raise InputError(
                    f"job {short_repr(name)}: a process is still writing its last checkpoint; try again in a moment"
                )
            limits = SolveLimitsRequest.model_fields if options else ()  # new limits replace all of the old ones
            previous = {key: value for key, value in job.options.items() if key not in limits}
            checked = check_options(previous | options, job.kind, self.data)
            self._save(replace(job, state=QUEUED, options=checked, ended=None, message=""))
        self._start_queued()
        return self.get(name)

    def remove(self, name: str) -> None:
        """Delete a job and its run."""
        with self._lock:
            job = self.get(name)
            if job.state in (RUNNING, STOPPING):
                raise InputError(f"job {short_repr(name)}: is {job.state}; stop it first")
            self.data.remove(name)
            del self._jobs[name]

    def close(self) -> None:
        """Interrupt running jobs and wait for their checkpoints; queued jobs can be resumed by the next server."""
        with self._lock:
            self._closing = True
            running = list(self._processes.values())
            for name in list(self._processes):
                self._interrupt(name)
        until = clock.monotonic() + SHUTDOWN_SECONDS
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - clock.monotonic()))

    # --- Processes ---

    def _start_queued(self) -> None:
        """Start queued jobs, oldest first, within the limits on processes and memory."""
        with self._lock:
            for job in reversed(self.list_jobs()):
                used = sum(self._jobs[name].bytes for name in self._processes)
                full = len(self._processes) >= self.max_running or used + job.bytes > self.memory
                if job.state == QUEUED and not full and not self._closing:
                    self._start(job)

    def _start(self, job: SolveJob) -> None:
        notes = self.data.job_folder(job.name)
        try:
            check_files(notes, self.data.path(job.name))
            words = self.command_line(replace(job, options=check_options(job.options, job.kind, self.data)))
        except RiverboatError as error:
            self._save(replace(job, state=FAILED, ended=clock.time(), message=str(error)))
            return
        # -P: never import a module of the current folder instead of ours
        command = [sys.executable, "-P", "-m", "riverboat.web.jobs.process", *words]
        with (
            files.disk_errors(notes), (notes / "result.json").open("wb") as result, (notes / "said.txt").open("wb") as said,
        ):  # fmt: skip
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=result, stderr=said, start_new_session=True
            )
        self._processes[job.name] = process
        self._save(replace(job, state=RUNNING, started=clock.time(), ended=None))
        threading.Thread(target=self._wait_for_end, args=(job.name, process), daemon=True).start()

    def command_line(self, job: SolveJob) -> list[str]:
        """Return the arguments of `riverboat` that run a job."""
        notes, options = self.data.job_folder(job.name), job.options
        words = ["solve", str(notes / SPOT_FILE), "--out", str(self.data.path(job.name)), "--resume", "--json"]
        words += ["--log", str(notes / "log.jsonl")] if job.kind == "spot" else []
        return words + [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()]

    def _wait_for_end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Wait for a job's process, store the final state of the job, and start queued jobs."""
        with process:  # closes its pipe
            code = process.wait()
        with self._lock:
            self._processes.pop(name, None)
            job = self._jobs.get(name)
            if job is not None:
                state = DONE if code == 0 else MISSED if code == 1 else STOPPED if code in _INTERRUPT_CODES else FAILED
                message = "" if state in (DONE, STOPPED) else last_line(self.data.job_folder(name) / "said.txt")
                if code < 0 and not message:
                    message = f"the process was killed by signal {-code}"
                with suppress(OSError):  # disk full: the state is kept in memory only
                    self._save(replace(job, state=state, ended=clock.time(), message=message))
        self._start_queued()

    def _interrupt(self, name: str) -> None:
        pipe = self._processes[name].stdin
        if pipe is not None:
            with suppress(OSError):
                pipe.close()

    # --- Files ---

    def _save(self, job: SolveJob) -> None:
        self._jobs[job.name] = job
        files.write_text(self.data.job_folder(job.name) / "job.json", json.dumps(asdict(job), indent=1))

    def _load_jobs(self) -> dict[str, SolveJob]:
        """Load the jobs of earlier servers; jobs that were running count as stopped and can be resumed."""
        jobs: dict[str, SolveJob] = {}
        for file in sorted((self.data.root / JOBS_FOLDER).glob("*/job.json")):
            job = _read_job(file)
            if job is None or job.name != file.parent.name:
                continue
            try:
                self.data.path(job.name)
                check_options(job.options, job.kind, self.data)
            except RiverboatError as error:  # a foreign folder or another release: shown, but never started
                job = replace(job, state=FAILED, message=f"{file.name}: {error}")
            if job.state in ACTIVE_STATES:
                message = "the server stopped; resume continues from the last checkpoint"
                job = replace(job, state=STOPPED, message=message)
            jobs[job.name] = job
        return jobs


def _read_job(file: Path) -> SolveJob | None:
    """Read a job file; None if it is torn or invalid."""
    with suppress(OSError, ValueError, TypeError, RecursionError):  # pydantic's errors are ValueErrors
        job = TypeAdapter(SolveJob).validate_json(file.read_bytes(), strict=True)
        return job if job.state in STATES else None
    return None
