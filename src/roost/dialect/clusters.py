"""Object storage by region: later revisions name a region where the API names its cluster.

A region has one cluster at most, so that either says the other.
"""

import re
from collections.abc import Iterable, Mapping
from functools import partial

import orjson

from roost.core.catalog import Catalog
from roost.web.openapi.schemas import row_of
from roost.web.registry import Endpoint
from roost.web.translation import Json, Rewrite, parse

_BUCKETS = "/object-storage/buckets/"
_NAMING = frozenset({"/object-storage/buckets", "/object-storage/keys"})
"""Paths whose bodies name clusters."""
_KEY_ROW, _BUCKET_ROW = "KeyRow", "BucketRow"
_ENDPOINT_TYPE = "E0"
"""There is one kind of endpoint."""
_CLUSTER = re.compile(rb'"cluster":"([^"]*)"')
_ACCESS = re.compile(rb'"bucket_access":(null|\[[^\]]*\])')
"""Labels of buckets have no brackets."""
_TEXT: Mapping[str, Json] = {"type": "string", "description": "The region of the cluster."}
_REGIONS: Mapping[str, Json] = {
    "type": "array",
    "description": "Where the key opens something.",
    "items": {
        "type": "object",
        "required": ["id", "endpoint_type", "s3_endpoint"],
        "properties": {
            "id": {"type": "string", "description": "The region."},
            "endpoint_type": {"type": "string", "description": "The kind of its endpoint."},
            "s3_endpoint": {"type": "string", "description": "The domain of its cluster."},
        },
    },
}


class Clusters:
    """Which cluster a region has."""

    def __init__(self, catalog: Catalog) -> None:
        clusters = catalog.entries.object_clusters
        self._clusters = {each.region: each.id for each in clusters}
        self._regions = {each.id: each.region for each in clusters}
        self._domains = {each.id: each.domain for each in clusters}

    def path_back(self, path: str) -> str:
        """Our path for one that names a region."""
        if not path.startswith(_BUCKETS):
            return path
        named, slash, rest = path[len(_BUCKETS) :].partition("/")
        return f"{_BUCKETS}{self._cluster(named)}{slash}{rest}"

    def body_back(self, path: str, body: bytes) -> bytes:
        """Our body for one that names regions."""
        data = parse(body) if is_named(path) else None
        if data is None:
            return body
        access = data.get("bucket_access")
        for part in (data, *(access if isinstance(access, list) else ())):
            if isinstance(part, dict) and _by_region(part):
                named = part["region"]
                part["cluster"] = self._cluster(named) if isinstance(named, str) else named
        return orjson.dumps(data)

    def added_to(
        self, rewrites: Mapping[str, Rewrite], endpoints: Iterable[Endpoint]
    ) -> dict[str, Rewrite]:
        """How answers are changed, by operation, with regions beside clusters."""
        changed = dict(rewrites)
        for endpoint in endpoints:
            row = row_of(endpoint.returns)
            if row is not None and row.__name__ in (_KEY_ROW, _BUCKET_ROW):
                first = rewrites.get(endpoint.name, bytes)
                changed[endpoint.name] = partial(self._say_after, first)
        return changed

    def filters_of(
        self, filters: Mapping[str, Rewrite], endpoints: Iterable[Endpoint]
    ) -> dict[str, Rewrite]:
        """How the header X-Filter is changed, by operation, where lists are of clusters."""
        changed = dict(filters)
        for endpoint in endpoints:
            if "cluster" in endpoint.filters:
                changed[endpoint.name] = partial(self._filter_back, filters[endpoint.name])
        return changed

    def _filter_back(self, then: Rewrite, text: bytes) -> bytes:
        data = parse(text)
        return then(text if data is None else orjson.dumps(self._by_cluster(data, "")))

    def _by_cluster(self, data: Json, field: str) -> Json:
        if isinstance(data, dict):
            return {
                "cluster" if key == "region" else key: self._by_cluster(
                    value, field if key.startswith("+") and key != "+order_by" else key
                )
                for key, value in data.items()
            }
        if isinstance(data, list):
            return [self._by_cluster(each, field) for each in data]
        if not isinstance(data, str):
            return data
        if field == "+order_by":
            return "cluster" if data == "region" else data
        return self._cluster(data) if field == "region" else data

    def _say_after(self, first: Rewrite, body: bytes) -> bytes:
        body = _ACCESS.sub(self._say_regions, first(body))
        return _CLUSTER.sub(self._say_region, body)

    def _say_region(self, found: re.Match[bytes]) -> bytes:
        region = self._regions.get(found[1].decode())
        return found[0] + b',"region":' + orjson.dumps(region)

    def _say_regions(self, found: re.Match[bytes]) -> bytes:
        """A key that is not limited opens all."""
        limited = found[1] != b"null"
        named = [each[1].decode() for each in _CLUSTER.finditer(found[1])]
        rows = [
            {
                "id": self._regions[each],
                "endpoint_type": _ENDPOINT_TYPE,
                "s3_endpoint": self._domains[each],
            }
            for each in sorted(set(named) if limited else self._regions)
            if each in self._regions
        ]
        return b'"regions":' + orjson.dumps(rows) + b"," + found[0]

    def _cluster(self, named: str) -> str:
        return named if named in self._regions else self._clusters.get(named, named)


def _by_region(part: Mapping[str, Json]) -> bool:
    return "region" in part and part.get("cluster") is None


def is_named(path: str) -> bool:
    """Whether bodies of a path name clusters."""
    return path in _NAMING


def names_regions(body: bytes) -> bool:
    """Whether what a body says of clusters is said of regions."""
    data = parse(body) or {}
    access = data.get("bucket_access")
    parts = [data, *(access if isinstance(access, list) else ())]
    return not any(isinstance(part, dict) and part.get("cluster") is not None for part in parts)


def say_error(body: bytes) -> bytes:
    """A refusal that names the region, as the request did."""
    errors = orjson.loads(body)["errors"]
    return orjson.dumps({"errors": [{k: _said(text) for k, text in e.items()} for e in errors]})


_said = partial(re.compile(r"\bcluster\b").sub, "region")


def describe(schemas: Mapping[str, dict[str, Json]]) -> None:
    """Say it in the OpenAPI document's schemas."""
    for name in (_BUCKET_ROW, "BucketAccessRow", "BucketAccess", "CreateBucket"):
        properties, required = schemas[name]["properties"], schemas[name].get("required")
        assert isinstance(properties, dict)
        assert isinstance(required, list)
        properties["region"] = {**_TEXT}
        if name in ("BucketAccess", "CreateBucket"):
            required.remove("cluster")
    properties = schemas[_KEY_ROW]["properties"]
    assert isinstance(properties, dict)
    properties["regions"] = {**_REGIONS}
