"""Routes that read solutions, blueprints and agents: nodes, tables, runouts, comparisons, exports, many boards."""

from __future__ import annotations

import io
import json
import time as clock
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from riverboat.cli.solve import many_boards
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportTable
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report
from riverboat.strategies.reports import runouts as card_report
from riverboat.strategies.reports.comparison import compare_nodes
from riverboat.strategies.solution import Solution
from riverboat.web import models
from riverboat.web.data_folder import MissingError
from riverboat.web.models import Node, Table
from riverboat.web.request_costs import require_cheap
from riverboat.web.runs import runs
from riverboat.web.runs.solutions import to_bytes
from riverboat.web.server import Server
from riverboat.web.views.node import number

Run = Annotated[str, Query(max_length=200, description="a run of the data folder; of nodes also an agent, demo?purify")]
Line = Annotated[
    str, Query(max_length=500, description="the moves and cards that lead to the node, b94-c/8h; empty: the root")
]
Player = Annotated[Literal["oop", "ip"] | None, Query(description="who acts by default")]
MOST_NODES = 20_000  # of an export over streets
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "range": "text/plain; charset=utf-8"}


class NodeAsked(models.Asked):
    """A node of a run or an agent."""

    run: models.Word
    line: models.Line = ""
    board: models.Word = ""


def as_json(body: bytes) -> Response:
    """Bytes that are JSON already."""
    return Response(body, media_type="application/json")


def table_dict(table: ReportTable) -> dict[str, Any]:
    """A table with its columns, as the page draws it."""
    columns = [{"name": c.name, "title": c.title or c.name, "kind": c.kind} for c in table.columns]
    rows = [[cell if isinstance(cell, str) else number(cell, 6) for cell in row] for row in table.rows]
    return {"title": table.title, "columns": columns, "rows": rows}


