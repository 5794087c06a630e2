"""Routes for charts: books, one chart, comparisons, pictures.

GET reads charts of what is solved; POST solves a push or fold table first. Solved tables stay in memory for GETs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from riverboat.practice.charts import MOST, difference, save_sheet
from riverboat.web import models
from riverboat.web.request_costs import require_cheap
from riverboat.web.server import Server

Source = Annotated[str, Query(max_length=200, description="an agent, a run, or push:10,10,15?payouts=50,30,20")]
Line = Annotated[str, Query(max_length=300)]
Lines = Annotated[list[Annotated[str, Query(max_length=300)]] | None, Query(max_length=MOST)]
KINDS = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
LISTED = ("line", "who", "title", "reached", "moves", "totals", "colours")  # of each chart of a book


class BookAsked(models.Asked):
    """The charts of a source; of a solved spot those around a line."""

    source: models.Word
    line: models.Line = ""


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router, desk = APIRouter(tags=["charts"], prefix="/charts"), server.desk

    def book_of(source: str, line: str) -> dict[str, Any]:
        book = desk.book(source, line)
        charts = [{key: value for key, value in chart.to_dict().items() if key in LISTED} for chart in book.charts]
        return {"source": source, "charts": charts, "state": book.state or None, "states": list(book.states)}

    @router.get("")
    async def book(source: Source, root: Line = "") -> dict[str, Any]:
        """All decisions of a source, without their cells; of a solved spot those on the way to `root`, and behind it. Of a
        tournament those of one state, and the names of all: `small?state=5,5,5`."""
        require_cheap(desk.data, source)
        return await server.compute(lambda: book_of(source, root))

    @router.post("")
    async def solve(asked: BookAsked) -> dict[str, Any]:
        """The same, and solve what is not solved yet: a push or fold table, which takes minutes on a machine that has solved
        none before. A client that leaves ends it."""
        return await server.compute_costly(lambda: book_of(asked.source, asked.line))

    @router.get("/chart")
    async def chart(source: Source, line: Line = "", root: Line = "") -> dict[str, Any]:
        """One chart with the 169 cells."""
        require_cheap(desk.data, source)
        return await server.compute(lambda: {"source": source, **desk.book(source, root or line)[line].to_dict()})

    @router.get("/difference")
    async def compared(source: Source, against: Source, line: Line = "") -> dict[str, Any]:
        """The second source's chart at a line less the first's."""
        require_cheap(desk.data, source, against)
        return await server.compute(lambda: difference(desk.book(source, line)[line], desk.book(against, line)[line]))

    @router.get("/picture", response_class=Response)
    async def picture(
        source: Source, line: Lines = None, root: Line = "", kind: Literal["png", "svg", "pdf"] = "png"
    ) -> Response:
        """Charts side by side in one picture; the first six where no lines are named."""
        require_cheap(desk.data, source)

        def work() -> bytes:
            charts = desk.book(source, root)
            chosen = [charts[one] for one in line] if line else list(charts.charts[:6])
            with tempfile.TemporaryDirectory() as folder:
                return save_sheet(chosen, Path(folder) / f"charts.{kind}").read_bytes()

        body = await server.compute(work)
        return Response(
            body, media_type=KINDS[kind], headers={"content-disposition": f'inline; filename="charts.{kind}"'}
        )

    return router
