"""Jobs of `riverboat serve`: real servers and processes on loopback, killed and restarted."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browsing import PATIENCE
from processes import Processes
from riverboat.core import files as core_files
from riverboat.strategies import files
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import DONE, FAILED, QUEUED, RUNNING, STOPPED, JobQueue, SolveJob

RIVER = (
    'board = "Td9d6hQc2s"\npot = 200\nstack = 900\nname = "river"\n'
    '[ranges]\noop = "66+,AK"\nip = "QQ-22,AQ"\n[bets]\nriver = { bet = "60%, a" }\n'
)
SPOT = {
    "name": "turn", "board": "Td9d6hQc", "pot": 200, "stack": 900, "ranges": {"oop": "66+,AK", "ip": "QQ-22,AQ"},
    "bets": {"turn": {"bet": "60%, a", "raise": "60%"}},
}  # fmt: skip


class Serving:
    """A server in its own process, and a client with its token."""

    def __init__(self, processes: Processes, data: Path) -> None:
        command = "serve", "--port", "0", "--no-open", "--data", data
        self.process = processes.riverboat(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        found = re.search(r"(http://\S+)/\?token=(\S+)", self.process.stdout.readline())
        assert found is not None
        self.base, self.headers = found[1], {"authorization": f"Bearer {found[2]}"}
        self.client = httpx.Client(base_url=self.base, headers=self.headers, timeout=PATIENCE)

    def job(self, name: str) -> Any:
        return self.client.get(f"/api/jobs/{name}").json()

    def wait(self, name: str, until: Callable[[Any], bool], seconds: float = PATIENCE) -> Any:
        end = time.monotonic() + seconds
        while not until(job := self.job(name)):
            assert time.monotonic() < end, job
            time.sleep(0.05)
        return job

    def stop(self, *, kill: bool = False) -> None:
        self.client.close()
        if kill or sys.platform == "win32":  # Windows cannot send Ctrl-C to a single process
            self.process.kill()
        else:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def serve(processes: Processes, tmp_path: Path) -> Iterator[Callable[[], Serving]]:
    """A function that starts servers on the test's folder; all are stopped at the end."""
    started: list[Serving] = []

    def start() -> Serving:
        started.append(Serving(processes, tmp_path))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()


def wait(until: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- Queue without a server ---


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobQueue]:
    made = JobQueue(DataFolder(tmp_path), max_running=1, memory=1 << 30)
    yield made
    made.close()


def job(name: str, **options: Any) -> SolveJob:
    return SolveJob(name, "spot", {"threads": 1, "time": "60s"} | options, 1 << 20, facts={"pot": 200})


def test_job_stops_with_a_checkpoint_and_is_reloaded(jobs: JobQueue, tmp_path: Path) -> None:
    first, second = (jobs.submit(RIVER, job(name)) for name in ("first", "second"))
    assert (first.state, second.state) == (RUNNING, QUEUED)
    assert jobs.stop("second").state == STOPPED  # never started
    wait(lambda: (tmp_path / ".jobs/first/log.jsonl").exists())
    jobs.stop("first")
    wait(lambda: jobs.get("first").state == STOPPED)
    assert files.load(tmp_path / "first")[""].ev(0).size == 1326
    again = JobQueue(DataFolder(tmp_path), max_running=1, memory=1 << 30)
    assert {one.name: one.state for one in again.list_jobs()} == {"first": STOPPED, "second": STOPPED}


@pytest.mark.slow
def test_jobs_are_queued_and_resumed_with_other_limits(jobs: JobQueue, tmp_path: Path) -> None:
    jobs.submit(RIVER, job("first"))
    jobs.submit(RIVER, job("second"))
    wait(lambda: (tmp_path / ".jobs/first/log.jsonl").exists())
    jobs.stop("first")
    wait(lambda: jobs.get("second").state == RUNNING)  # its turn
    jobs.resume("first", {"iterations": 5000})
    assert jobs.get("first").state == QUEUED
    wait(lambda: (tmp_path / ".jobs/second/log.jsonl").exists())
    jobs.stop("second")
    wait(lambda: jobs.get("first").state == DONE)
    assert "time" not in jobs.get("first").options  # new limits replace the old ones
    assert json.loads((tmp_path / ".jobs/first/result.json").read_text())["iterations"] >= 5000


def test_failed_and_too_large_jobs(jobs: JobQueue) -> None:
    jobs.submit(RIVER.replace("60%", "sixty"), job("wrong"))
    wait(lambda: jobs.get("wrong").state == FAILED)
    assert "sixty" in jobs.get("wrong").message
    with pytest.raises(ValueError, match=r"large.* 2"):
        jobs.submit(RIVER, SolveJob("large", "spot", {}, 2 << 30))
    jobs.remove("wrong")
    assert jobs.list_jobs() == []