def exported(solution: Solution, line: str, kind: str, player: str | None, depth: int | None) -> str:
    """A node as other tools take it."""
    if kind == "range":
        return node_report.range_text(solution[line], player) + "\n"
    out = io.StringIO()
    if (
        depth is not None
        and sum(1 for _, _ in zip(node_export.nodes(solution, line, depth), range(MOST_NODES + 1), strict=False))
        > MOST_NODES
    ):
        raise InputError(f"depth {depth}: more than {MOST_NODES:,} nodes; riverboat export writes them to a file")
    node_export.write(solution, out, line, depth, as_json=kind == "json")
    return out.getvalue()


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router, shelf = APIRouter(tags=["solutions"]), server.shelf

    async def answer(run: str, *key: Any, make: Callable[[Solution], Any]) -> Response:
        known = shelf.kept(run, *key)
        if known is None:
            known = await server.compute(lambda: shelf.read(run, *key, make=make))
        return as_json(known)

    @router.get("/node", response_model=Node)
    async def node(run: Run, line: Line = "", board: Annotated[str, Query(max_length=30)] = "") -> Response:
        """A node: who acts, moves, and for both players every hand with weight, strategy, EV and equity."""
        begun = clock.perf_counter()
        known = shelf.kept(run, "node", line, board)
        if known is None:
            require_cheap(server.data, run)
            known = await server.compute(lambda: shelf.node(run, line, board))
        if server.last != (run, line):
            server.look_ahead(run, line)
        took = 1e3 * (clock.perf_counter() - begun)
        return Response(known, media_type="application/json", headers={"server-timing": f"read;dur={took:.3f}"})

    @router.post("/node", response_model=Node)
    async def searched(asked: NodeAsked) -> Response:
        """The same of an agent that searches, `default?search=turn`: what it plays there is solved first."""
        run, line, board = asked.run, asked.line, asked.board
        known = shelf.kept(run, "node", line, board)
        if known is None:
            known = await server.compute_from(run, lambda: shelf.node(run, line, board))
        return as_json(known)

    @router.get("/table", response_model=Table)
    async def table(
        run: Run,
        line: Line = "",
        by: Literal["combos", "classes", "made", "draws", "groups", "equity"] = "groups",
        player: Player = None,
    ) -> Response:
        """A table of a node, as `riverboat show --table` prints it: by combo, class, made hand, draw or equity bucket."""
        return await answer(
            run, "table", line, by, player, make=lambda one: table_dict(node_report.table(one[line], by, player))
        )

    @router.get("/graph")
    async def graph(run: Run, line: Line = "") -> Response:
        """The equity graphs of both: points (share of the range that has less, equity)."""
        return await answer(run, "graph", line, make=lambda one: _graphs(one, line))

    @router.get("/runouts", response_model=Table)
    async def runouts(run: Run, line: Line = "") -> Response:
        """What each card does, as `riverboat show --runouts` prints it; with `*` in the line all cards that it stands for."""

        def make(one: Solution) -> dict[str, Any]:
            many = card_report.stands_for_many(line)
            return table_dict(card_report.over(one, line) if many else card_report.runouts(one[line]))

        return await answer(run, "runouts", line, make=make)

    @router.get("/compare")
    async def compare(run: Run, other: Run, line: Line = "") -> Response:
        """Two solutions at one line: moves of both, EVs, and the cells by how much of the strategy moved."""

        def work() -> bytes:
            first, lock = shelf.solution(run)
            second, other_lock = shelf.solution(other)
            inner, outer = sorted((lock, other_lock), key=id)  # in one order: two comparisons never wait for each other
            with outer, inner:
                comparison = compare_nodes(first[line], second[line])
            return to_bytes(
                {
                    "moves": table_dict(comparison.moves),
                    "sides": table_dict(comparison.sides),
                    "cells": table_dict(comparison.cells),
                }
            )

        return as_json(await server.compute(work))

    @router.get("/export")
    async def export(
        run: Run,
        line: Line = "",
        format: Literal["csv", "json", "range"] = "csv",
        player: Player = None,
        depth: Annotated[int | None, Query(ge=1, le=3)] = None,
    ) -> Response:
        """A node, or with `depth` all nodes of so many streets, as `riverboat export` writes it; or a range as text."""

        def work() -> str:
            solution, lock = shelf.solution(run)
            with lock:
                return exported(solution, line, format, player, depth)

        name = "".join(c if c.isalnum() else "-" for c in f"{run}-{line or 'root'}")[:80]
        suffix = "txt" if format == "range" else format
        headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"'}
        return Response(await server.compute(work), media_type=TYPES[format], headers=headers)

    @router.get("/aggregate", response_model=Table)
    async def aggregate(run: Run, line: Annotated[str | None, Query(max_length=500)] = None) -> Response:
        """One spot on many boards: a row for each that is solved, and their means; at any line where solutions were kept."""

        def work() -> bytes:
            rows, reported = runs.boards_of(server.data.run(run))
            if not rows:
                raise InputError(f"run {run!r}: no board is solved there yet")
            at = reported if line is None else line
            if at != reported:
                rows = [row | {"node": at_line(run, str(row["board"]), at)} for row in rows]
            game = str(rows[0].get("game", "")).rpartition(" ")[0]
            return to_bytes(table_dict(many_boards.aggregate(rows, game, at)))

        return as_json(await server.compute(work))

    def at_line(run: str, board: str, line: str) -> Any:
        """Figures of one board at a line, from its solution."""
        try:
            kept = f"{run}/runs/{board}"
            return json.loads(shelf.read(kept, "line", line, make=lambda one: many_boards.at_line(one, line)))
        except MissingError:
            why = f"line {line!r}: the solution of {board} was not kept; solve with keep, or report that line"
            raise InputError(why) from None

    return router


def _graphs(solution: Solution, line: str) -> dict[str, Any]:
    node = solution[line]
    names = node_report.names(node.tree.game)
    return {
        name: [[number(x, 4), number(y, 4)] for x, y in node_report.equity_graph(node, who)]
        for who, name in enumerate(names)
    }
