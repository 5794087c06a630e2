"""Routes for jobs and runs: submit, list, stop, resume and delete jobs; watch runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from riverboat.api.estimate import estimate
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.web import models, runs, spot_sources
from riverboat.web.jobs.queue import ACTIVE_STATES, SolveJob, check_boards, check_options
from riverboat.web.log_files import MAX_TAIL_BYTES, last_line, read_result, read_rows
from riverboat.web.server import Server
from riverboat.web.solutions import encode_json
from riverboat.web.work_queue import BusyError

POLL_SECONDS = 0.25  # seconds between two checks for changes
PING_SECONDS = 15.0  # seconds without an event after which a stream sends a keep-alive comment
MAX_STREAMS = 64
DEFAULT_CHECKPOINT = "15s"


def make_job(request: models.JobRequest, server: Server) -> tuple[str, SolveJob]:
    """Return the text of a request's spot file, and a validated job with its estimated memory; starts nothing."""
    resolved = spot_sources.resolve_spot(request, server.data, server.solutions)
    spot, threads = resolved.spot, request.threads or server.cores
    if request.boards is None and (request.report is not None or request.keep):
        raise InputError("report and keep need boards")
    options = request.model_dump(include=set(models.SolveOptionsRequest.model_fields), exclude_none=True)
    options |= {"threads": threads, "checkpoint": request.checkpoint or DEFAULT_CHECKPOINT}
    boards = None if request.boards is None else check_boards(request.boards, server.data)
    if boards is not None:
        options |= {"boards": boards, "line": request.report or None, "keep": request.keep or None}
    kind = "spot" if boards is None else "boards"
    options = check_options(options, kind, server.data, spot.scale[0])
    sizes = {"solves": 1} | estimate(spot, schedule=request.schedule, threads=threads, boards=boards)
    num_bytes = sizes["bytes"][request.dtype or "compact"] + sizes["bytes_tree"]
    name = request.name or server.data.free_name(spot.name)
    if "/" in name or (request.name and server.data.path(name).exists()):
        raise InputError(f"name {name!r}: must be a single unused name in the data folder")
    server.data.path(name)
    facts = {"game": spot.name, "board": format_cards(spot.board), "pot": spot.pot, "stack": spot.stack}
    facts |= {"seconds": sizes["seconds_to_target"], "infosets": sizes["infosets"], "solves": sizes["solves"]}
    return spot_file.dumps(spot), SolveJob(name, kind, options, int(num_bytes), facts=facts)


def job_response(job: SolveJob, server: Server) -> models.JobResponse:
    """Return a job with its command line, last check and result."""
    notes = server.data.job_folder(job.name)
    rows = read_rows(notes / "log.jsonl", MAX_TAIL_BYTES) if job.kind == "spot" else []
    last = rows[-1] if rows else None
    said = last_line(notes / "said.txt") if job.state in ACTIVE_STATES else ""
    command = ["riverboat", *server.jobs.command_line(job)]
    memory = runs.resident_bytes(server.jobs.process_id(job.name))
    result, evs = read_result(notes / "result.json"), _player_evs(last, job)
    fields = {"command": command, "said": said, "last": last, "ev": evs, "resident": memory, "result": result}
    return models.JobResponse.model_validate(vars(job) | fields)


def _player_evs(last: dict[str, Any] | None, job: SolveJob) -> list[float | None]:
    """Return the EVs of oop and ip at the last check, in chips; None if unknown.

    The EV of ip is the pot minus that of oop, if the game is constant-sum. With rake it is unknown.
    """
    if last is None or last.get("value") is None:
        return [None, None]
    pot = float(job.facts["pot"])
    oop = last["value"] / 100 * pot
    return [oop, None if last.get("value_low") is None else pot - oop]


