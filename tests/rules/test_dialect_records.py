"""Records of the Linode dialect have every field that the console's own SDK requires of them.

`api_v4_fields.json` is what `scripts/read-client-types` has read from the types of @linode/api-v4:
where a field is missing that they promise, a page shows nothing or ends in an error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.support.dialect import REGISTRY

from roost.dialect.documents import translate_document
from roost.dialect.linode import LINODE

Json = Any

TABLE: Mapping[str, list[str]] = orjson.loads(
    Path(__file__).with_name("api_v4_fields.json").read_bytes()
)
DOCUMENT: Json = orjson.loads(translate_document(LINODE, REGISTRY))
MODELS: Mapping[str, Json] = DOCUMENT["components"]["schemas"]
PATHS = {
    re.sub("{[^}]*}", "{}", path): operations for path, operations in DOCUMENT["paths"].items()
}

NOT_HERE = {
    # The types have them, and the original's own answers do not.
    "GET /networking/vlans": {"cidr_block", "id"},
    # It is signed without a look at the object.
    "POST /object-storage/buckets/{}/{}/object-url": {"exists"},
}
"""Fields that answers do not have."""


def answer_of(path: str) -> Json:
    """The schema of an answer, or of the rows of a list."""
    method, _, shape = path.partition(" ")
    responses = PATHS[f"/v4{shape}"][method.lower()]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]
    rows = list(within(schema, "data")) if {"page", "pages"} <= names(schema) else []
    return rows or schema


def resolved(schema: Json) -> Iterator[Json]:
    """The schemas of objects that something may be: a reference, one of several, rows."""
    if isinstance(schema, list):
        for each in schema:
            yield from resolved(each)
        return
    if "$ref" in schema:
        yield from resolved(MODELS[schema["$ref"].rpartition("/")[2]])
    for part in ("anyOf", "oneOf", "allOf"):
        yield from resolved(schema.get(part, []))
    if "items" in schema:
        yield from resolved(schema["items"])
    if "properties" in schema or schema.get("type") == "object":
        yield schema


def names(schema: Json) -> set[str]:
    return {name for each in resolved(schema) for name in each.get("properties", {})}


def within(schema: Json, name: str) -> Iterator[Json]:
    for each in resolved(schema):
        if name in each.get("properties", {}):
            yield each["properties"][name]


def missing(schema: Json, fields: Iterable[str]) -> Iterator[str]:
    """Those that are not in an answer; what is within a field that is missing is not told again."""
    gone: list[str] = []
    for field in sorted(fields):
        *parents, name = field.replace("[]", "").split(".")
        at: Json = schema
        for parent in parents:
            at = list(within(at, parent))
        if any(field.startswith((f"{each}.", f"{each}[")) for each in gone):
            continue
        # What is never an object is null, or an empty list.
        objects = list(resolved(at))
        if objects and not any(_has(each, name) for each in objects):
            gone.append(field)
            yield field


def _has(schema: Json, name: str) -> bool:
    """An object of which nothing is declared may have it."""
    return "properties" not in schema or name in schema["properties"]


@pytest.mark.parametrize("path", sorted(TABLE))
def test_required_fields(path: str) -> None:
    assert set(missing(answer_of(path), TABLE[path])) == NOT_HERE.get(path, set())
