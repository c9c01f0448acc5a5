"""What the server offers beside the API: health, metrics and the documentation."""

from collections.abc import Awaitable, Callable, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import TypedDict

from roost.errors import ErrorBody, not_found
from roost.web.docs import DOCS_POLICY, render_docs
from roost.web.registry import Registry


class HealthRow(TypedDict):
    """`status` is ok when the store answers and no region's engine is broken."""

    status: str
    store: str
    workers: int
    engines: dict[str, str]


HealthCheck = Callable[[], Awaitable[HealthRow]]


def build_site(
    registry: Registry,
    document: bytes,
    metrics: CollectorRegistry,
    health: HealthCheck,
    more: Sequence[BaseRoute],
) -> Starlette:
    """The Starlette application of everything that is not below `/v4`."""
    page = render_docs(registry)

    async def show_health(request: Request) -> Response:
        row = await health()
        return JSONResponse(row, status_code=200 if row["status"] == "ok" else 503)

    async def show_metrics(request: Request) -> Response:
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    async def show_document(request: Request) -> Response:
        headers = {"Access-Control-Allow-Origin": "*"}
        return Response(document, media_type="application/json", headers=headers)

    async def show_docs(request: Request) -> Response:
        return HTMLResponse(page, headers={"Content-Security-Policy": DOCS_POLICY})

    async def refuse(request: Request, error: Exception) -> Response:
        body: ErrorBody = {"errors": [p.item() for p in not_found().problems]}
        return JSONResponse(body, status_code=404)

    return Starlette(
        routes=[
            Route("/healthz", show_health),
            Route("/metrics", show_metrics),
            Route("/v4/openapi.json", show_document),
            Route("/docs", show_docs),
            *more,
        ],
        exception_handlers={404: refuse},
    )


class Server:
    """The whole ASGI application: the API below `/v4`, the site for the rest."""

    def __init__(self, api: ASGIApp, site: ASGIApp) -> None:
        self._api = api
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        below = path.startswith(("/v4/", "/v4beta/")) or path in ("/v4", "/v4beta")
        is_api = scope["type"] == "http" and below and path != "/v4/openapi.json"
        await (self._api if is_api else self._site)(scope, receive, send)
