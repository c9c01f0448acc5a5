"""What the API offers: why a request is refused (Roost's own; docs/explain.md)."""

from urllib.parse import unquote

from roost.errors import ApiError, invalid
from roost.resources.explain.records import ExplanationRow
from roost.web.call import Call
from roost.web.grants import describe, require
from roost.web.narrowing import refusal
from roost.web.registry import Endpoint, Registry, endpoint
from roost.web.routing import Match, Params

_QUERY = {
    "method": "The method of the request; GET when omitted",
    "path": "The path of the request, such as /v4/compute/instances/100001",
}


@endpoint("GET", "/profile/explain", query=_QUERY, returns=ExplanationRow)
async def explain_request(call: Call) -> ExplanationRow:
    """Tell which scope or grant a request lacks, without performing it.

    Takes any token. Scopes, the grant, what closes an operation to a type of users and the
    restriction of a narrowed token are all told at once.
    """
    query = call.query or {}
    method, path = query.get("method", "GET").upper(), query.get("path")
    if path is None:
        raise invalid("path is required", "path")
    wanted, params = _find(call.get(Registry), method, path)
    identity = call.identity
    needed = () if wanted.public else wanted.scopes
    missing = [scope for scope in needed if not identity.scopes.allow((scope,))]
    lacking = None if await _may(call, wanted, params) else describe(wanted.grant, params)
    closed = wanted.closed_to(identity)
    restriction = await refusal(wanted, call, params, call.client)
    return {
        "method": method,
        "path": path,
        "operation": wanted.name,
        "allowed": not missing and {lacking, closed, restriction} == {None},
        "missing_scopes": missing,
        "missing_grant": lacking,
        "closed_to": closed,
        "restricted_by": restriction,
    }


def _find(registry: Registry, method: str, path: str) -> tuple[Endpoint, Params]:
    match: Match[Endpoint] | None = registry.router.find(relative_path(path))
    if match is None:
        raise invalid("No operation has this path", "path")
    if method not in match.methods:
        known = ", ".join(sorted(match.methods))
        raise invalid(f"Must be one of {known}", "method")
    return match.methods[method], match.params


async def _may(call: Call, wanted: Endpoint, params: Params) -> bool:
    try:
        await require(wanted.grant, call.identity, params, call.db)
    except ApiError:
        return False
    return True


_PREFIXES = ("/v4beta/", "/v4/")


def relative_path(path: str) -> str:
    """The path below `/v4`, as the API would see it."""
    path = "/" + unquote(path.partition("?")[0].rstrip("/")).lstrip("/")
    prefix = next((p for p in _PREFIXES if path.startswith(p)), "/")
    return path[len(prefix) - 1 :]
