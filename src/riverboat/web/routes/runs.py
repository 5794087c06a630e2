"""Routes that watch runs, of this server or of a terminal."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from riverboat.core.errors import InputError
from riverboat.web.models import RunTold, Series
from riverboat.web.runs import runs
from riverboat.web.server import Server

MOST = 50  # runs in one answer


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router = APIRouter(tags=["runs"])

    @router.get("/runs")
    async def listing() -> list[RunTold]:
        """All runs of the data folder, the one that changed last first."""
        return [RunTold(**run) for run in await server.compute(lambda: runs.listing(server.data, server.jobs))]

    def series_of(name: str) -> dict[str, Any]:
        if server.jobs.find(name) is None:
            server.data.run(name)  # refused where there is none
        return runs.series(name, server.data, server.jobs)

    @router.get("/series")
    async def series(run: Annotated[str, Query(max_length=200)]) -> Series:
        """A run's log as rows: iteration, seconds, exploitability, visits, strength, memory; and the time left."""
        return Series(**await server.compute(lambda: series_of(run)))

    @router.get("/series/many")
    async def many(run: Annotated[list[str], Query(max_length=MOST)]) -> list[Series]:
        """The same of several runs, for one picture."""
        if len(run) > MOST:
            raise InputError(f"{len(run)} runs: {MOST} at most in one answer")
        return [Series(**one) for one in await server.compute(lambda: [series_of(name) for name in run])]

    return router
