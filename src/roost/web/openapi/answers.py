"""The answers of operations: what a success holds, how a refusal looks, which headers they have."""

from collections.abc import Mapping

from roost.core.billing.price_changes import DryRunRow
from roost.errors import ErrorBody
from roost.web.dry_run import MEDIA_TYPE as DRY_RUN
from roost.web.headers import REVISION, SPEC_VERSION
from roost.web.openapi.schemas import reference, row_of
from roost.web.registry import (
    EVENT_STREAM,
    Accepted,
    Array,
    Binary,
    Endpoint,
    Maybe,
    Page,
    Returns,
    Stream,
)
from roost.web.reply import Warned

Json = Mapping[str, object]
Schemas = Mapping[str, Mapping[str, object]]

BYTES: Json = {"schema": {"type": "string", "format": "binary"}}

_REFUSALS = {
    "400": ("BadRequest", "A field, the request or the state of the object is not right."),
    "401": ("Unauthorized", "There is no valid token, or it lacks a scope."),
    "403": ("Forbidden", "The user lacks a grant, or their type of user may not do this."),
    "404": ("NotFound", "There is no such thing, or it is another account's."),
    "412": ("PreconditionFailed", "What `If-Match` names is another version by now."),
    "413": ("TooLarge", "The body is larger than this operation takes."),
    "415": ("UnsupportedMediaType", "The body's Content-Type is none that this operation takes."),
    "429": ("TooManyRequests", "Too many requests: `Retry-After` says how many seconds to wait."),
    "default": ("Refusal", "Any other refusal, such as 503 while the service is not available."),
}
_WITH_BODY = ("413", "415")
_REASONS = {
    "400": {"field": "label", "reason": "Length must be 1-32 characters"},
    "401": {"reason": "Invalid Token"},
    "403": {"reason": "Unauthorized"},
    "404": {"reason": "Not found"},
    "412": {"field": "If-Match", "reason": "It has changed since it was read"},
    "413": {"reason": "The body must not be larger than 1048576 bytes"},
    "415": {"reason": "Content-Type must be application/json"},
    "429": {"reason": "Too many requests"},
    "default": {"reason": "The service is not yet available. Please try again later."},
}

_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
HEADERS: Mapping[str, Json] = {
    "ETag": {
        "description": "The version that is shown, for `If-None-Match` and `If-Match`.",
        "schema": _TEXT,
    },
    "Retry-After": {
        "description": "Seconds until the rate limit's window ends; on every answer.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "Roost-Revision": {
        "description": "The revision of requests and answers that this answer speaks.",
        "schema": {"type": "string", "examples": [REVISION]},
    },
    "X-Accepted-OAuth-Scopes": {
        "description": "The scopes that this operation needs, with commas; `*` for any token.",
        "schema": _TEXT,
    },
    "X-Customer-UUID": {
        "description": "The `euuid` of the token's account; not without a token.",
        "schema": _TEXT,
    },
    "X-OAuth-Scopes": {
        "description": "The scopes of the token, `*` for all; `unknown` without a token.",
        "schema": _TEXT,
    },
    "X-RateLimit-Limit": {
        "description": "How many requests the window allows.",
        "schema": _COUNT,
    },
    "X-RateLimit-Remaining": {
        "description": "How many requests are left in the window.",
        "schema": _COUNT,
    },
    "X-RateLimit-Reset": {
        "description": "When the window ends, in seconds since 1970.",
        "schema": _COUNT,
    },
    "X-Request-Id": {
        "description": "The name of this request in the server's log.",
        "schema": _TEXT,
    },
    "X-Spec-Version": {
        "description": "The revision of the API.",
        "schema": {"type": "string", "examples": [SPEC_VERSION]},
    },
}
_SENT: Json = {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS if name != "ETag"}
_VERSIONED: Json = {**_SENT, "ETag": {"$ref": "#/components/headers/ETag"}}


