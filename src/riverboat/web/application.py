"""The interface for scripts, `/api/…`: routes of all parts under one roof, with errors as one line."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from riverboat import __version__
from riverboat.core.cancellation import CancelledError
from riverboat.core.errors import DiskError, MemoryLimitError, RiverboatError
from riverboat.web.data_folder import MissingError
from riverboat.web.models import Failed
from riverboat.web.request_costs import CostlyError
from riverboat.web.routes import charts, drills, histories, jobs, nodes, play, runs, spots
from riverboat.web.routes.play import StaleError
from riverboat.web.server import Server
from riverboat.web.work_queue import BusyError

PARTS = (spots, jobs, nodes, runs, play, histories, drills, charts)
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (MissingError, 404), (CostlyError, 405), (StaleError, 409), (BusyError, 503), (CancelledError, 503),
    (MemoryLimitError, 507), (DiskError, 507), (RiverboatError, 400),
)  # fmt: skip


def application(server: Server) -> FastAPI:
    """All routes. Pages with documentation are left out: they would load files from elsewhere."""
    refused: dict[int | str, dict[str, Any]] = {400: {"model": Failed}, 404: {"model": Failed}, 503: {"model": Failed}}
    app = FastAPI(
        title="Riverboat", version=__version__, openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,
        responses=refused,
    )  # fmt: skip
    for part in PARTS:
        app.include_router(part.routes(server), prefix="/api")

    @app.exception_handler(RiverboatError)
    async def told(request: Request, error: RiverboatError) -> JSONResponse:
        status = next(code for kind, code in STATUS if isinstance(error, kind))
        body: dict[str, Any] = {"error": str(error)}
        headers: dict[str, str] = {}
        if isinstance(error, StaleError):
            body["state"] = error.state
        elif isinstance(error, CostlyError):
            body["costly"], headers["allow"] = True, "POST"
        elif isinstance(error, BusyError):
            headers["retry-after"] = str(error.retry)
        return JSONResponse(body, status, headers)

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"{type(error).__name__}: {error} (a fault of Riverboat)"[:500]}, 500)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))
        return JSONResponse({"error": f"{where or 'body'}: {first['msg']}"[:500]}, 422)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        told = f"{request.method} {request.url.path[:100]}: {error.detail}"
        return JSONResponse({"error": told}, error.status_code)

    return app
