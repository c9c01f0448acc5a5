"""The document as a whole."""

import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files

import orjson

from roost.web.headers import SPEC_VERSION
from roost.web.openapi.answers import HEADERS, shared_responses
from roost.web.openapi.docstrings import paragraphs
from roost.web.openapi.operations import build_operation
from roost.web.openapi.parameters import PARAMETERS
from roost.web.openapi.schemas import build_schemas
from roost.web.registry import Endpoint, Registry
from roost.web.routing import plain_path

Json = Mapping[str, object]

_TOKEN: Json = {
    "type": "http",
    "scheme": "bearer",
    "description": (
        "A personal access token, one that an OAuth client was given, or either of them narrowed by"
        " whoever has it: a text that begins with `roost1.` and may do less. What its restrictions"
        " do not allow is answered 403 with a reason that names the restriction, and"
        " `GET /profile/explain` tells which it is."
    ),
}


def build_document(registry: Registry) -> bytes:
    """JSON; raises ValueError when two components would have the same name."""
    endpoints = sorted(registry, key=lambda e: (e.path, e.method))
    schemas = build_schemas(endpoints)
    paths: dict[str, dict[str, object]] = {}
    for endpoint in endpoints:
        path = paths.setdefault("/v4" + plain_path(endpoint.path), {})
        path[endpoint.method.lower()] = build_operation(endpoint, schemas)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Roost API",
            "version": SPEC_VERSION,
            "summary": "The REST API of a cloud that you run yourself.",
            "description": files(__package__).joinpath("guide.md").read_text(),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that this document is from."}],
        "tags": _tags(endpoints),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "responses": shared_responses(),
            "securitySchemes": {"token": _TOKEN},
        },
    }
    return orjson.dumps(document)


def _tags(endpoints: Iterable[Endpoint]) -> list[Json]:
    """The groups, as the docstrings of their packages describe them: a title and a text."""
    packages = {e.area: e.handler.__module__.rpartition(".")[0] for e in endpoints}
    return [_tag(area, sys.modules[name].__doc__ or "") for area, name in sorted(packages.items())]


def _tag(area: str, docstring: str) -> Json:
    title, _, description = paragraphs(docstring).partition("\n\n")
    return {"name": area, "x-displayName": title.rstrip("."), "description": description}
