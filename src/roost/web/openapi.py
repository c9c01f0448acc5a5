"""The OpenAPI 3.1 document, made from the declarations."""

import re
from collections.abc import Iterable, Mapping

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from roost.errors import ErrorBody
from roost.web.bodies import Body
from roost.web.headers import SPEC_VERSION
from roost.web.idempotency import HEADER
from roost.web.pages import MAX_PAGE_SIZE, MIN_PAGE_SIZE
from roost.web.registry import Array, Binary, Endpoint, Maybe, Page, Registry, Returns
from roost.web.routing import path_params, plain_path

Json = Mapping[str, object]

FORM = "multipart/form-data"
_REF = "#/components/schemas/{model}"
_BYTES: Json = {"schema": {"type": "string", "format": "binary"}}
_FORM: Json = {
    "schema": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}},
        "required": ["file"],
    }
}
_REFUSALS = {
    "400": "A field, the request or the state of the object is not right",
    "401": "No valid token, or a token without the scope",
    "403": "The user lacks a grant",
    "404": "There is no such thing, or it is another account's",
    "429": "Too many requests; Retry-After says how many seconds to wait",
    "default": "Any other refusal",
}


def build_document(registry: Registry) -> bytes:
    """JSON; raises ValueError when two components would have the same name."""
    endpoints = sorted(registry, key=lambda e: (e.path, e.method))
    paths: dict[str, dict[str, object]] = {}
    for endpoint in endpoints:
        path = paths.setdefault("/v4" + plain_path(endpoint.path), {})
        path[endpoint.method.lower()] = _operation(endpoint)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Roost",
            "version": SPEC_VERSION,
            "description": "The REST API of a cloud that you run yourself.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": name} for name in sorted({e.area for e in endpoints})],
        "paths": paths,
        "components": {
            "schemas": _schemas(endpoints),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return orjson.dumps(document)


def _operation(endpoint: Endpoint) -> Json:
    operation: dict[str, object] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.area],
        "parameters": [
            *_path_parameters(endpoint),
            *_query_parameters(endpoint),
            *_list_parameters(endpoint),
            *_header_parameters(endpoint),
        ],
        "responses": _responses(endpoint),
        "security": _security(endpoint),
        "x-scopes": list(endpoint.scopes),
    }
    if endpoint.events:
        operation["x-events"] = list(endpoint.events)
    if endpoint.body is not None:
        content = {"schema": {"$ref": _ref(endpoint.body.__name__)}}
        operation["requestBody"] = {"content": {"application/json": content}}
    if endpoint.accepts:
        types = {name: _FORM if name == FORM else _BYTES for name in endpoint.accepts}
        operation["requestBody"] = {"content": types}
    return operation


def _security(endpoint: Endpoint) -> list[Mapping[str, list[str]]]:
    required = {"token": list(endpoint.scopes)}
    return [{}, required] if endpoint.public else [required]


def _path_parameters(endpoint: Endpoint) -> Iterable[Json]:
    for name, kind in path_params(endpoint.path).items():
        schema: Json = {"type": "string", "minLength": 1}
        if kind == "int":
            schema = {"type": "integer", "minimum": 0}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(endpoint: Endpoint) -> Iterable[Json]:
    for name, description in endpoint.query.items():
        schema = {"type": "string"}
        yield {"name": name, "in": "query", "description": description, "schema": schema}


def _list_parameters(endpoint: Endpoint) -> Iterable[Json]:
    if not isinstance(endpoint.returns, Page):
        return
    size = {"type": "integer", "minimum": MIN_PAGE_SIZE, "maximum": MAX_PAGE_SIZE, "default": 100}
    yield {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}
    yield {"name": "page_size", "in": "query", "schema": size}
    if endpoint.filters:
        names = ", ".join(sorted(endpoint.filters))
        yield {
            "name": "X-Filter",
            "in": "header",
            "description": f"A JSON object over {names}",
            "schema": {"type": "string"},
        }


def _header_parameters(endpoint: Endpoint) -> Iterable[Json]:
    if endpoint.method == "POST" and not endpoint.public:
        yield {
            "name": HEADER,
            "in": "header",
            "description": "The same key and body get the same answer for 24 hours",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        }


def _responses(endpoint: Endpoint) -> Json:
    content: Json = {"application/json": {"schema": _answer(endpoint.returns)}}
    if isinstance(endpoint.returns, Binary):
        content = {endpoint.returns.media_type: _BYTES}
    success: Json = {"description": "Success", "content": content}
    error = {"application/json": {"schema": {"$ref": _ref(ErrorBody.__name__)}}}
    refusals: dict[str, Json] = {
        code: {"description": reason, "content": error} for code, reason in _REFUSALS.items()
    }
    if isinstance(endpoint.returns, Maybe):
        refusals["204"] = {"description": "There is nothing to show"}
    return {"200": success, **refusals}


def _answer(returns: Returns) -> Json:
    if returns is None:
        return {"type": "object", "maxProperties": 0}
    if isinstance(returns, Binary):
        return {}
    if isinstance(returns, Array):
        return {"type": "array", "items": {"$ref": _ref(returns.row.__name__)}}
    if isinstance(returns, Page):
        number = {"type": "integer", "minimum": 0}
        rows = {"type": "array", "items": {"$ref": _ref(returns.row.__name__)}}
        return {
            "type": "object",
            "properties": {"data": rows, "page": number, "pages": number, "results": number},
            "required": ["data", "page", "pages", "results"],
        }
    row = returns.row if isinstance(returns, Maybe) else returns
    return {"$ref": _ref(row.__name__)}


def _ref(name: str) -> str:
    return _REF.format(model=name)


def _schemas(endpoints: Iterable[Endpoint]) -> Json:
    bodies = {e.body for e in endpoints if e.body is not None}
    rows = {row for e in endpoints if (row := _row(e.returns)) is not None} | {ErrorBody}
    schemas: dict[str, object] = {}
    for definitions in (_body_schemas(bodies), _row_schemas(rows)):
        clash = schemas.keys() & definitions.keys()
        if clash:
            raise ValueError(f"two components have the names {sorted(clash)}")
        schemas.update(definitions)
    return schemas


def _row(returns: Returns) -> type | None:
    if isinstance(returns, Page | Array | Maybe):
        return returns.row
    return None if isinstance(returns, Binary) else returns


def _body_schemas(bodies: Iterable[type[Body]]) -> dict[str, object]:
    models = sorted(bodies, key=lambda model: model.__name__)
    _, schema = models_json_schema([(m, "validation") for m in models], ref_template=_REF)
    definitions: dict[str, object] = schema.get("$defs", {})
    return definitions


def _row_schemas(rows: Iterable[type]) -> dict[str, object]:
    adapters: list[tuple[str, TypeAdapter[object]]] = [
        (r.__name__, TypeAdapter(r)) for r in sorted(rows, key=lambda r: r.__name__)
    ]
    _, schema = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in adapters], ref_template=_REF
    )
    definitions: dict[str, object] = schema.get("$defs", {})
    _check_names(definitions)
    return definitions


def _check_names(definitions: Iterable[str]) -> None:
    odd = [name for name in definitions if not re.fullmatch(r"\w+", name)]
    if odd:
        raise ValueError(f"these rows have equal names: {odd}")