# --- Server ---


@pytest.mark.slow
def test_killed_server_resumes_after_a_restart(serve: Callable[[], Serving], tmp_path: Path) -> None:
    server = serve()
    told = server.client.post("/api/jobs", json={"spot": SPOT, "time": "100s", "checkpoint": "1s", "threads": 1}).json()
    name = told["name"]
    checked = server.wait(name, lambda job: job["last"] is not None and job["last"]["iteration"] > 20)
    assert checked["ev"][0] + checked["ev"][1] == pytest.approx(200)
    server.stop(kill=True)
    wait(lambda: not core_files.is_locked(tmp_path / name))  # the command was interrupted as by Ctrl-C, and saved
    saved = int(files.latest_artifact(tmp_path / name).name.removeprefix(files.CHECKPOINT_PREFIX))
    assert saved >= checked["last"]["iteration"]

    again = serve()
    job = again.job(name)
    assert (job["state"], job["options"]["time"]) == ("stopped", "100s")
    assert [run["name"] for run in again.client.get("/api/runs").json()] == [name]
    assert again.client.post(f"/api/jobs/{name}/resume", json={"until": "0.3%"}).status_code == 200
    done = again.wait(name, lambda job: job["state"] not in ("queued", "running"))
    assert done["state"] == "done"
    assert done["result"]["iterations"] > saved
    assert done["result"]["exploitability_pct"] <= 0.3
    iterations = [row["iteration"] for row in again.client.get("/api/series", params={"run": name}).json()["rows"]]
    assert iterations == sorted(iterations)
    told = subprocess.run(
        [sys.executable, "-m", "riverboat.cli.main", "show", str(tmp_path / name), "--json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(told.stdout)["board"] == "Td9d6hQc"


@pytest.mark.slow
def test_thousand_concurrent_requests(serve: Callable[[], Serving]) -> None:
    server = serve()
    server.client.get("/api/about").raise_for_status()

    async def ask() -> list[int]:
        limits = httpx.Limits(max_connections=1000, max_keepalive_connections=1000)
        async with httpx.AsyncClient(
            base_url=server.base, headers=server.headers, limits=limits, timeout=PATIENCE
        ) as client:
            size = [client.post("/api/spots/size", json={"spot": SPOT}) for _ in range(300)]
            other = [client.get("/api/about") for _ in range(350)] + [client.get("/api/runs") for _ in range(350)]
            return [answer.status_code for answer in await asyncio.gather(*size, *other)]

    codes = asyncio.run(ask())
    assert len(codes) == 1000
    assert set(codes) <= {200, 503}
    assert codes.count(200) >= 450  # cheap requests, and as many as may be queued
    assert server.client.get("/api/about").status_code == 200


@pytest.mark.slow
def test_many_boards_and_locks_end_to_end(serve: Callable[[], Serving], tmp_path: Path) -> None:
    (tmp_path / "boards.txt").write_text("Td9d6hQc\nAsKd2h2c 2\n")
    server = serve()
    asked = {
        "spot": SPOT,
        "until": "2%",
        "threads": 1,
        "boards": "boards.txt",
        "report": "x",
        "name": "many",
        "keep": True,
    }
    assert server.client.post("/api/jobs", json=asked).status_code == 201
    assert server.wait("many", lambda job: job["state"] not in ("queued", "running"))["state"] == "done"
    table = server.client.get("/api/aggregate", params={"run": "many"}).json()
    assert [row[0] for row in table["rows"]] == ["Td9d6hQc", "AsKd2h2c", "all"]
    other = server.client.get("/api/aggregate", params={"run": "many", "line": "x-b120"}).json()
    assert [column["name"] for column in other["columns"]][2:5] == ["played", "f", "c"]
    assert server.client.get("/api/aggregate", params={"run": "many", "line": "x"}).json() == table
    plain = {"spot": SPOT, "until": "1%", "threads": 1, "name": "plain"}
    lock = {"line": "", "strategy": {"x": 1.0}}
    for body in (plain, plain | {"name": "locked", "locks": [lock]}):
        server.client.post("/api/jobs", json=body).raise_for_status()
        server.wait(body["name"], lambda job: job["state"] == "done")
    moves = server.client.get("/api/node", params={"run": "locked"}).json()["moves"]
    assert [move["frequency"] for move in moves] == [1.0, 0.0, 0.0]
    told = server.client.get("/api/compare", params={"run": "plain", "other": "locked"}).json()
    assert told["moves"]["rows"][0][3] > 0  # more checks
    runouts = server.client.get("/api/runouts", params={"run": "locked", "line": "x-x"}).json()
    assert len(runouts["rows"]) == 48
