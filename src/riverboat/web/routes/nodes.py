"""Routes for solutions, blueprints and agents: nodes, tables, runouts, comparisons, exports, many boards."""

from __future__ import annotations

import io
import json
import time as clock
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from riverboat.api import boards as many_boards
from riverboat.api.artifacts import BOARDS_FILE
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportTable
from riverboat.strategies.reports import comparison as comparison_report
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report
from riverboat.strategies.reports.comparison import compare_nodes
from riverboat.web import models
from riverboat.web.data_folder import MissingError
from riverboat.web.log_files import read_rows
from riverboat.web.server import Server
from riverboat.web.solutions import json_response
from riverboat.web.specs import require_cheap
from riverboat.web.views.node import round_or_none

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution

RunQuery = Annotated[
    str, Query(max_length=200, description="a run of the data folder; for nodes also an agent, demo?purify")
]
LineQuery = Annotated[
    str, Query(max_length=500, description="actions and cards that lead to the node, b94-c/8h; empty for the root")
]
PlayerQuery = Annotated[Literal["oop", "ip"] | None, Query(description="by default the player to act")]
MAX_EXPORT_NODES = 20_000  # nodes of an export with `depth`
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "range": "text/plain; charset=utf-8"}


def table_response(table: ReportTable) -> models.TableResponse:
    """Convert a report table to a response: its title, its columns and the rows of rounded cells."""
    columns = [{"name": c.name, "title": c.title or c.name, "kind": c.kind} for c in table.columns]
    rows = [[cell if isinstance(cell, str) else round_or_none(cell, 6) for cell in row] for row in table.rows]
    return models.TableResponse.model_validate({"title": table.title, "columns": columns, "rows": rows})


def export_text(solution: Solution, line: str, kind: str, player: str | None, depth: int | None) -> str:
    """Return a node as CSV or JSON, with `depth` all nodes over that many streets; or a range as text."""
    if kind == "range":
        return node_report.range_text(solution[line], player) + "\n"
    out = io.StringIO()
    nodes = () if depth is None else node_export.iterate_nodes(solution, line, depth)
    if next(islice(nodes, MAX_EXPORT_NODES, None), None) is not None:
        raise InputError(
            f"depth {depth}: more than {MAX_EXPORT_NODES:,} nodes; use riverboat export to write them to a file"
        )
    node_export.write_nodes(solution, out, line, depth, as_json=kind == "json")
    return out.getvalue()