def build_responses(endpoint: Endpoint, schemas: Schemas) -> Json:
    """The responses of an operation by status."""
    success = {"200": _success(endpoint, schemas)}
    if isinstance(endpoint.returns, Maybe):
        success["204"] = {"description": "There is nothing to show.", "headers": _SENT}
    if isinstance(endpoint.returns, Accepted):
        success["202"] = _unfinished(endpoint.returns.row)
    if endpoint.has_version:
        success["304"] = {"description": "The client has it already.", "headers": _VERSIONED}
    unmeant: set[str] = set()
    if endpoint.body is None and not endpoint.accepts:
        unmeant.update(_WITH_BODY)
    if endpoint.method not in ("PUT", "DELETE"):
        unmeant.add("412")
    return success | {
        code: {"$ref": f"#/components/responses/{name}"}
        for code, (name, _) in _REFUSALS.items()
        if code not in unmeant
    }


def shared_responses() -> Json:
    """The refusals, which are components."""
    return {name: _refusal(code, text) for code, (name, text) in _REFUSALS.items()}


def _refusal(code: str, text: str) -> Json:
    content = {"schema": reference(ErrorBody), "example": {"errors": [_REASONS[code]]}}
    return {"description": text, "headers": _SENT, "content": {"application/json": content}}


def _success(endpoint: Endpoint, schemas: Schemas) -> Json:
    content: Json = {"application/json": _content(endpoint.returns, schemas)}
    if isinstance(endpoint.returns, Binary):
        content = {endpoint.returns.media_type: BYTES}
    if isinstance(endpoint.returns, Stream):
        content = {EVENT_STREAM: _messages(endpoint.returns)}
    if endpoint.dry_run is not None:
        content = {**content, DRY_RUN: _content(DryRunRow, schemas)}
    headers = _VERSIONED if endpoint.has_version else _SENT
    return {"description": _meaning(endpoint.returns), "headers": headers, "content": content}


def _messages(returns: Stream) -> Json:
    """`itemSchema` is what OpenAPI 3.2 has for the messages of a stream."""
    text = "Messages of `id` and `data`, which is such a record as JSON."
    return {"schema": {"description": text}, "x-data": reference(returns.row)}


def _unfinished(row: type) -> Json:
    warnings = {"type": "array", "description": "What is left.", "items": reference(Warned)}
    more = {"type": "object", "properties": {"warnings": warnings}, "required": ["warnings"]}
    content = {"application/json": {"schema": {"allOf": [reference(row), more]}}}
    return {"description": "The record; it is not done yet.", "headers": _SENT, "content": content}


def _meaning(returns: Returns) -> str:
    match returns:
        case None:
            return "It is done, or has been begun."
        case Page():
            return "One page of the list."
        case Array():
            return "The whole list."
        case Binary():
            return "The file."
        case Stream():
            return "The messages, as they come."
        case _:
            return "The record."


def _content(returns: Returns, schemas: Schemas) -> Json:
    row = row_of(returns)
    if row is None:
        return {"schema": {"type": "object", "maxProperties": 0}, "example": {}}
    content: dict[str, object] = {"schema": _schema(returns, row)}
    examples = schemas[row.__name__].get("examples")
    if isinstance(examples, list) and examples:
        content["example"] = _example(returns, examples[0])
    return content


def _schema(returns: Returns, row: type) -> Json:
    if isinstance(returns, Array):
        return {"type": "array", "items": reference(row)}
    return _page(row) if isinstance(returns, Page) else reference(row)


def _page(row: type) -> Json:
    counts = {
        "page": "The number of this page.",
        "pages": "How many pages there are; an empty list has one.",
        "results": "How many rows all pages have together.",
    }
    rows = {"type": "array", "description": "The rows of this page.", "items": reference(row)}
    numbers = {
        name: {"type": "integer", "minimum": int(name != "results"), "description": text}
        for name, text in counts.items()
    }
    return {
        "type": "object",
        "properties": {"data": rows, **numbers},
        "required": ["data", *counts],
    }


def _example(returns: Returns, row: object) -> object:
    if isinstance(returns, Array):
        return [row]
    if isinstance(returns, Page):
        return {"data": [row], "page": 1, "pages": 1, "results": 1}
    return row
