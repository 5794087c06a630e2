"""Routes for jobs: start, list, watch, stop, go on, delete."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from riverboat.cards.notation import show_cards
from riverboat.cli.solve import many_boards
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.web import spot_sources
from riverboat.web.jobs.options import check_boards, check_options
from riverboat.web.jobs.queue import ALIVE, LIMITS, Job
from riverboat.web.models import JobAsked, JobTold, Limits
from riverboat.web.runs import runs
from riverboat.web.runs.logs import last_row, tail
from riverboat.web.runs.solutions import to_bytes
from riverboat.web.server import Server
from riverboat.web.work_queue import BusyError

EVERY = 0.25  # seconds between two looks at what changes
PING = 15.0  # seconds of silence after which a stream says that it lives
MOST_STREAMS = 64
CHECKPOINT = "15s"


def job_of(asked: JobAsked, server: Server) -> tuple[str, Job]:
    """The text of the spot and the job; its size is counted before it is queued."""
    noted = spot_sources.find(asked, server.data, server.shelf)
    spot, threads = noted.spot, asked.threads or server.cores
    if asked.boards is None and (asked.report is not None or asked.keep):
        raise InputError("report and keep go with boards")
    options: dict[str, Any] = {name: getattr(asked, name) for name in LIMITS if getattr(asked, name) is not None}
    options |= {"threads": threads, "checkpoint": asked.checkpoint or CHECKPOINT}
    options |= {name: getattr(asked, name) for name in ("dtype", "schedule") if getattr(asked, name) is not None}
    where = None if asked.boards is None else check_boards(asked.boards, server.data)
    if where is not None:
        options |= {"boards": where}
        options |= {"line": asked.report} if asked.report else {}
        options |= {"keep": True} if asked.keep else {}
    kind = "spot" if where is None else "boards"
    options = check_options(options, kind, server.data, spot.scale[0])
    sizes = spot_sources.size(spot, asked.schedule, threads, where)
    need = sizes["bytes"][asked.dtype or "compact"] + sizes["bytes_tree"]
    name = asked.name or server.data.free_name(spot.name)
    if "/" in name or (asked.name and server.data.path(name).exists()):
        raise InputError(f"name {name!r}: one word, and nothing of that name in the data folder yet")
    server.data.path(name)
    facts = {"game": spot.name, "board": show_cards(spot.board), "pot": spot.pot, "stack": spot.stack}
    facts |= {"seconds": sizes["seconds_to_target"], "infosets": sizes["infosets"], "solves": sizes["solves"]}
    return spot_file.dumps(spot), Job(name, kind, options, int(need), facts=facts)


def told(job: Job, server: Server) -> dict[str, Any]:
    """A job as `JobTold`."""
    notes = server.data.notes(job.name)
    last = (
        last_row(notes / "log.jsonl") if job.kind == "spot" else last_row(server.data.path(job.name) / many_boards.DONE)
    )
    return {
        **job.__dict__,
        "command": ["riverboat", *server.jobs.words(job)],
        "said": tail(notes / "said.txt") if job.state in ALIVE else "",
        "last": last if job.kind == "spot" else None,
        "ev": _evs(last, job) if job.kind == "spot" else [None, None],
        "resident": runs.resident(server.jobs.process(job.name)),
        "result": runs.read_result(notes / "result.json"),
    }


def _evs(last: dict[str, Any] | None, job: Job) -> list[float | None]:
    """EVs of both at the last check, in chips; where a value is certified, which rake prevents, they sum to the pot."""
    if last is None or last.get("value") is None:
        return [None, None]
    pot = float(job.facts["pot"])
    oop = last["value"] / 100 * pot
    return [oop, None if last.get("value_low") is None else pot - oop]


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router = APIRouter(tags=["jobs"])
    streams = 0

    @router.post("/jobs", status_code=201)
    async def submit(asked: JobAsked) -> JobTold:
        """Queue a solve; the run will be a folder of the data folder with the job's name."""
        text, job = await server.compute_from(asked.agent, lambda: job_of(asked, server))
        return JobTold(**told(server.jobs.submit(text, job), server))

    @router.get("/jobs")
    async def jobs() -> list[JobTold]:
        """All jobs, the newest first."""
        return [JobTold(**told(job, server)) for job in server.jobs.all()]

    @router.get("/jobs/{name}")
    async def job(name: str) -> JobTold:
        """One job."""
        return JobTold(**told(server.jobs.get(name), server))

    @router.post("/jobs/{name}/stop")
    async def stop(name: str) -> JobTold:
        """Take it out of the queue, or let it write a checkpoint and end."""
        return JobTold(**told(server.jobs.stop(name), server))

    @router.post("/jobs/{name}/resume")
    async def resume(name: str, limits: Limits) -> JobTold:
        """Go on from the last checkpoint, also after a restart of the server; limits that are given replace the old ones."""
        given = {key: value for key, value in limits.model_dump().items() if value is not None}
        return JobTold(**told(server.jobs.resume(name, given), server))

    @router.delete("/jobs/{name}", status_code=204)
    async def remove(name: str) -> Response:
        """Delete a job and its run."""
        server.jobs.remove(name)
        return Response(status_code=204)

    def stream(request: Request, look: Callable[[], Any], over: Callable[[Any], bool]) -> StreamingResponse:
        nonlocal streams
        if streams >= MOST_STREAMS:
            raise BusyError(f"{MOST_STREAMS} streams are open already")
        streams += 1

        async def events() -> AsyncIterator[bytes]:
            nonlocal streams
            try:
                before, silent = b"", 0.0
                while not (server.closing.is_set() or await request.is_disconnected()):
                    value = look()
                    body = to_bytes(value)
                    silent += EVERY
                    if body != before:
                        yield b"data: " + body + b"\n\n"
                        before, silent = body, 0.0
                    elif silent >= PING:
                        yield b": alive\n\n"
                        silent = 0.0
                    if over(value):
                        return
                    await asyncio.sleep(EVERY)
            finally:
                streams -= 1

        return StreamingResponse(events(), media_type="text/event-stream")

    @router.get("/jobs/{name}/events", response_class=StreamingResponse)
    async def job_events(name: str, request: Request) -> StreamingResponse:
        """Server-sent events: the job whenever it changes, until it ends."""
        server.jobs.get(name)
        return stream(request, lambda: told(server.jobs.get(name), server), lambda job: job["state"] not in ALIVE)

    @router.get("/events", response_class=StreamingResponse)
    async def all_events(request: Request) -> StreamingResponse:
        """Server-sent events: all jobs whenever one changes."""
        return stream(request, lambda: [told(job, server) for job in server.jobs.all()], lambda jobs: False)

    return router
