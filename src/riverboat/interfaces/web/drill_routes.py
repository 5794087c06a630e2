"""Routes for drills: questions, grades, and the record."""

from __future__ import annotations

import time as clock
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from riverboat.interfaces.web.models import Asked, Line, Word
from riverboat.interfaces.web.play_routes import MoveAsked, Seed
from riverboat.interfaces.web.practice_desk import Desk
from riverboat.interfaces.web.server import Server
from riverboat.practice.drills import ONLY, SCOPES, Drill, DrillOptions


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

        return await server.compute(work)

    @router.get("/record")
    async def record(source: Annotated[str | None, Query(max_length=200)] = None) -> dict[str, Any]:
        """Where EV was lost so far, and over time."""
        return await server.compute(lambda: desk.record.to_dict(source))

    @router.get("/{name}")
    async def question(name: str) -> dict[str, Any]:
        """The question on the table, or the next one."""
        return await server.compute(lambda: _question(desk, name))

    @router.post("/{name}/answer")
    async def answer(name: str, asked: MoveAsked) -> dict[str, Any]:
        """Grade an answer. Nothing is worked out: the answer was known when the question was asked."""
        held = desk.drilled(name)
        drill: Drill = held.thing
        with held.lock:
            grade = drill.answer(asked.move, clock.strftime("%Y-%m-%d"))
            return grade.to_dict() | {"answers": len(drill.grades), "total": drill.lost}

    return router


def _question(desk: Desk, name: str) -> dict[str, Any]:
    held = desk.drilled(name)
    drill: Drill = held.thing
    with held.lock, desk.judging:
        question = drill.ask()
        percent = [grade.percent for grade in drill.grades]
        mean = sum(percent) / len(percent) if percent else None
        told = {"name": name, "source": held.agent, "answers": len(percent), "total": drill.lost, "percent": mean}
        return {**told, "question": question.to_dict()}
