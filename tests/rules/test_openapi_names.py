"""The OpenAPI document has one list of records for all groups."""

from dataclasses import replace
from typing import TypedDict

import pytest

from roost.app.groups import GROUPS
from roost.web.openapi.schemas import build_schemas
from roost.web.registry import Registry


class DomainRow(TypedDict):
    """Another one of that name."""

    id: int


def test_a_clash_names_both_places() -> None:
    endpoints = {endpoint.name: endpoint for endpoint in Registry(GROUPS.endpoints)}
    clash = replace(endpoints["view_volume"], returns=DomainRow)
    places = (
        r"roost\.resources\.domains\.records and .*test_openapi_names both have a record DomainRow"
    )
    with pytest.raises(ValueError, match=places):
        build_schemas([endpoints["view_domain"], clash])
