"""Files for browsers: styles and scripts of the console, and of the libraries that it has."""

from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.routing import Route

from roost.web.static_files import StaticFile, library

_STATIC = files("roost.console") / "static"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_OURS = (
    "charts.js",
    "console.css",
    "console.js",
    "live.js",
    "look.js",
    "objects.js",
    "terminal.js",
    "uploads.js",
)
_LIBRARIES = ("xterm.css", "xterm.js", "addon-fit.js", "uplot.css", "uplot.js")


def routes(path: str) -> list[Route]:
    ours = {name: _STATIC / name for name in _OURS}
    known = {**ours, **{name: library(name) for name in _LIBRARIES}}
    return [Route(f"{path}/{name}", _served(name, file).get) for name, file in known.items()]


def _served(name: str, file: Traversable) -> StaticFile:
    media_type = _TYPES[name.rpartition(".")[2]]
    return StaticFile(file.read_bytes, media_type, {"X-Content-Type-Options": "nosniff"})
