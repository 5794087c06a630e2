"""Runs of the data folder, whoever started them: what they are, where they stand, and their logs as series."""

from __future__ import annotations

import json
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import RiverboatError
from riverboat.cli.progress import expected
from riverboat.cli.solve.options import target
from riverboat.cli.solve.spot_estimate import TARGET
from riverboat.web.data_folder import BOARDS, DataFolder
from riverboat.web.jobs.options import PERCENT
from riverboat.web.jobs.queue import ALIVE, Job, Jobs
from riverboat.web.runs.logs import rows_of
from riverboat.core.resources import resident_memory
from riverboat.strategies import blueprint, files
from riverboat.tournaments import run as tournament_run

SNAPSHOTS = "snapshots"  # of trainings, in their folders
_BOARD = re.compile(r'^board = "(\w+)"', re.MULTILINE)
_NAME = re.compile(r'^name = "(.*)"$', re.MULTILINE)
_OWNER = re.compile(r"process (\d+) on (\S+)")


def place_of(folder: Path) -> Path:
    """The newest artefact of a run: its strategy or last checkpoint, or a snapshot that is newer."""
    place = files.newest(folder)
    kept = sorted(path for path in (folder / SNAPSHOTS).glob("[0-9]*") if (path / artifacts.MANIFEST).is_file())
    if kept and place.name.startswith(files.CHECKPOINT) and kept[-1].name > place.name.removeprefix(files.CHECKPOINT):
        return kept[-1]
    return place


def listing(data: DataFolder, jobs: Jobs) -> list[dict[str, Any]]:
    """All runs, the one that changed last first; a job that has written nothing yet is one too."""
    told = {name: describe(name, folder, jobs.find(name)) for name, folder in data.runs()}
    for job in jobs.all():
        if job.name not in told:
            told[job.name] = _of_job(job)
    return sorted(told.values(), key=lambda run: -run["changed"])


def _of_job(job: Job) -> dict[str, Any]:
    kind = "boards" if job.kind == "boards" else "solution"
    facts = {key: job.facts.get(key) for key in ("game", "board")}
    running = job.state in ALIVE[1:]
    return {
        "name": job.name, "kind": kind, **facts, "state": job.state, "running": running, "job": True, "ready": False,
        "changed": job.ended or job.started or job.created, "iterations": None, "seconds": None, "exploitability": None,
        "unit": None,
    }  # fmt: skip


def describe(name: str, folder: Path, job: Job | None) -> dict[str, Any]:
    """One run, from its newest manifest."""
    held = atomic_io.is_held(folder)
    run: dict[str, Any] = {
        "name": name, "kind": "other", "game": None, "board": None, "job": job is not None, "ready": False,
        "running": held or (job is not None and job.state in ALIVE[1:]),
        "state": job.state if job is not None else "running" if held else "done", "changed": 0.0,
        "iterations": None, "seconds": None, "exploitability": None, "unit": None,
    }  # fmt: skip
    with suppress(OSError):
        run["changed"] = folder.stat().st_mtime
    if (folder / BOARDS).is_file():
        rows = rows_of(folder / BOARDS)
        game = rows[0].get("game", "").rpartition(" ")[0] if rows else None
        return run | {"kind": "boards", "game": game, "iterations": len(rows), "ready": True}
    with suppress(RiverboatError, OSError, KeyError, TypeError, ValueError):
        run |= _facts(place_of(folder)) | {"ready": True}
    return run


def _facts(place: Path) -> dict[str, Any]:
    manifest = artifacts.manifest(place)
    changed = (place / artifacts.MANIFEST).stat().st_mtime
    if (kind := manifest.text("kind")) == tournament_run.KIND:
        game = f"tournament of {manifest.whole('players')}"
        steps, seconds = manifest.whole("steps"), manifest.number("seconds", 0)
        return {"kind": "tournament", "game": game, "changed": changed, "iterations": steps, "seconds": seconds}
    past = manifest.plain("provenance", 1)
    facts: dict[str, Any] = {"game": manifest.text("game"), "changed": changed}
    facts |= {"iterations": past.get("iterations"), "seconds": past.get("seconds")}
    if kind in blueprint.KINDS:
        return facts | {"kind": "blueprint"}
    if "game_file" in manifest and manifest.text("game_file") == "game.toml":
        head = (place / "game.toml").read_text(encoding="utf-8")[:2_000]
        board, name = _BOARD.search(head), _NAME.search(head)
        facts |= {"kind": "solution", "board": board[1] if board else None, "unit": PERCENT}
        facts |= {"game": name[1]} if name else {}
    checks = _history(manifest)
    if checks:
        facts |= {key: checks[-1][key] for key in ("seconds", "exploitability")} | {
            "iterations": checks[-1]["iteration"]
        }
    return facts


