"""What tests know of the Linode dialect, by themselves: our paths and texts in its words."""

import re
from collections.abc import Iterator
from typing import Any

from roost.app.groups import GROUPS
from roost.dialect.later.lists import later_endpoints
from roost.dialect.linode import LINODE
from roost.dialect.operations import UNSPOKEN
from roost.web.registry import Registry

Json = Any

LATER = tuple(later_endpoints(LINODE))
REGISTRY = Registry(GROUPS.endpoints, LATER, without=UNSPOKEN)
"""What its listener offers."""
ENDPOINTS = tuple(e for e in REGISTRY if e.name not in {each.name for each in LATER})
"""What it offers of the API itself."""


def in_linode(path: str) -> str:
    """A path below `/v4`."""
    path = re.sub(r"^/compute/", "/linode/", path)
    return re.sub(r"^(/images/|/linode/kernels/)roost/", r"\1linode/", path)


def words_of(described: Json) -> Iterator[str]:
    """Those of the enumerations of a field, by its JSON schema."""
    if isinstance(described, dict):
        yield from (w for w in described.get("enum", ()) if isinstance(w, str))
        if isinstance(described.get("const"), str):
            yield described["const"]
        for part in ("anyOf", "items"):
            yield from words_of(described.get(part))
    elif isinstance(described, list):
        for each in described:
            yield from words_of(each)
