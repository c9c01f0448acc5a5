"""What can be chosen in forms: fields that name things of the API, by the lists that have them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from roost.console.api import Answer, Json
from roost.console.forms import Field, Option
from roost.console.visit import Visit
from roost.web.registry import Endpoint
from roost.web.routing import path_params

MOST = "500"
"""Rows that a choice has at most; of more, the field is typed."""


@dataclass(frozen=True, slots=True)
class Source:
    operation: str
    key: str = "id"
    says: tuple[str, ...] = ("label",)


_SOURCES: Mapping[str, Source] = {
    "region": Source("list_regions"),
    "image": Source("list_images"),
    "stackscript_id": Source("list_stackscripts"),
    "firewall_id": Source("list_firewalls"),
    "compute_id": Source("list_instances"),
    "compute": Source("list_instances"),
    "volume_id": Source("list_volumes"),
    "vpc_id": Source("list_vpcs"),
    "vpc_subnet_id": Source("list_subnets"),
    "subnet_id": Source("list_subnets"),
    "config_id": Source("list_configs"),
    "configs": Source("list_configs"),
    "disk_id": Source("list_disks"),
    "disks": Source("list_disks"),
    "authorized_users": Source("list_users", "username", ("email",)),
    "kernel": Source("list_kernels"),
    "engine": Source("list_database_engines", says=("engine", "version")),
    "cluster": Source("list_object_clusters", says=("region",)),
    "payment_method_id": Source("list_payment_methods", says=("type",)),
}
"""By the name of a field."""
_PLANS: Mapping[str, Source] = {
    "databases": Source("list_database_types", says=("label", "price")),
    "compute": Source("list_compute_types", says=("label", "price")),
}


async def with_choices(visit: Visit, endpoint: Endpoint, fields: Iterable[Field]) -> list[Field]:
    """The fields, with what can be chosen where that is known and not too much."""
    fields = list(fields)
    wanted = {name: source for name in _names(fields) if (source := _source(visit, endpoint, name))}
    sources = sorted(set(wanted.values()), key=lambda source: source.operation)
    answers = await asyncio.gather(*(_ask(visit, each) for each in sources))
    known = {source: _options(source, each) for source, each in zip(sources, answers, strict=True)}
    options = {name: known[source] for name, source in wanted.items()}
    return [_chosen(each, options) for each in fields]


def _names(fields: Iterable[Field]) -> Iterable[str]:
    for each in fields:
        if each.kind == "group":
            yield from _names(each.fields)
        elif not each.options and each.kind not in ("switch", "json"):
            yield each.name


def _source(visit: Visit, endpoint: Endpoint, name: str) -> Source | None:
    last = name.rpartition(".")[2]
    if last == "type":
        return _PLANS.get(endpoint.path.split("/")[1])
    source = _SOURCES.get(last)
    if source is None:
        return None
    listed = visit.operations.by_name[source.operation]
    return source if set(path_params(listed.path)) <= set(visit.params) else None


async def _ask(visit: Visit, source: Source) -> Answer:
    return await visit.call(source.operation, page_size=MOST)


def _options(source: Source, answer: Answer) -> Sequence[Option]:
    """None of a list that goes on after its first page."""
    value = answer.record
    pages = value.get("pages")
    if isinstance(pages, int) and pages > 1:
        return ()
    return [Option(str(row[source.key]), _label(source, row)) for row in answer.rows]


def _label(source: Source, row: Json) -> str:
    words = [str(row[source.key])]
    for name in source.says:
        value = row.get(name)
        if isinstance(value, dict):
            value = f"${value.get('monthly')} a month"
        if value not in (None, "", row[source.key]):
            words.append(str(value))
    return " · ".join(words)


def _chosen(field: Field, options: Mapping[str, Sequence[Option]]) -> Field:
    if field.kind == "group":
        return replace(field, fields=[_chosen(each, options) for each in field.fields])
    found = options.get(field.name)
    if not found:
        return field
    return replace(field, kind="lines" if field.kind == "lines" else "choice", options=found)