def _history(manifest: Any) -> list[dict[str, Any]]:
    """The checks that a checkpoint remembers."""
    rows = manifest.tables("history") if "history" in manifest else []
    return [dict(row) for row in rows if row["exploitability"] is not None]


# --- series -------------------------------------------------------------------------------------------


def series(name: str, data: DataFolder, jobs: Jobs) -> dict[str, Any]:
    """A run's log: rows of what was known when, with units; and what is known now."""
    folder, job = data.path(name), jobs.find(name)
    logs = [data.notes(name) / "log.jsonl", folder / "log.jsonl", folder.with_name(f"{folder.name}.jsonl")]
    rows = next((rows for rows in map(rows_of, logs) if rows), [])
    trained = bool(rows) and "iterations" in rows[0]
    if not rows and folder.is_dir() and not (folder / BOARDS).is_file():
        with suppress(RiverboatError, OSError):
            rows = _history(artifacts.manifest(files.newest(folder)))
    pid = jobs.process(name) or _owner(folder)
    memory = resident(pid)
    answer: dict[str, Any] = {"name": name, "memory": memory, "seconds_left": None, "units": {}, "snapshots": []}
    if trained:
        answer |= _training(rows, folder)
    else:
        answer |= _solving(rows, job)
    if not atomic_io.is_held(folder):
        answer["seconds_left"] = None
    if memory is not None and answer["rows"]:
        answer["rows"][-1]["memory"] = memory
    return answer


def _solving(rows: list[dict[str, Any]], job: Job | None) -> dict[str, Any]:
    told: list[dict[str, Any]] = [
        {"iteration": row.get("iteration"), "seconds": row.get("seconds"), "exploitability": row.get("exploitability")}
        | {"visits": row.get("nodes"), "value_low": row.get("value_low"), "value_high": row.get("value_high")}
        for row in rows
    ]
    unit = rows[-1].get("unit", PERCENT) if rows else PERCENT
    left = None
    if job is not None and job.state in ALIVE and told:
        until = job.options.get("until")
        wanted = TARGET if until is None else target(str(until), unit)
        checks = [(row["iteration"], row["exploitability"]) for row in told if row["exploitability"] is not None]
        end, last = expected(checks, wanted), told[-1]
        if end is not None and last["seconds"]:
            left = max(0.0, (end - last["iteration"]) * last["seconds"] / max(last["iteration"], 1))
    return {"rows": told, "units": {"exploitability": unit, "visits": "nodes"}, "seconds_left": left}


def _training(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Trainings tell the information sets that they have visited, and how strong they were against the snapshot before."""
    told, unit = [], ""
    for row in rows:
        strength = row.get("strength") or {}
        unit = strength.get("unit", unit)
        told.append({
            "iteration": row.get("iterations"), "seconds": row.get("seconds"), "visits": row.get("touched"),
            "exploitability": strength.get("exploitability"), "strength": strength.get("against_snapshot"),
            "half_width": strength.get("ci95"), "regret": row.get("regret"), "rate": row.get("rate"),
        })  # fmt: skip
    snapshots = sorted(path.name for path in (folder / SNAPSHOTS).glob("[0-9]*"))
    units = {
        "exploitability": unit or "mbb/g",
        "strength": unit or "mbb/g",
        "visits": "information sets",
        "regret": "chips",
    }
    return {"rows": told, "units": units, "seconds_left": rows[-1].get("left"), "snapshots": snapshots}


def _owner(folder: Path) -> int | None:
    """The process of this machine that writes to a folder."""
    with suppress(OSError, ValueError):
        owner = _OWNER.match((folder / atomic_io.LOCK).read_text(encoding="utf-8"))
        if owner and owner[2] == socket.gethostname() and atomic_io.is_held(folder):
            return int(owner[1])
    return None


def resident(pid: int | None) -> int | None:
    """Bytes that a process holds, in whole MiB, where the system tells."""
    held = None if pid is None else resident_memory(pid)
    return None if held is None else held >> 20 << 20


def boards_of(folder: Path) -> tuple[list[dict[str, Any]], str]:
    """The boards of a run that are solved so far, and the line that they are reported at."""
    rows = rows_of(folder / BOARDS)
    line = rows[0].get("node", {}).get("line", "") if rows else ""
    return rows, str(line)


def read_result(file: Path) -> dict[str, Any] | None:
    """What a command has printed as JSON, if it is whole."""
    with suppress(OSError, ValueError):
        printed = json.loads(file.read_text(encoding="utf-8"))
        return printed if isinstance(printed, dict) else None
    return None