def job_routes(server: Server) -> APIRouter:
    """Return the routes for jobs."""
    router = APIRouter(tags=["jobs"])
    streams = 0

    @router.post("/jobs", status_code=201)
    async def submit(job_request: models.JobRequest) -> models.JobResponse:
        """Queue a solve; its run will be a folder of the data folder with the job's name."""
        text, job = await server.compute_from(job_request.agent, lambda: make_job(job_request, server))
        return job_response(server.jobs.submit(text, job), server)

    def all_jobs() -> list[models.JobResponse]:
        return [job_response(job, server) for job in server.jobs.list_jobs()]

    @router.get("/jobs")
    async def jobs() -> list[models.JobResponse]:
        """Return all jobs, the newest first."""
        return all_jobs()

    @router.get("/jobs/{name}")
    async def job(name: str) -> models.JobResponse:
        """Return one job."""
        return job_response(server.jobs.get(name), server)

    @router.post("/jobs/{name}/stop")
    async def stop(name: str) -> models.JobResponse:
        """Remove a queued job from the queue, or interrupt a running one, which then writes a checkpoint and ends."""
        return job_response(server.jobs.stop(name), server)

    @router.post("/jobs/{name}/resume")
    async def resume(name: str, limits: models.SolveLimitsRequest) -> models.JobResponse:
        """Continue a job from its last checkpoint, also after a restart of the server.

        If limits are given, they replace all old ones.
        """
        return job_response(server.jobs.resume(name, limits.model_dump(exclude_none=True)), server)

    @router.delete("/jobs/{name}", status_code=204)
    async def remove(name: str) -> None:
        """Delete a job and its run."""
        server.jobs.remove(name)

    def stream(request: Request, read: Callable[[], Any], is_over: Callable[[Any], bool]) -> StreamingResponse:
        nonlocal streams
        if streams >= MAX_STREAMS:
            raise BusyError(f"{MAX_STREAMS} event streams are already open")
        streams += 1

        async def events() -> AsyncIterator[bytes]:
            nonlocal streams
            try:
                before, silent = b"", 0.0
                while not (server.closing.is_set() or await request.is_disconnected()):
                    value = read()
                    body = encode_json(value)
                    silent += POLL_SECONDS
                    if body != before or silent >= PING_SECONDS:
                        yield b"data: " + body + b"\n\n" if body != before else b": alive\n\n"
                        before, silent = body, 0.0
                    if is_over(value):
                        return
                    await asyncio.sleep(POLL_SECONDS)
            finally:
                streams -= 1

        return StreamingResponse(events(), media_type="text/event-stream")

    @router.get("/jobs/{name}/events", response_class=StreamingResponse)
    async def job_events(name: str, request: Request) -> StreamingResponse:
        """Stream the job as server-sent events whenever it changes, until it ends."""
        server.jobs.get(name)
        return stream(
            request, lambda: job_response(server.jobs.get(name), server), lambda job: job.state not in ACTIVE_STATES
        )

    @router.get("/events", response_class=StreamingResponse)
    async def all_events(request: Request) -> StreamingResponse:
        """Stream all jobs as server-sent events whenever one changes."""
        return stream(request, all_jobs, lambda jobs: False)

    return router


# --- Runs, started by this server or in a terminal ---

MAX_RUNS_PER_RESPONSE = 50  # runs in one response


def run_routes(server: Server) -> APIRouter:
    """Return the routes for runs."""
    router = APIRouter(tags=["runs"])

    @router.get("/runs")
    async def listing() -> list[models.RunResponse]:
        """Return all runs of the data folder, the last changed first."""
        return await server.compute(lambda: runs.list_runs(server.data, server.jobs))

    @router.get("/series")
    async def series(run: Annotated[str, Query(max_length=200)]) -> models.SeriesResponse:
        """Return the log of a run as a time series, with units and the estimated remaining time.

        Rows have iteration, seconds, exploitability and visits; those of training also strength and regret.
        """
        return await server.compute(lambda: runs.run_series(run, server.data, server.jobs))

    @router.get("/series/many")
    async def many(run: Annotated[list[str], Query(max_length=MAX_RUNS_PER_RESPONSE)]) -> list[models.SeriesResponse]:
        """Return the logs of several runs, for one plot."""
        if len(run) > MAX_RUNS_PER_RESPONSE:
            raise InputError(f"{len(run)} runs: at most {MAX_RUNS_PER_RESPONSE} per request")
        return await server.compute(lambda: [runs.run_series(name, server.data, server.jobs) for name in run])

    return router
