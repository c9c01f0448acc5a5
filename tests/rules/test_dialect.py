"""The table of the Linode dialect: every word of the API is in it, or is the same in both."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from tests.support.dialect import REGISTRY, in_linode, words_of

from roost.core.scopes import AREAS
from roost.dialect import paths
from roost.dialect.answers import compile_answers, say_error
from roost.dialect.documents import translate_document
from roost.dialect.filters import translate_filter
from roost.dialect.linode import LINODE
from roost.dialect.requests import back, translate_body
from roost.dialect.texts import exchange_scopes, say
from roost.resources.users.bodies import UpdateGlobal
from roost.web.openapi.schemas import build_schemas
from roost.web.registry import Endpoint

Json = Any

ENDPOINTS = tuple(REGISTRY)
SCHEMAS = build_schemas(ENDPOINTS)
REWRITES = compile_answers(LINODE, ENDPOINTS, SCHEMAS)
OURS = re.compile(r"compute|roost", re.IGNORECASE)

every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.name)


@every
def test_paths_there_and_back(endpoint: Endpoint) -> None:
    path = endpoint.path.replace("{imageId:path}", "roost/debian12")
    path = path.replace("{kernelId:path}", "roost/latest-64bit")
    theirs = in_linode(path)
    assert paths.back(LINODE, theirs) == path
    assert not OURS.search(re.sub(r"\{[^}]*\}", "", theirs))
    if path.startswith("/compute/"):
        assert REGISTRY.router.find(paths.back(LINODE, path)) is None


def properties() -> Iterator[tuple[str, str, Json]]:
    for record, schema in SCHEMAS.items():
        of: Json = schema.get("properties", {})
        for name, described in of.items():
            yield record, name, described


def test_every_field_is_translated_or_the_same() -> None:
    names = {name for _, name, _ in properties()}
    assert {name for name in names if OURS.search(name)} <= LINODE.keys.keys()
    assert names.isdisjoint(LINODE.keys.values())
    assert len(set(LINODE.keys.values())) == len(LINODE.keys)


def test_every_word_of_an_enumeration_is_translated_or_the_same() -> None:
    for _, name, described in properties():
        for word in words_of(described):
            rules = LINODE.values_by_field.get(name, ())
            said = next((each for rule in rules if (each := rule.forth(word)) is not None), word)
            assert not OURS.search(said), (name, word)
            assert back(LINODE, said, name) == word


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("colon", [":", "%3A", "%253A"])
def test_scopes_there_and_back(area: str, colon: str) -> None:
    scope = f"scope=account{colon}read_only%20{area}{colon}read_write".encode()
    theirs = exchange_scopes(LINODE, scope)
    assert exchange_scopes(LINODE, theirs) == scope
    assert b"compute" not in theirs
    assert (theirs == scope) == (area != "computes")


def test_global_grants() -> None:
    rights = {name for name in UpdateGlobal.model_fields if name.startswith("add_")}
    assert {LINODE.keys.get(name, name) for name in rights} >= {"add_linodes", "add_volumes"}


@pytest.mark.parametrize("action", sorted({each for e in ENDPOINTS for each in e.events}))
def test_events_there_and_back(action: str) -> None:
    body = orjson.dumps({"data": [{"action": action}]})
    theirs: Json = orjson.loads(REWRITES["list_events"](body))
    (said,) = (row["action"] for row in theirs["data"])
    assert not OURS.search(said)
    assert not said.startswith("dns_")
    assert back(LINODE, theirs) == {"data": [{"action": action}]}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"linode_id": 1}, {"compute_id": 1}),
        ({"compute_id": 1}, {"linode_id": 1}),
        ({"linodes": [1], "domains": [2]}, {"computes": [1], "domains": [2]}),
        ({"type": "linode", "id": 1}, {"type": "compute", "id": 1}),
        ({"type": "g6-nanode-1"}, {"type": "g6-nanode-1"}),
        ({"image": "linode/debian12"}, {"image": "roost/debian12"}),
        ({"image": "roost/debian12"}, {"image": "linode/debian12"}),
        ({"image": "private/1"}, {"image": "private/1"}),
        ({"scopes": "linodes:read_only"}, {"scopes": "computes:read_only"}),
        ({"label": "linode_id"}, {"label": "linode_id"}),
        ({"stackscript_data": {"linode_id": "x"}}, {"stackscript_data": {"linode_id": "x"}}),
        ({"global": {"add_linodes": True}}, {"global": {"add_computes": True}}),
        ({"devices": {"linode": None}}, {"devices": {"compute": None}}),
    ],
)
def test_bodies(theirs: Json, ours: Json) -> None:
    assert orjson.loads(translate_body(LINODE, "/volumes", orjson.dumps(theirs))) == ours


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"entity.type": "linode", "entity.id": 1}, {"entity.type": "compute", "entity.id": 1}),
        ({"action": {"+contains": "linode_"}}, {"action": {"+contains": "compute_"}}),
        ({"+or": [{"linode_id": 1}, {"label": "x"}]}, {"+or": [{"compute_id": 1}, {"label": "x"}]}),
        ({"image": {"+neq": "linode/a"}}, {"image": {"+neq": "roost/a"}}),
        ({"+order_by": "linode_id", "+order": "asc"}, {"+order_by": "compute_id", "+order": "asc"}),
        ({"action": "domain_create"}, {"action": "dns_zone_create"}),
        ({"action": "domain_record_create"}, {"action": "dns_record_create"}),
        ([1], [1]),
    ],
)
def test_filters(theirs: Json, ours: Json) -> None:
    assert orjson.loads(translate_filter(LINODE, orjson.dumps(theirs))) == ours


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a":1e999}', b"[]", b'"linode_id"', b"\xff"])
def test_what_is_no_object_is_left_to_the_api(raw: bytes) -> None:
    assert translate_body(LINODE, "/volumes", raw) == raw


@pytest.mark.parametrize("depth", [63, 64, 500])
def test_deep_bodies_end_nowhere(depth: int) -> None:
    body = b'{"a":' * depth + b"1" + b"}" * depth
    assert translate_body(LINODE, "/volumes", body) == body


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        ({"type": "A", "weight": 0, "port": 0}, {"type": "A"}),
        ({"type": "SRV", "weight": 0, "port": 0}, {"type": "SRV", "weight": 0, "port": 0}),
        ({"weight": 5}, {"weight": 5}),
    ],
)
@pytest.mark.parametrize("path", ["/domains/7/records", "/domains/7/records/9"])
def test_fields_that_mean_nothing_are_dropped(path: str, record: Json, kept: Json) -> None:
    assert orjson.loads(translate_body(LINODE, path, orjson.dumps(record))) == kept


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("compute_id is not valid", "linode_id is not valid"),
        ("Must provide a region or a Compute ID", "Must provide a region or a Linode ID"),
        ("Compute busy.", "Linode busy."),
        ("Label must be unique among your computes", "Label must be unique among your linodes"),
        ("roost/debian12 is deprecated", "linode/debian12 is deprecated"),
        ("computed, recompute", "computed, recompute"),
    ],
)
def test_reasons(ours: str, theirs: str) -> None:
    assert say(LINODE, ours) == theirs
    error = {"errors": [{"field": "compute_id", "reason": ours}]}
    said = {"errors": [{"field": "linode_id", "reason": theirs}]}
    assert orjson.loads(say_error(LINODE, orjson.dumps(error))) == said


def test_the_document_has_their_words() -> None:
    text = translate_document(LINODE, REGISTRY).decode()
    document: Json = orjson.loads(text)
    left = set(re.findall(r'"[^"]*\b(?:compute_|computes|/compute/)[^"]*"', text))
    assert not left
    assert "/v4/linode/instances/{linodeId}" in document["paths"]
    row = document["components"]["schemas"]["InstanceRow"]["properties"]
    assert row["lke_cluster_id"]["type"] == "null"
    entity = document["components"]["schemas"]["AddDevice"]["properties"]["type"]
    assert "linode" in entity["enum"]
