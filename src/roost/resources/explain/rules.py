"""Paths of requests."""

from urllib.parse import unquote

_PREFIXES = ("/v4beta/", "/v4/")


def relative_path(path: str) -> str:
    """The path below `/v4`, as the API would see it."""
    path = "/" + unquote(path.partition("?")[0].rstrip("/")).lstrip("/")
    prefix = next((p for p in _PREFIXES if path.startswith(p)), "/")
    return path[len(prefix) - 1 :]
