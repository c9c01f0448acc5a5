"""The documentation: the OpenAPI document, and a page that shows it to people.

The page is Scalar's, which comes with Roost; nothing of it is loaded from elsewhere, as its policy
proves. All is made and compressed when it is first asked for.
"""

from collections.abc import Callable
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from roost.web.static_files import StaticFile, library

DOCUMENT_PATHS = ("/v4/openapi.json", "/v4beta/openapi.json")
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": DOCS_POLICY, "X-Content-Type-Options": "nosniff"}
_PUBLIC = {"Access-Control-Allow-Origin": "*"}
_PREFLIGHT = {
    **_PUBLIC,
    "Allow": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*",
}
_HTML, _SCRIPT = "text/html; charset=utf-8", "text/javascript; charset=utf-8"
_STATIC = files("roost.web") / "static"
_VIEWER = library("scalar.js")


def documentation(make: Callable[[], bytes]) -> list[Route]:
    """The document below `/v4`, the page at `/docs` and what it is made of below that."""
    document = StaticFile(make, "application/json", _PUBLIC)

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(b"{}", media_type="application/json", headers=_PREFLIGHT)
        return await document.get(request)

    return [
        *(Route(path, answer, methods=["GET", "OPTIONS"]) for path in DOCUMENT_PATHS),
        Route("/docs", StaticFile(_page, _HTML, _HEADERS).get),
        Route("/docs/docs.js", StaticFile((_STATIC / "docs.js").read_bytes, _SCRIPT, _HEADERS).get),
        Route("/docs/scalar.js", StaticFile(_VIEWER.read_bytes, _SCRIPT, _HEADERS).get),
    ]


def _page() -> bytes:
    name = "docs.html" if _VIEWER.is_file() else "docs-missing.html"
    return (_STATIC / name).read_bytes()
