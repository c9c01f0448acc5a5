"""The documentation: the OpenAPI document, and a page that shows it to people.

The page is Scalar's, which comes with Roost; nothing of it is loaded from elsewhere, as its policy
proves. All is made and compressed when it is first asked for.
"""

from collections.abc import Callable, Mapping
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from roost.errors import invalid
from roost.web.static_files import StaticFile, library

DOCUMENT_PATHS = ("/v4/openapi.json", "/v4beta/openapi.json")
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
REVISION = "revision"
_JSON = "application/json"
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


Documents = Mapping[str, Callable[[], bytes]]
"""What makes the OpenAPI document of each revision, the newest last."""


def documentation(documents: Documents) -> list[Route]:
    """The document below `/v4`, the page at `/docs` and what it is made of below that."""
    made = {date: StaticFile(make, _JSON, _PUBLIC) for date, make in documents.items()}
    newest = list(made)[-1]

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(b"{}", media_type=_JSON, headers=_PREFLIGHT)
        wanted = made.get(request.query_params.get(REVISION, newest))
        if wanted is None:
            raise invalid(f"Must be one of {', '.join(made)}", REVISION)
        return await wanted.get(request)

    return [
        *(Route(path, answer, methods=["GET", "OPTIONS"]) for path in DOCUMENT_PATHS),
        Route("/docs", StaticFile(_page, _HTML, _HEADERS).get),
        Route("/docs/docs.js", StaticFile((_STATIC / "docs.js").read_bytes, _SCRIPT, _HEADERS).get),
        Route("/docs/scalar.js", StaticFile(_VIEWER.read_bytes, _SCRIPT, _HEADERS).get),
    ]


def _page() -> bytes:
    name = "docs.html" if _VIEWER.is_file() else "docs-missing.html"
    return (_STATIC / name).read_bytes()
