"""Runs of the data folder, started by this server or elsewhere: descriptions, states, and logs as series."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from riverboat.api.artifacts import BOARDS_FILE, SNAPSHOT_FOLDER, artifact_type, describe, newest_artifact
from riverboat.api.estimate import DEFAULT_TARGET
from riverboat.api.options import parse_target
from riverboat.cli.progress import extrapolate_iterations
from riverboat.core import artifacts
from riverboat.core import files as core_files
from riverboat.core.errors import RiverboatError
from riverboat.core.resources import resident_memory
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import ACTIVE_STATES, SPOT_UNIT, JobQueue, SolveJob
from riverboat.web.log_files import read_rows
from riverboat.web.models import RunResponse, SeriesResponse

MAX_RUNS = 2_000
_BOARD_PATTERN = re.compile(r'^board = "(\w+)"', re.MULTILINE)
_NAME_PATTERN = re.compile(r'^name = "(.*)"$', re.MULTILINE)
_OWNER_PATTERN = re.compile(r"process (\d+) on (\S+)")


def list_runs(data: DataFolder, jobs: JobQueue) -> list[RunResponse]:
    """Return all runs, the last changed first, including jobs that have written nothing yet."""
    folders = islice(data.iter_runs(), MAX_RUNS)
    runs = {name: describe_run(name, folder, jobs.find(name)) for name, folder in folders}
    for job in jobs.list_jobs():
        if job.name not in runs:
            runs[job.name] = RunResponse(
                name=job.name, kind="boards" if job.kind == "boards" else "solution", game=job.facts.get("game"),
                board=job.facts.get("board"), state=job.state, running=job.state in ACTIVE_STATES[1:], job=True, ready=False,
                changed=job.ended or job.started or job.created,
            )  # fmt: skip
    return sorted(runs.values(), key=lambda run: -run.changed)


def describe_run(name: str, folder: Path, job: SolveJob | None) -> RunResponse:
    """Describe a run from its newest manifest, its lock, and its job if this server has one."""
    locked = core_files.is_locked(folder)
    run: dict[str, Any] = {
        "name": name, "kind": "other", "job": job is not None, "ready": False, "changed": 0.0,
        "running": locked or (job is not None and job.state in ACTIVE_STATES[1:]),
        "state": job.state if job is not None else "running" if locked else "done",
    }  # fmt: skip
    with suppress(OSError):
        run["changed"] = folder.stat().st_mtime
    if (folder / BOARDS_FILE).is_file():
        rows = read_rows(folder / BOARDS_FILE)
        game = rows[0].get("game", "").rpartition(" ")[0] if rows else None
        run |= {"kind": "boards", "game": game, "iterations": len(rows), "ready": True}
    else:
        with suppress(RiverboatError, OSError, KeyError, TypeError, ValueError):
            run |= _manifest_fields(newest_artifact(folder)) | {"ready": True}
    return RunResponse(**run)


def _manifest_fields(place: Path) -> dict[str, Any]:
    manifest = artifacts.read_manifest(place)
    changed = (place / artifacts.MANIFEST).stat().st_mtime
    if (kind := artifact_type(manifest.text("kind"))) == "tournament":
        game = f"tournament of {manifest.integer('players')}"
        steps, seconds = manifest.integer("steps"), manifest.number("seconds", 0)
        return {"kind": "tournament", "game": game, "changed": changed, "iterations": steps, "seconds": seconds}
    provenance = manifest.plain_table("provenance", 1)
    facts: dict[str, Any] = {"game": manifest.text("game"), "changed": changed}
    facts |= {"iterations": provenance.get("iterations"), "seconds": provenance.get("seconds")}
    if kind == "blueprint":
        return facts | {"kind": "blueprint"}
    if manifest.get("game_file") == "game.toml":
        head = (place / "game.toml").read_text(encoding="utf-8")[:2_000]
        board, name = _BOARD_PATTERN.search(head), _NAME_PATTERN.search(head)
        facts |= {"kind": "solution", "board": board[1] if board else None, "unit": SPOT_UNIT}
        facts |= {"game": name[1]} if name else {}
    for check in _checks_of_manifest(manifest)[-1:]:
        facts |= {key: check[key] for key in ("seconds", "exploitability")} | {"iterations": check["iteration"]}
    return facts


def _checks_of_manifest(manifest: Any) -> list[dict[str, Any]]:
    """Return the exploitability checks stored in a checkpoint."""
    rows = manifest.tables("history") if "history" in manifest else []
    return [dict(row) for row in rows if row["exploitability"] is not None]


# --- Series ---


def run_series(name: str, data: DataFolder, jobs: JobQueue) -> SeriesResponse:
    """Return the log of a run as a time series with units, and its current memory and estimated remaining time."""
    job = jobs.find(name)
    folder = data.run_folder(name) if job is None else data.path(name)
    logs = [data.job_folder(name) / "log.jsonl", folder / "log.jsonl", folder.with_name(f"{folder.name}.jsonl")]
    rows = next((rows for rows in map(read_rows, logs) if rows), [])
    if rows and "iterations" in rows[0]:
        series = _training_series(name, rows, folder)
    else:
        if not rows and folder.is_dir() and not (folder / BOARDS_FILE).is_file():
            with suppress(RiverboatError, OSError):
                rows = _checks_of_manifest(describe(folder).entries)
        series = _solve_series(name, rows, job)
    series.memory = resident_bytes(jobs.process_id(name) or _writing_process(folder))
    if not core_files.is_locked(folder):
        series.seconds_left = None
    if series.memory is not None and series.rows:
        series.rows[-1]["memory"] = series.memory
    return series


def _solve_series(name: str, rows: list[dict[str, Any]], job: SolveJob | None) -> SeriesResponse:
    points: list[dict[str, Any]] = [
        {"iteration": row.get("iteration"), "seconds": row.get("seconds"), "exploitability": row.get("exploitability")}
        | {"visits": row.get("nodes"), "value_low": row.get("value_low"), "value_high": row.get("value_high")}
        for row in rows
    ]
    unit = rows[-1].get("unit", SPOT_UNIT) if rows else SPOT_UNIT
    left = None
    if job is not None and job.state in ACTIVE_STATES and points:
        until = job.options.get("until")
        target = DEFAULT_TARGET if until is None else parse_target(str(until), unit)
        checks = [(row["iteration"], row["exploitability"]) for row in points if row["exploitability"] is not None]
        end, last = extrapolate_iterations(checks, target), points[-1]
        if end is not None and last["seconds"]:
            left = max(0.0, (end - last["iteration"]) * last["seconds"] / max(last["iteration"], 1))
    return SeriesResponse(name=name, rows=points, units={"exploitability": unit, "visits": "nodes"}, seconds_left=left)


def _training_series(name: str, rows: list[dict[str, Any]], folder: Path) -> SeriesResponse:
    """Return the series of a training run: visited information sets, and strength against the previous snapshot."""
    points, unit = [], "mbb/g"
    for row in rows:
        strength = row.get("strength") or {}
        unit = strength.get("unit") or unit
        points.append({
            "iteration": row.get("iterations"), "seconds": row.get("seconds"), "visits": row.get("touched"),
            "exploitability": strength.get("exploitability"), "strength": strength.get("against_snapshot"),
            "half_width": strength.get("ci95"), "regret": row.get("regret"), "rate": row.get("rate"),
        })  # fmt: skip
    snapshots = sorted(path.name for path in (folder / SNAPSHOT_FOLDER).glob("[0-9]*"))
    units = {"exploitability": unit, "strength": unit, "visits": "information sets", "regret": "chips"}
    return SeriesResponse(name=name, rows=points, units=units, seconds_left=rows[-1].get("left"), snapshots=snapshots)


def _writing_process(folder: Path) -> int | None:
    """Return the id of the process on this machine that writes to a folder, or None."""
    with suppress(OSError, ValueError):
        owner = _OWNER_PATTERN.match((folder / core_files.LOCK_FILE).read_text(encoding="utf-8"))
        if owner and owner[2] == socket.gethostname() and core_files.is_locked(folder):
            return int(owner[1])
    return None


def resident_bytes(pid: int | None) -> int | None:
    """Return the resident memory of a process, rounded to MiB; None if the system does not report it."""
    resident = None if pid is None else resident_memory(pid)
    return None if resident is None else resident >> 20 << 20
