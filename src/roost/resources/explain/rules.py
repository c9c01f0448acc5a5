"""Grants in words."""

from urllib.parse import unquote

from roost.web.grants import AccountAccess, Anyone, Global, Grant, Listed, Read, Unrestricted, Write
from roost.web.routing import Params

_PREFIXES = ("/v4beta/", "/v4/")


def describe(grant: Grant, params: Params) -> str | None:
    """What a restricted user needs, such as `read_write on compute 100001`."""
    match grant:
        case Read():
            return f"read_only on {grant.kind} {params[grant.parameter]}"
        case Write():
            return f"read_write on {grant.kind} {params[grant.parameter]}"
        case Global(name):
            return f"the global grant {name}"
        case AccountAccess(level):
            return f"account_access {level}"
        case Unrestricted():
            return "to be an unrestricted user"
        case Anyone() | Listed():
            return None


def relative_path(path: str) -> str:
    """The path below `/v4`, as the API would see it."""
    path = "/" + unquote(path.partition("?")[0].rstrip("/")).lstrip("/")
    prefix = next((p for p in _PREFIXES if path.startswith(p)), "/")
    return path[len(prefix) - 1 :]
