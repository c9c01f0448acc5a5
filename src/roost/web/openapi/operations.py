"""One operation of the document: who may call it, what it is sent, what it answers."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from roost.web.grants import (
    AccountAccess,
    Anyone,
    Global,
    Grant,
    Listed,
    Read,
    Unrestricted,
    Write,
    describe,
)
from roost.web.openapi.answers import BYTES, Schemas, build_responses
from roost.web.openapi.docstrings import paragraphs
from roost.web.openapi.parameters import build_parameters
from roost.web.openapi.schemas import reference
from roost.web.registry import Endpoint

Json = Mapping[str, object]

FORM = "multipart/form-data"
_FORM: Json = {
    "schema": {
        "type": "object",
        "description": "A form with one file.",
        "properties": {
            "file": {
                "type": "string",
                "format": "binary",
                "description": "The file, with its name in the part's Content-Disposition.",
            }
        },
        "required": ["file"],
    },
    "example": {"file": "screenshot.png"},
    "encoding": {"file": {"contentType": "application/octet-stream"}},
}


def build_operation(endpoint: Endpoint, schemas: Schemas) -> Json:
    operation: dict[str, object] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": "\n\n".join(_description(endpoint)),
        "tags": [endpoint.area],
        "parameters": build_parameters(endpoint),
        "responses": build_responses(endpoint, schemas),
        "security": _security(endpoint),
        "x-scopes": list(endpoint.scopes),
        "x-rate-limit": {"calls": endpoint.rate.calls, "seconds": endpoint.rate.seconds},
    }
    grant = _grant(endpoint.grant)
    if grant is not None:
        operation["x-grant"] = grant
    if endpoint.refuses:
        operation["x-refuses"] = list(endpoint.refuses)
    if endpoint.deprecated:
        operation["deprecated"] = True
    if endpoint.events:
        operation["x-events"] = list(endpoint.events)
    body = _body(endpoint, schemas)
    if body is not None:
        operation["requestBody"] = body
    return operation


def _description(endpoint: Endpoint) -> Iterator[str]:
    if endpoint.description:
        yield paragraphs(endpoint.description)
    yield "\n".join(f"- {fact}" for fact in _facts(endpoint))


def _facts(endpoint: Endpoint) -> Iterator[str]:
    """What the declaration says, for those who read."""
    if endpoint.scopes:
        yield f"Scope: {', '.join(f'`{scope}`' for scope in endpoint.scopes)}"
    grant = describe(endpoint.grant)
    if grant is not None:
        yield f"Restricted users need: {grant}"
    if endpoint.refuses:
        yield f"Closed to: {', '.join(endpoint.refuses)} users or tokens"
    if endpoint.events:
        yield f"Events: {', '.join(f'`{event}`' for event in endpoint.events)}"
    yield f"Rate limit: {endpoint.rate.calls} requests in {endpoint.rate.seconds} s"


def _grant(grant: Grant) -> Json | None:
    match grant:
        case Read() | Listed():
            return {"entity": grant.kind, "permission": "read_only"}
        case Write():
            needed = {"entity": grant.kind, "permission": "read_write"}
            return needed if grant.right is None else {**needed, "global": grant.right}
        case Global(name):
            return {"global": name}
        case AccountAccess(level):
            return {"global": "account_access", "permission": level}
        case Unrestricted():
            return {"unrestricted": True}
        case Anyone():
            return None
        case _:
            assert_never(grant)


def _security(endpoint: Endpoint) -> list[Mapping[str, list[str]]]:
    required = {"token": list(endpoint.scopes)}
    return [{}, required] if endpoint.public else [required]


def _body(endpoint: Endpoint, schemas: Schemas) -> Json | None:
    if endpoint.accepts:
        types = {name: _FORM if name == FORM else BYTES for name in endpoint.accepts}
        return {"required": True, "content": types}
    if endpoint.body is None:
        return None
    schema = schemas[endpoint.body.__name__]
    content = {"application/json": {"schema": reference(endpoint.body)}}
    return {"required": bool(schema.get("required")), "content": content}
