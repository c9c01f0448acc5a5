"""Files for browsers: styles and scripts of the console."""

import hashlib
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_STATIC = files("roost.console") / "static"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_NAMES = frozenset({"console.css", "console.js"})


def route(path: str) -> Route:
    return Route(path + "/{name}", _serve, methods=["GET"])


@cache
def _content(name: str) -> tuple[bytes, str]:
    content = (_STATIC / name).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _NAMES:
        return Response(status_code=404)
    content, etag = _content(name)
    headers = {"ETag": etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)
