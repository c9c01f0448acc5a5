"""What the server offers beside the API: health, metrics and the documentation."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, ExceptionHandler, Receive, Scope, Send
from typing_extensions import TypedDict

from roost.errors import ApiError, ErrorBody, Problem, not_found
from roost.web.docs import DOCUMENT_PATHS, documentation
from roost.web.registry import Registry

Status = Literal["ok", "degraded", "broken"]


class HealthRow(TypedDict):
    """`broken` is a server that cannot answer; `problems` say what is degraded."""

    status: Status
    problems: list[str]
    store: str
    workers: int
    engines: dict[str, dict[str, str]]


HealthCheck = Callable[[], Awaitable[HealthRow]]


def build_site(
    registry: Registry,
    metrics: CollectorRegistry,
    health: HealthCheck,
    more: Sequence[BaseRoute],
) -> Starlette:
    """The Starlette application of everything that is not below `/v4`."""

    async def show_health(request: Request) -> Response:
        row = await health()
        return JSONResponse(row, status_code=503 if row["status"] == "broken" else 200)

    async def show_metrics(request: Request) -> Response:
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            Route("/healthz", show_health),
            Route("/metrics", show_metrics),
            *documentation(registry),
            *more,
        ],
        exception_handlers=REFUSALS,
    )


async def refuse(request: Request, error: Exception) -> Response:
    """Any refusal outside the API in the API's own form."""
    headers = error.headers if isinstance(error, HTTPException) else None
    if isinstance(error, HTTPException):
        error = _worded(request, error.status_code)
    if not isinstance(error, ApiError):
        error = ApiError(500, [Problem("An error occurred")])
    body: ErrorBody = {"errors": [problem.item() for problem in error.problems]}
    return JSONResponse(body, status_code=error.status, headers=headers)


def _worded(request: Request, status: int) -> ApiError:
    if status == 404:
        return not_found()
    return ApiError(status, [Problem(f"Method Not Allowed: {request.method}")])


REFUSALS: Mapping[type[Exception], ExceptionHandler] = {
    ApiError: refuse,
    HTTPException: refuse,
    Exception: refuse,
}
"""The handlers of every Starlette application of ours."""


class Server:
    """The whole ASGI application: the API below `/v4`, the site for the rest."""

    def __init__(self, api: ASGIApp, site: ASGIApp) -> None:
        self._api = api
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        below = path.startswith(("/v4/", "/v4beta/")) or path in ("/v4", "/v4beta")
        is_api = scope["type"] == "http" and below and path not in DOCUMENT_PATHS
        await (self._api if is_api else self._site)(scope, receive, send)
