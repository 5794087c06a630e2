"""The HTTP API, `/api/…`: all routes in one application, with errors as one-line JSON."""

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
from riverboat.web.models import ErrorResponse
from riverboat.web.routes.evenings import evening_routes
from riverboat.web.routes.jobs import job_routes, run_routes
from riverboat.web.routes.nodes import node_routes
from riverboat.web.routes.play import StaleStateError, history_routes, play_routes
from riverboat.web.routes.practice import chart_routes, drill_routes
from riverboat.web.routes.spots import spot_routes
from riverboat.web.server import Server
from riverboat.web.specs import CostlyError
from riverboat.web.work_queue import BusyError

ROUTERS = (
    spot_routes, job_routes, node_routes, run_routes, play_routes, history_routes, evening_routes, drill_routes,
    chart_routes,
)  # fmt: skip
STATUS_CODES: tuple[tuple[type[Exception], int], ...] = (
    (MissingError, 404), (CostlyError, 405), (StaleStateError, 409), (BusyError, 503), (CancelledError, 503),
    (MemoryLimitError, 507), (DiskError, 507), (RiverboatError, 400),
)  # fmt: skip


def create_application(server: Server) -> FastAPI:
    """Create the FastAPI application with all routes.

    Its documentation pages are left out: they would load files from other hosts.
    """
    error_models: dict[int | str, dict[str, Any]] = {code: {"model": ErrorResponse} for code in (400, 404, 503)}
    app = FastAPI(
        title="Riverboat", version=__version__, openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,
        responses=error_models,
    )  # fmt: skip
    for make_router in ROUTERS:
        app.include_router(make_router(server), prefix="/api")

    @app.exception_handler(RiverboatError)
    async def riverboat_error(request: Request, error: RiverboatError) -> JSONResponse:
        status = next(code for kind, code in STATUS_CODES if isinstance(error, kind))
        body: dict[str, Any] = {"error": str(error)}
        headers: dict[str, str] = {}
        if isinstance(error, StaleStateError):
            body["state"] = error.state
        elif isinstance(error, CostlyError):
            body["costly"], headers["allow"] = True, "POST"
        elif isinstance(error, BusyError):
            headers["retry-after"] = str(error.retry)
        return JSONResponse(body, status, headers)

    @app.exception_handler(Exception)
    async def internal_error(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"{type(error).__name__}: {error} (a bug in Riverboat)"[:500]}, 500)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))
        return JSONResponse({"error": f"{where or 'body'}: {first['msg']}"[:500]}, 422)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": f"{request.method} {request.url.path[:100]}: {error.detail}"}, error.status_code)

    return app
