"""Jobs of `riverboat serve`: the server is killed, the job's process is killed; resumed, a job ends with the same result."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.test_web_jobs import SPOT, Serving

from chaos.harness import Found, whole
from processes import Processes
from riverboat.core import artifacts, atomic_io
from riverboat.strategies import files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

JOB = {"spot": SPOT, "iterations": 150, "checkpoint": "0.02s", "threads": 1}
TRIALS = 6


def tables(folder: Path) -> dict[str, bytes]:
    """Read what a job has left."""
    _, arrays = artifacts.read(files.newest(folder))
    return {name: values.tobytes() for name, values in arrays.items()}


def worker(job: str) -> int | None:
    """Find the process of a job by its command line."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"riverboat.web.jobs.process" in words and job.encode() in words:
            return int(place.name)
    return None


def ended(job: Any) -> bool:
    return job["state"] not in ("queued", "running")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("whom", ["server", "job"])
def test_a_job_survives(whom: str, processes: Processes, tmp_path: Path, judge: Callable[[Found], None]) -> None:
    draws, found, data = random.Random(5), Found(), tmp_path / "data"
    data.mkdir()
    server = Serving(processes, data)
    began = time.monotonic()
    name = server.client.post("/api/jobs", json=JOB | {"name": "whole"}).json()["name"]
    assert server.wait(name, ended)["state"] == "done"
    seconds, expected = time.monotonic() - began, tables(data / name)
    for trial in range(TRIALS):
        name = server.client.post("/api/jobs", json=JOB | {"name": f"job-{trial}"}).json()["name"]
        found.trials += 1
        for _ in range(draws.randint(1, 3)):
            time.sleep(draws.uniform(0.0, seconds))
            which = draws.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            process = server.process.pid if whom == "server" else worker(str(data / name))
            if process is None:  # it has not begun, or is done
                continue
            os.kill(process, which)
            found.killed[which.name] += 1
            if whom == "server":
                server.client.close()
                server.process.wait(60)
                end = time.monotonic() + 60
                while atomic_io.is_held(data / name) and time.monotonic() < end:
                    time.sleep(0.02)  # the job hears that its server is gone, and saves
                server = Serving(processes, data)
            else:
                server.wait(name, ended)
            whole(data)
            if server.job(name)["state"] != "done":
                assert server.client.post(f"/api/jobs/{name}/resume", json={}).status_code == 200
        done = server.wait(name, ended)
        if done["state"] == "done" and tables(data / name) == expected:
            found.equal += 1
        else:
            found.wrong.append(f"trial {trial}: {done['state']}: {done.get('message')}")
    server.stop()
    judge(found)
