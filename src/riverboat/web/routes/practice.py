"""Routes for charts and drills.

GET returns charts of solved sources; POST solves a push/fold table first. Solved tables stay in memory for later GETs.
"""

from __future__ import annotations

import tempfile
import time as clock
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from riverboat.practice.charts import MAX_GRIDS, compare_charts, save_sheet
from riverboat.practice.drills import FILTERS, SCOPES, DrillOptions
from riverboat.web import models
from riverboat.web.practice import OpenDrill
from riverboat.web.server import Server
from riverboat.web.solutions import hold_solution_lock
from riverboat.web.specs import is_cheap, require_cheap

SourceQuery = Annotated[str, Query(max_length=200, description="an agent, a run, or push:10,10,15?payouts=50,30,20")]
LineQuery = Annotated[str, Query(max_length=300)]
LinesQuery = Annotated[list[Annotated[str, Query(max_length=300)]] | None, Query(max_length=MAX_GRIDS)]
MEDIA_TYPES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}


def chart_routes(server: Server) -> APIRouter:
    """Return the routes for charts."""
    router, practice = APIRouter(tags=["charts"], prefix="/charts"), server.practice

    def book_of(source: str, line: str) -> dict[str, Any]:
        book = practice.chart_book(source, line)
        charts = [chart.to_dict() for chart in book.charts]  # the response has no cells
        return {"source": source, "charts": charts, "state": book.state or None, "states": list(book.states)}

    @router.get("", response_model=models.ChartBookResponse)
    async def book(source: SourceQuery, root: LineQuery = "") -> dict[str, Any]:
        """Return the charts of all decisions of a source, without their cells.

        For a solved spot: the decisions on the path to `root` and after it. For a tournament: those of one state
        (`small?state=5,5,5`), and the names of all states.
        """
        require_cheap(practice.data, source)
        return await server.compute(lambda: book_of(source, root))

    @router.post("", response_model=models.ChartBookResponse)
    async def solve(book_request: models.ChartBookRequest) -> dict[str, Any]:
        """Return the charts, and solve a push/fold table if necessary, which takes minutes the first time on a machine.

        Disconnecting cancels it.
        """
        return await server.compute_costly(lambda: book_of(book_request.source, book_request.line))

    @router.get("/chart", response_model=models.ChartResponse)
    async def chart(source: SourceQuery, line: LineQuery = "", root: LineQuery = "") -> dict[str, Any]:
        """Return one chart with its 169 cells."""
        require_cheap(practice.data, source)

        def work() -> dict[str, Any]:
            return {"source": source, **practice.chart_book(source, root or line)[line].to_dict()}

        return await server.compute(work)

    @router.get("/difference", response_model=models.ChartDifference)
    async def compared(source: SourceQuery, against: SourceQuery, line: LineQuery = "") -> dict[str, Any]:
        """Return the difference of two charts at a line: the second source minus the first."""
        require_cheap(practice.data, source, against)

        def work() -> dict[str, Any]:
            return compare_charts(*(practice.chart_book(name, line)[line] for name in (source, against)))

        return await server.compute(work)

    @router.get("/picture", response_class=Response)
    async def picture(
        source: SourceQuery, line: LinesQuery = None, root: LineQuery = "", kind: Literal["png", "svg", "pdf"] = "png"
    ) -> Response:
        """Return charts side by side in one image; by default the first six."""
        require_cheap(practice.data, source)

        def work() -> bytes:
            charts = practice.chart_book(source, root)
            selected = [charts[each] for each in line] if line else list(charts.charts[:6])
            with tempfile.TemporaryDirectory() as folder:
                return save_sheet(selected, Path(folder) / f"charts.{kind}").read_bytes()

        headers = {"content-disposition": f'inline; filename="charts.{kind}"'}
        return Response(await server.compute(work), media_type=MEDIA_TYPES[kind], headers=headers)

    return router


# --- Drills: questions, grades, and the record ---


def drill_routes(server: Server) -> APIRouter:
    """Return the routes for drills."""
    router, practice = APIRouter(tags=["drills"], prefix="/drills"), server.practice

    @router.get("/kinds")
    async def kinds() -> dict[Literal["only", "scope"], dict[str, str]]:
        """Return the filters and scopes of drills with descriptions."""
        return {"only": FILTERS, "scope": SCOPES}

    @router.post("", status_code=201, response_model=models.DrillResponse)
    async def begin(body: models.DrillRequest) -> dict[str, Any]:
        """Begin a drill; return its name and first question."""
        options = DrillOptions(body.line, body.seat, body.only, body.scope, body.focus)
        if not is_cheap(body.source, practice.data):  # solve a push/fold table first, without blocking play
            await server.compute_costly(lambda: practice.drill_source(body.source))
        return await server.play(lambda: _next_question(practice.begin_drill(body.source, options, body.seed)))

    @router.get("/record", response_model=models.DrillRecordResponse)
    async def record(source: Annotated[str | None, Query(max_length=200)] = None) -> dict[str, Any]:
        """Return the record of all answers: EV lost in total, by line, board and hand, and over time."""
        return await server.compute(lambda: practice.record.snapshot().to_dict(source))

    @router.get("/{name}", response_model=models.DrillResponse)
    async def question(name: str) -> dict[str, Any]:
        """Return the current question; null if the last one is answered."""
        return _drill_to_dict(practice.find_drill(name))

    @router.post("/{name}/question", response_model=models.DrillResponse)
    async def next_question(name: str) -> dict[str, Any]:
        """Return the current question or the next one, which may have to be solved."""
        return await server.play(lambda: _next_question(practice.find_drill(name)))

    @router.post("/{name}/answer", response_model=models.GradeResponse)
    async def answer(name: str, body: models.MoveRequest) -> dict[str, Any]:
        """Grade an answer; the values are already known when the question is asked."""

        def work() -> dict[str, Any]:
            drill = practice.find_drill(name)
            with drill.lock:
                grade = drill.drill.answer(body.move, clock.strftime("%Y-%m-%d"))
                return grade.to_dict() | {"answers": len(drill.drill.grades), "total": drill.drill.ev_lost}

        return await server.play(work)

    return router


def _next_question(drill: OpenDrill) -> dict[str, Any]:
    with drill.lock, hold_solution_lock(getattr(drill.drill.source, "evaluator", None)):
        drill.drill.next_question()
    return _drill_to_dict(drill)


def _drill_to_dict(drill: OpenDrill) -> dict[str, Any]:
    grades, question = tuple(drill.drill.grades), drill.drill.question  # copies, because the drill may continue
    return {
        "name": drill.name,
        "source": drill.agent,
        "answers": len(grades),
        "total": sum(grade.ev_lost for grade in grades),
        "percent": sum(grade.percent for grade in grades) / len(grades) if grades else None,
        "question": None if question is None else question.to_dict(),
    }
