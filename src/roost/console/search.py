"""Search over everything: the lists of the API, by what their rows are called."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from roost.console.listed import Row, listed
from roost.console.navigation import NAVIGATION
from roost.console.operations import PREFIX
from roost.console.visit import Visit

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "list_instances": ("label", "tags", "ipv4"),
    "list_volumes": ("label", "tags"),
    "list_images": ("label",),
    "list_mysql_databases": ("label",),
    "list_postgresql_databases": ("label",),
    "list_nodebalancers": ("label", "tags", "ipv4"),
    "list_buckets": ("label",),
    "list_domains": ("domain", "tags"),
    "list_firewalls": ("label", "tags"),
    "list_vpcs": ("label",),
    "list_addresses": ("address", "rdns"),
    "list_stackscripts": ("label",),
    "list_tickets": ("summary",),
    "list_users": ("username", "email"),
    "list_tags": ("label",),
}
"""By which fields each list is searched, where it can be filtered by them."""
MOST = "25"
"""Rows of a list; a search for more is one of that list."""


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one list."""

    title: str
    url: str
    rows: Sequence[Row]
    results: int


async def search(visit: Visit, text: str) -> list[Found]:
    """What is called like the text, list by list; lists that the user may not see have nothing."""
    names = {path: title for entries in NAVIGATION.values() for title, path in entries}
    found = await asyncio.gather(*(_search(visit, each, text) for each in _FIELDS))
    return [
        Found(names.get(path, path), PREFIX + path, rows, results)
        for path, rows, results in found
        if rows
    ]


async def _search(visit: Visit, operation: str, text: str) -> tuple[str, Sequence[Row], int]:
    endpoint = visit.operations.by_name[operation]
    fields = [name for name in _FIELDS[operation] if name in endpoint.filters]
    wanted = {"+or": [{name: {"+contains": text}} for name in fields]}
    answer = await visit.api.call(
        endpoint, {}, {"page_size": MOST}, wanted=orjson.dumps(wanted).decode()
    )
    shown = listed(visit, answer)
    return endpoint.path, shown.rows, shown.results
