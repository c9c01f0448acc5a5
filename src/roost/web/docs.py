"""The documentation: the OpenAPI document, and a page that shows it to people.

The page is Scalar's, shipped with Roost; nothing of it is loaded from elsewhere, as its policy
proves. All is made and compressed when it is first asked for.
"""

import asyncio
import gzip
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from roost.threads import COMPUTING

DOCUMENT_PATHS = ("/v4/openapi.json", "/v4beta/openapi.json")
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_STATIC = files("roost.web") / "static"
_TYPES = {
    "docs.html": "text/html; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
    "scalar.js": "text/javascript; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class _File:
    plain: bytes
    packed: bytes
    etag: str

    @classmethod
    def of(cls, content: bytes) -> "_File":
        etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        return cls(content, gzip.compress(content, 6), etag)


class _Lazy:
    """A file that is made once, off the event loop."""

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make = make
        self._making = asyncio.Lock()
        self._file: _File | None = None

    async def get(self) -> _File:
        async with self._making:
            if self._file is None:
                self._file = await COMPUTING.run(lambda: _File.of(self._make()))
            return self._file


def documentation(make: Callable[[], bytes]) -> list[Route]:
    """The document below `/v4`, the page at `/docs` and what it is made of below that."""
    answer = _serve(_Lazy(make), "application/json", {"Access-Control-Allow-Origin": "*"})
    static = {name: _Lazy((_STATIC / name).read_bytes) for name in _TYPES}
    policy = {"Content-Security-Policy": DOCS_POLICY, "X-Content-Type-Options": "nosniff"}
    pages = {name: _serve(static[name], media, policy) for name, media in _TYPES.items()}
    return [
        *(Route(path, answer, methods=["GET", "OPTIONS"]) for path in DOCUMENT_PATHS),
        Route("/docs", pages.pop("docs.html")),
        *(Route(f"/docs/{name}", page) for name, page in pages.items()),
    ]


def _serve(
    lazy: _Lazy, media_type: str, headers: Mapping[str, str]
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        if request.method == "OPTIONS":
            allowed = {"Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Headers": "*"}
            return Response(b"{}", media_type="application/json", headers={**headers, **allowed})
        file = await lazy.get()
        # The next release has other files under the same names: browsers ask whether they do.
        known = {
            **headers,
            "ETag": file.etag,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=known)
        if "gzip" in request.headers.get("accept-encoding", ""):
            packed = {**known, "Content-Encoding": "gzip"}
            return Response(file.packed, media_type=media_type, headers=packed)
        return Response(file.plain, media_type=media_type, headers=known)

    return serve
