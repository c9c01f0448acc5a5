"""What the Linode dialect makes of X-Filter on fields that only later revisions have."""

from typing import Any

import orjson
import pytest
from tests.support.dialect import REGISTRY

from roost.dialect.filters import compile_filters
from roost.dialect.linode import LINODE
from roost.web.openapi.schemas import build_schemas

Json = Any

FILTERS = compile_filters(LINODE, REGISTRY, build_schemas(REGISTRY))
NONE = {"+and": [{"label": None}, {"label": {"+neq": None}}]}
"""What no volume passes."""


def said(operation: str, wanted: Json) -> Json:
    return orjson.loads(FILTERS[operation](orjson.dumps(wanted)))


@pytest.mark.parametrize(
    ("wanted", "ours"),
    [
        ({"encryption": "disabled"}, {}),
        ({"encryption": "enabled"}, NONE),
        ({"encryption": "disabled", "label": "x"}, {"label": "x"}),
        ({"encryption": {"+neq": "disabled"}, "label": "x"}, NONE),
        ({"encryption": {"+contains": "Able"}}, {}),
        ({"encryption": {"+or": ["enabled", "disabled"]}}, {}),
        ({"encryption": {"+gt": 5}}, NONE),
        ({"io_ready": True}, {}),
        ({"+or": [{"io_ready": False}, {"label": "x"}]}, {"+or": [{"label": "x"}]}),
        ({"+or": [{"io_ready": True}, {"label": "x"}]}, {}),
        ({"+or": [{"io_ready": False}]}, NONE),
        ({"+and": [{"io_ready": True}, {"label": "x"}]}, {"+and": [{"label": "x"}]}),
        ({"+and": [{"io_ready": False}, {"label": "x"}]}, NONE),
        ({"+and": [{"io_ready": True}]}, {}),
        ({"+order_by": "encryption", "+order": "desc"}, {}),
        ({"+order_by": "label", "+order": "desc"}, {"+order_by": "label", "+order": "desc"}),
        ({"linode_id": 7}, {"compute_id": 7}),
        ({"+or": 1}, {"+or": 1}),
        ({"+or": []}, {"+or": []}),
        ({"nothing": 1}, {"nothing": 1}),
    ],
)
def test_what_is_always_so_is_decided(wanted: Json, ours: Json) -> None:
    assert said("list_volumes", wanted) == ours


@pytest.mark.parametrize("platform", ["rdbms-default", "rdbms-legacy"])
def test_types_of_databases_are_of_each_platform(platform: str) -> None:
    wanted = {"platform": platform}
    assert said("list_database_types", wanted) == {}
    found = said("list_databases", wanted)
    assert (found == {}) == (platform == "rdbms-default")


def test_what_the_api_has_is_left_to_it() -> None:
    """`site_type` of regions is a field of the API, that of instances is not."""
    assert said("list_regions", {"site_type": "core"}) == {"site_type": "core"}
    assert said("list_instances", {"site_type": "core"}) == {}
