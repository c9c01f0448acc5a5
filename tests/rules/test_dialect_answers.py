"""Answers of the Linode dialect: any that the API gives is the same when translated and back."""

import os
import re
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.dialect import REGISTRY, Json, words_of

from roost.dialect.answers import compile_answers
from roost.dialect.linode import LINODE
from roost.dialect.requests import back
from roost.web.openapi.schemas import build_schemas, row_of
from roost.web.registry import Array, Page

ENDPOINTS = {endpoint.name: endpoint for endpoint in REGISTRY}
SCHEMAS: dict[str, Json] = dict(build_schemas(ENDPOINTS.values()))
REWRITES = compile_answers(LINODE, ENDPOINTS.values(), SCHEMAS)
OURS = re.compile(r"compute|roost", re.IGNORECASE)

HOSTILE = [
    "compute",
    "linode",
    "computes:read_only",
    "linodes:read_only",
    "roost/debian12",
    '"compute_id":7',
    '\\"compute_id\\":',
    '","type":"compute","x":"',
    "/v4/compute/instances/1",
    "Computes",
    "]",
    "compute_id is not valid",
    "ü\u2028\\",
]
"""Texts of users that look like what is translated."""
KNOWN: dict[str, list[str]] = {
    "image": ["roost/debian12", "private/7"],
    "images": ["roost/debian12", "any/all"],
    "kernel": ["roost/latest-64bit"],
    "action": ["compute_boot", "dns_zone_create", "dns_record_update", "volume_create"],
    "capabilities": ["Computes", "GPU Computes", "Backups"],
    "available": ["Computes", "Block Storage"],
    "unavailable": ["Kubernetes", "Computes"],
    "service_type": ["all", "compute", "compute_disk"],
    "scopes": ["*", "computes:read_only", "account:read_only computes:read_write"],
    "missing_scopes": ["computes:read_write", "volumes:read_only"],
    "url": ["/v4/compute/instances/1", "/v4/images/roost/debian12", "/v4/tags/compute", ""],
    "when": ["2030-01-31T12:00:00"],
    "path": ["/v4/compute/kernels/roost/grub2", "/v4/volumes"],
}
"""Texts of the fields whose texts are translated."""


def drawn(draw: st.DrawFn, schema: Json, name: str = "", record: str = "") -> Json:
    """A value as the schema says, with the worst texts that a user can choose."""
    if "$ref" in schema:
        model = schema["$ref"].rpartition("/")[2]
        return drawn(draw, SCHEMAS[model], name, model)
    if "enum" in schema or "const" in schema:
        return draw(st.sampled_from(list(words_of(schema)) or schema["enum"]))
    if "anyOf" in schema:
        return drawn(draw, draw(st.sampled_from(schema["anyOf"])), name, record)
    kinds = schema.get("type", "object")
    match draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds:
        case "object":
            fields = schema.get("properties", {}).items()
            return {key: drawn(draw, of, key, record) for key, of in fields}
        case "array" if "prefixItems" in schema:
            return [drawn(draw, each) for each in schema["prefixItems"]]
        case "array":
            return [drawn(draw, schema["items"], name, record) for _ in range(2)]
        case "string":
            return draw(st.sampled_from(texts(name, record)))
        case "null":
            return None
        case "boolean":
            return draw(st.booleans())
        case _:
            return draw(st.integers(0, 9))


def texts(field: str, record: str) -> list[str]:
    """What a field may say, where it is not the same in all records."""
    match field:
        case "type" if record in {"Entity", "TaggedRow"}:
            return ["compute", "compute_config", "volume"]
        case "type":
            return ["g1-nano-1", "compute-1"]
        case "id" if record in {"Entity", "ImageRow", "KernelRow"}:
            return ["roost/debian12", "private/7"]
        case "created_by" if record == "ImageRow":
            return ["roost", "somebody"]
        case "id" | "created_by":
            return ["us-lake", "somebody"]
    return KNOWN.get(field, HOSTILE)


def added_fields() -> set[str]:
    added = {name for each in LINODE.added for name in each.fields}
    return added | {each.later for each in LINODE.copied} | {"data"}


def without_added(said: Json, original: Json) -> Json:
    """As it was said, without the fields that only the dialect has."""
    if isinstance(said, dict) and isinstance(original, dict):
        kept = said.keys() - (added_fields() - original.keys())
        return {key: without_added(said[key], original.get(key)) for key in kept}
    if isinstance(said, list) and isinstance(original, list):
        return [without_added(*pair) for pair in zip(said, original, strict=True)]
    return said


def keys_of(data: Json) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from keys_of(value)
    elif isinstance(data, list):
        for each in data:
            yield from keys_of(each)


@pytest.mark.parametrize("name", sorted(REWRITES))
@settings(max_examples=int(os.environ.get("ROOST_TEST_ANSWERS", "20")))
@given(data=st.data())
def test_answers_there_and_back(name: str, data: st.DataObject) -> None:
    endpoint = ENDPOINTS[name]
    row = row_of(endpoint.returns)
    assert row is not None
    record = st.composite(lambda draw: drawn(draw, {"$ref": f"/{row.__name__}"}))()
    body = data.draw(record)
    if isinstance(endpoint.returns, Page):
        body = {"data": [body], "page": 1, "pages": 1, "results": 1}
    elif isinstance(endpoint.returns, Array):
        body = [body]
    said: Json = orjson.loads(REWRITES[name](orjson.dumps(body)))
    assert not [key for key in keys_of(said) if OURS.search(key)]
    assert without_added(back(LINODE, said), body) == body


def test_what_users_wrote_is_left_alone() -> None:
    """All that is not translated has the texts that it had, byte for byte."""
    rewrite = REWRITES["view_instance"]
    for text in HOSTILE:
        body = {"label": text, "image": None, "tags": [text], "hypervisor": "kvm"}
        said: Json = orjson.loads(rewrite(orjson.dumps(body)))
        assert without_added(said, body) == body