def node_routes(server: Server) -> APIRouter:
    """Return the routes for nodes of solutions, blueprints and agents."""
    router, solutions = APIRouter(tags=["solutions"]), server.solutions

    async def answer(run: str, *key: Any, make: Callable[[Solution], Any]) -> Response:
        cached = solutions.get_cached(run, *key)
        if cached is None:
            cached = await server.compute(lambda: solutions.get_or_compute(run, *key, compute=make))
        return json_response(cached)

    async def read_node(run: str, line: str, board: str, *, costly: bool) -> Response:
        start = clock.perf_counter()
        cached = solutions.get_cached(run, "node", line, board)
        if cached is None:
            if not costly:
                require_cheap(server.data, run)
            cached = await server.compute_from(run, lambda: solutions.node(run, line, board))
        if server.last_node != (run, line):
            server.precompute_next_nodes(run, line)
        return json_response(cached, **{"server-timing": f"read;dur={1e3 * (clock.perf_counter() - start):.3f}"})

    @router.get("/node", response_model=models.NodeResponse)
    async def node(run: RunQuery, line: LineQuery = "", board: Annotated[str, Query(max_length=30)] = "") -> Response:
        """Return a node: the player to act, its actions, and the hands of both players.

        Each hand has its weight, strategy, EV and equity.
        """
        return await read_node(run, line, board, costly=False)

    @router.post("/node", response_model=models.NodeResponse)
    async def searched(body: models.NodeRequest) -> Response:
        """Return a node of an agent that searches, `default?search=turn`: its subgame is solved first."""
        return await read_node(body.run, body.line, body.board, costly=True)

    @router.get("/table", response_model=models.TableResponse)
    async def table(
        run: RunQuery,
        line: LineQuery = "",
        by: Literal["combos", "classes", "made", "draws", "groups", "equity"] = "groups",
        player: PlayerQuery = None,
    ) -> Response:
        """Return a table of the hands of one player at a node, as `riverboat show --table` prints it.

        Rows are combos, classes, made hands, draws, groups of hands, or ranges of equity.
        """

        def make(solved: Solution) -> models.TableResponse:
            return table_response(node_report.hands_table(solved[line], by, player))

        return await answer(run, "table", line, by, player, make=make)

    @router.get("/graph", response_model=models.EquityGraphs)
    async def graph(run: RunQuery, line: LineQuery = "") -> Response:
        """Return the equity graphs of both players: points (share of the range with less equity, equity)."""

        def make(solved: Solution) -> dict[str, Any]:
            names = node_report.player_names(solved.tree.game)
            graphs = {name: node_report.equity_graph(solved[line], player) for player, name in enumerate(names)}
            return {name: [[round_or_none(x, 4) for x in point] for point in graph] for name, graph in graphs.items()}

        return await answer(run, "graph", line, make=make)

    @router.get("/runouts", response_model=models.TableResponse)
    async def runouts(run: RunQuery, line: LineQuery = "") -> Response:
        """Return a table over the next cards, as `riverboat show --runouts` prints it.

        `*` in the line stands for every card.
        """

        def make(solved: Solution) -> models.TableResponse:
            if comparison_report.has_wildcard(line):
                return table_response(comparison_report.line_runouts(solved, line))
            return table_response(comparison_report.node_runouts(solved[line]))

        return await answer(run, "runouts", line, make=make)

    @router.get("/compare")
    async def compare(run: RunQuery, other: RunQuery, line: LineQuery = "") -> dict[str, models.TableResponse]:
        """Compare two solutions at one line: actions, EVs, and the cells with the largest changes of strategy."""

        def work() -> dict[str, models.TableResponse]:
            first, lock = solutions.solution(run)
            second, other_lock = solutions.solution(other)
            inner, outer = sorted((lock, other_lock), key=id)  # always in the same order, which prevents deadlocks
            with outer, inner:
                comparison = compare_nodes(first[line], second[line])
            return {name: table_response(getattr(comparison, name)) for name in ("moves", "sides", "cells")}

        return await server.compute(work)

    @router.get("/export", response_class=Response)
    async def export(
        run: RunQuery,
        line: LineQuery = "",
        format: Literal["csv", "json", "range"] = "csv",
        player: PlayerQuery = None,
        depth: Annotated[int | None, Query(ge=1, le=3)] = None,
    ) -> Response:
        """Export a node as a file, as `riverboat export` does; or a range as text.

        With `depth`, all nodes over that many streets.
        """

        def work() -> str:
            solution, lock = solutions.solution(run)
            with lock:
                return export_text(solution, line, format, player, depth)

        name = "".join(c if c.isalnum() else "-" for c in f"{run}-{line or 'root'}")[:80]
        suffix = "txt" if format == "range" else format
        headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"'}
        return Response(await server.compute(work), media_type=MEDIA_TYPES[format], headers=headers)

    @router.get("/aggregate")
    async def aggregate(
        run: RunQuery, line: Annotated[str | None, Query(max_length=500)] = None
    ) -> models.TableResponse:
        """Return a spot on many boards: a row per solved board, and means; at any line if solutions were saved."""

        def work() -> models.TableResponse:
            rows = read_rows(server.data.run_folder(run) / BOARDS_FILE)
            if not rows:
                raise InputError(f"run {run!r}: no board is solved yet")
            reported = str(rows[0].get("node", {}).get("line", ""))
            report_line = reported if line is None else line
            if report_line != reported:
                rows = [row | {"node": at_line(run, str(row["board"]), report_line)} for row in rows]
            game = str(rows[0].get("game", "")).rpartition(" ")[0]
            return table_response(many_boards.aggregate_table(rows, game, report_line))

        return await server.compute(work)

    def at_line(run: str, board: str, line: str) -> Any:
        """Return EVs, equities and frequencies of one board at a line, from its saved solution."""
        try:
            figures = partial(many_boards.node_figures, line=line)
            return json.loads(solutions.get_or_compute(f"{run}/runs/{board}", "line", line, compute=figures))
        except MissingError:
            reason = f"line {line!r}: the solution of {board} was not saved; solve with keep, or report that line"
            raise InputError(reason) from None

    return router
