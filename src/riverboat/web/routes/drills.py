"""Routes for drills: questions, grades, and the record."""

from __future__ import annotations

import time as clock
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from riverboat.practice.drills import ONLY, SCOPES, DrillOptions
from riverboat.web.models import Asked, Line, Word
from riverboat.web.practice.sessions import Desk, HeldDrill
from riverboat.web.request_costs import is_cheap
from riverboat.web.routes.play import MoveAsked, Seed
from riverboat.web.runs.locks import walking
from riverboat.web.server import Server


class DrillAsked(Asked):
    """What is drilled."""

    source: Word
    line: Line | None = None
    seat: str | None = Field(None, pattern="^(oop|ip)$")
    only: Literal["all", "close", "mixed"] = "all"
    scope: Literal["one", "street", "end"] = "one"
    focus: bool = True
    seed: Seed | None = None


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router, desk = APIRouter(tags=["drills"], prefix="/drills"), server.desk

    @router.get("/kinds")
    async def kinds() -> dict[str, Any]:
        """What may be asked for, in words."""
        return {"only": ONLY, "scope": SCOPES}

    @router.post("", status_code=201)
    async def begin(asked: DrillAsked) -> dict[str, Any]:
        """Begin a drill: its name and its first question."""
        options = DrillOptions(asked.line, asked.seat, asked.only, asked.scope, asked.focus)

        def work() -> dict[str, Any]:
            held = desk.drill(asked.source, options, asked.seed)
            return _question(desk, held.name)

        if not is_cheap(asked.source, desk.data):  # a push or fold table is solved first, and play goes on meanwhile
            await server.compute_costly(lambda: desk.source(asked.source))
        return await server.play(work)

    @router.get("/record")
    async def record(source: Annotated[str | None, Query(max_length=200)] = None) -> dict[str, Any]:
        """Where EV was lost so far, and over time."""
        return await server.compute(lambda: desk.record.snapshot().to_dict(source))

    @router.get("/{name}")
    async def question(name: str) -> dict[str, Any]:
        """The question on the table; null where the last one is answered."""
        return _told(desk.drilled(name))

    @router.post("/{name}/question")
    async def next_question(name: str) -> dict[str, Any]:
        """The question on the table, or the next one, which may have to be solved."""
        return await server.play(lambda: _question(desk, name))

    @router.post("/{name}/answer")
    async def answer(name: str, asked: MoveAsked) -> dict[str, Any]:
        """Grade an answer. Nothing is worked out: the answer was known when the question was asked."""

        def work() -> dict[str, Any]:
            held = desk.drilled(name)
            with held.lock:
                grade = held.drill.answer(asked.move, clock.strftime("%Y-%m-%d"))
                return grade.to_dict() | {"answers": len(held.drill.grades), "total": held.drill.lost}

        return await server.play(work)

    return router


def _question(desk: Desk, name: str) -> dict[str, Any]:
    held = desk.drilled(name)
    with held.lock, walking(getattr(held.drill.source, "judge", None)):
        held.drill.ask()
    return _told(held)


def _told(held: HeldDrill) -> dict[str, Any]:
    grades, question = tuple(held.drill.grades), held.drill.question  # values; the drill may go on
    percent = [grade.percent for grade in grades]
    return {
        "name": held.name,
        "source": held.agent,
        "answers": len(grades),
        "total": sum(grade.lost for grade in grades),
        "percent": sum(percent) / len(percent) if percent else None,
        "question": None if question is None else question.to_dict(),
    }
