"""Jobs of `riverboat serve`: the server or the job's process is killed; a resumed job ends with the same result."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.web.test_web_jobs import SPOT, Serving

from chaos.harness import Found, whole
from processes import Processes
from riverboat.core import artifacts
from riverboat.core import files as core_files
from riverboat.strategies import files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

JOB = {"spot": SPOT, "iterations": 150, "checkpoint": "0.02s", "threads": 1}
TRIALS = 6


def tables(folder: Path) -> dict[str, bytes]:
    """Read the tables of a job."""
    _, arrays = artifacts.read(files.latest_artifact(folder))
    return {name: values.tobytes() for name, values in arrays.items()}


def worker(job: str) -> int | None:
    """Find the process of a job by its command line."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"riverboat.web.jobs.process" in arguments and job.encode() in arguments:
            return int(place.name)
    return None


def ended(job: Any) -> bool:
    return job["state"] not in ("queued", "running")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("whom", ["server", "job"])
def test_killed_job_resumes(whom: str, processes: Processes, tmp_path: Path, judge: Callable[[Found], None]) -> None:
    draws, result, data = random.Random(5), Found(), tmp_path / "data"
    data.mkdir()
    server = Serving(processes, data)
    started = time.monotonic()
    name = server.client.post("/api/jobs", json=JOB | {"name": "whole"}).json()["name"]
    assert server.wait(name, ended)["state"] == "done"
    seconds, expected = time.monotonic() - started, tables(data / name)
    for trial in range(TRIALS):
        name = server.client.post("/api/jobs", json=JOB | {"name": f"job-{trial}"}).json()["name"]
        result.trials += 1
        for _ in range(draws.randint(1, 3)):
            time.sleep(draws.uniform(0.0, seconds))
            which = draws.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            process = server.process.pid if whom == "server" else worker(str(data / name))
            if process is None:  # it has not started, or is done
                continue
            os.kill(process, which)
            result.killed[which.name] += 1
            if whom == "server":
                server.client.close()
                server.process.wait(60)
                end = time.monotonic() + 60
                while core_files.is_locked(data / name) and time.monotonic() < end:
                    time.sleep(0.02)  # the job notices that its server is gone, and saves
                server = Serving(processes, data)
            else:
                server.wait(name, ended)
            whole(data)
            if server.job(name)["state"] != "done":
                assert server.client.post(f"/api/jobs/{name}/resume", json={}).status_code == 200
        done = server.wait(name, ended)
        if done["state"] == "done" and tables(data / name) == expected:
            result.equal += 1
        else:
            result.wrong.append(f"trial {trial}: {done['state']}: {done.get('message')}")
    server.stop()
    judge(result)
