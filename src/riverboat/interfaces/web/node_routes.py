"""Routes that read solutions: nodes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from riverboat.interfaces.web.server import Server

Run = Annotated[str, Query(max_length=200, description="a run of the data folder")]
Line = Annotated[
    str, Query(max_length=500, description="the moves and cards that lead to the node, b94-c/8h; empty: the root")
]


def as_json(body: bytes) -> Response:
    """Bytes that are JSON already."""
    return Response(body, media_type="application/json")


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router = APIRouter(tags=["solutions"])

    @router.get("/node")
    async def node(run: Run, line: Line = "") -> Response:
        """A node: who acts, moves, and for both players every hand, cell and group with weights, strategy, EV and equity."""
        found = server.shelf.kept(run, "node", line)
        if found is None:
            found = await server.compute(lambda: server.shelf.node(run, line))
        return as_json(found)

    return router
