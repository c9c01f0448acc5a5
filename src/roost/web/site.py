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

from roost.errors import ApiError, ErrorBody, Problem, forbidden, not_found
from roost.web.connections import Networks, origin
from roost.web.docs import DOCUMENT_PATHS, Documents, documentation
from roost.web.rates import RateLimiter
from roost.web.registry import Rate

SITE_RATE = Rate(600, 60)
"""Requests of one address for what is not the API: health, documentation, logins, OAuth."""
CONSOLE_RATE = Rate(3000, 60)
"""The same for the console, whose pages load files and are read again as things happen. What they
ask of the API is counted for their user, too."""
_LAB, _CONSOLE = "/lab/", "/console/"

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
    documents: Documents,
    metrics: CollectorRegistry,
    health: HealthCheck,
    monitors: Networks,
    more: Sequence[BaseRoute],
) -> Starlette:
    """The Starlette application of everything that is not below `/v4`, beside the OpenAPI
    document, which `documents` make when they are first asked for."""
    return Starlette(
        routes=[
            *_monitoring(metrics, health, monitors),
            *documentation(documents),
            *more,
        ],
        exception_handlers=REFUSALS,
    )


def build_monitoring(
    metrics: CollectorRegistry, health: HealthCheck, monitors: Networks
) -> Starlette:
    """The Starlette application of a process that has no API: `/healthz` and `/metrics` alone."""
    return Starlette(routes=_monitoring(metrics, health, monitors), exception_handlers=REFUSALS)


def _monitoring(
    metrics: CollectorRegistry, health: HealthCheck, monitors: Networks
) -> list[BaseRoute]:
    async def show_health(request: Request) -> Response:
        row = await health()
        shown = row if _is_direct(request, monitors) else {"status": row["status"]}
        return JSONResponse(shown, status_code=503 if row["status"] == "broken" else 200)

    async def show_metrics(request: Request) -> Response:
        if not _is_direct(request, monitors):
            raise forbidden()
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    return [Route("/healthz", show_health), Route("/metrics", show_metrics)]


def _is_direct(request: Request, networks: Networks) -> bool:
    """Whether the caller is there, and comes through no proxy: one on this host would make
    everybody local."""
    headers, client = request.headers, request.client
    if client is None or "x-forwarded-for" in headers or "forwarded" in headers:
        return False
    return client.host in networks


async def refuse(request: Request, error: Exception) -> Response:
    """Any refusal outside the API in the API's own form."""
    headers = error.headers if isinstance(error, HTTPException) else None
    if isinstance(error, HTTPException):
        error = _worded(request, error.status_code)
    if not isinstance(error, ApiError):
        error = ApiError(500, [Problem("An error occurred")])
    return _answer(error, headers)


def _answer(error: ApiError, headers: Mapping[str, str] | None) -> Response:
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

    def __init__(self, api: ASGIApp, site: ASGIApp, limiter: RateLimiter) -> None:
        self._api = api
        self._site = site
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        below = path.startswith(("/v4/", "/v4beta/")) or path in ("/v4", "/v4beta")
        if below and path not in DOCUMENT_PATHS:
            await self._api(scope, receive, send)
        elif (wait := self._wait(scope, path)) is not None:
            error = ApiError(429, [Problem("Too many requests")])
            await _answer(error, {"Retry-After": str(wait)})(scope, receive, send)
        else:
            await self._site(scope, receive, send)

    def _wait(self, scope: Scope, path: str) -> int | None:
        """Seconds that a caller has to wait; None when there is no need. The lab is its
        operator's alone."""
        if path.startswith(_LAB):
            return None
        client = scope.get("client")
        caller = origin(client[0]) if client else ""
        is_page = path.startswith(_CONSOLE)
        kind = ("console", CONSOLE_RATE) if is_page else ("site", SITE_RATE)
        window, in_time = self._limiter.take(caller, *kind)
        return None if in_time else window.wait
