#!/usr/bin/env python3
"""Write what `roostctl` knows of the API, from the OpenAPI document: one command a line.

A command starts without importing the server, so all that it needs of the document is in the
package. A test compares the file with the document.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from roost.app.groups import GROUPS
from roost.console.api import Json
from roost.console.schemas import Schemas, properties, text_of, type_of
from roost.console.visit import is_destructive
from roost.web.headers import REVISION
from roost.web.openapi import build_document
from roost.web.registry import Array, Binary, Endpoint, Page, Registry, Stream
from roost.web.routing import path_params, plain_path

TARGET = Path(__file__).resolve().parent.parent / "src/roost/commands/commands.json"


GROUP_OF = {
    "/account": "account",
    "/account/availability": "availability",
    "/account/betas": "betas",
    "/account/child-accounts": "child-accounts",
    "/account/credit-card": "payments",
    "/account/entity-transfers": "entity-transfers",
    "/account/events": "events",
    "/account/invoices": "invoices",
    "/account/oauth-clients": "oauth-clients",
    "/account/payment-methods": "payment-methods",
    "/account/payments": "payments",
    "/account/service-transfers": "service-transfers",
    "/account/users": "users",
    "/account/webhooks": "webhooks",
    "/batch": "batch",
    "/betas": "betas",
    "/compute/instances": "instances",
    "/compute/instances/{}/backups": "backups",
    "/compute/instances/{}/configs": "configs",
    "/compute/instances/{}/configs/{}/interfaces": "interfaces",
    "/compute/instances/{}/disks": "disks",
    "/compute/kernels": "kernels",
    "/compute/stackscripts": "stackscripts",
    "/compute/types": "types",
    "/databases/engines": "database-engines",
    "/databases/instances": "databases",
    "/databases/mysql/instances": "mysql",
    "/databases/postgresql/instances": "postgresql",
    "/databases/types": "database-types",
    "/domains": "domains",
    "/domains/{}/records": "records",
    "/events": "events",
    "/images": "images",
    "/networking/explain": "firewalls",
    "/networking/firewalls": "firewalls",
    "/networking/ips": "addresses",
    "/networking/ipv4": "addresses",
    "/networking/ipv6": "ipv6-ranges",
    "/networking/vlans": "vlans",
    "/nodebalancers": "nodebalancers",
    "/object-storage": "object-storage",
    "/object-storage/buckets": "buckets",
    "/object-storage/clusters": "object-clusters",
    "/object-storage/keys": "object-keys",
    "/profile": "profile",
    "/profile/sshkeys": "ssh-keys",
    "/profile/tokens": "tokens",
    "/regions": "regions",
    "/support/tickets": "tickets",
    "/tags": "tags",
    "/volumes": "volumes",
    "/vpcs": "vpcs",
    "/vpcs/{}/subnets": "subnets",
}
"""The group of a command by the longest of these that its path begins with."""
NAMES = {
    "enroll_in_beta": "enroll",
    "list_account_betas": "list-enrolled",
    "list_addresses_of_vpc": "list-addresses",
    "list_buckets_of_cluster": "list-of-cluster",
    "list_vpc_addresses": "list-all-addresses",
    "make_payment_method_default": "make-default",
    "view_account_beta": "view-enrolled",
}
"""Where the words of the operation without those of its group say too little, or the same twice."""
SAID_BY_GROUP = {
    "availability": ("account",),
    "child-accounts": ("proxy",),
    "databases": ("database", "databases"),
    "mysql": ("database", "databases"),
    "postgresql": ("database", "databases"),
    "types": ("compute",),
}
"""Words that a group makes superfluous beside its own."""
HIDDEN = ("reset_oauth_client_secret_alias",)
"""Other spellings, beside what is deprecated."""
FIRST = ("id", "label", "username", "domain", "name", "address", "tag", "status", "action")
"""The columns that are looked for first."""
TYPED = ("int", "number", "bool")
"""The types of filters that are compared with no texts."""
DEPTH = 3
"""How deep fields of fields are options of their own; what is deeper is JSON."""


def build() -> str:
    """The file; ValueError when two operations would be the same command."""
    registry = Registry(GROUPS.endpoints)
    schemas = Schemas(json.loads(build_document(registry))["components"]["schemas"])
    commands: dict[str, dict[str, object]] = {}
    for endpoint in sorted(registry, key=lambda each: (each.path, each.method)):
        name = f"{group_of(endpoint)} {name_of(endpoint)}"
        if name in commands:
            raise ValueError(f"{endpoint.name} is a second {name}")
        commands[name] = dict(_command(endpoint, registry, schemas))
    lines = [f"{json.dumps(name)}: {_compact(commands[name])}" for name in sorted(commands)]
    head = f'{{"revision": {json.dumps(REVISION)},\n"commands": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def group_of(endpoint: Endpoint) -> str:
    path = re.sub(r"\{[^}]*\}", "{}", endpoint.path)
    fits = [each for each in GROUP_OF if f"{path}/".startswith(f"{each}/")]
    return GROUP_OF[max(fits, key=len)]


def name_of(endpoint: Endpoint) -> str:
    """The operation's name without the words of its group."""
    if endpoint.name in NAMES:
        return NAMES[endpoint.name]
    group = group_of(endpoint)
    own = [word for part in group.split("-") for word in (part, part.removesuffix("s"))]
    own += ["address"] if group == "addresses" else []
    verb, *words = endpoint.name.split("_")
    said = {*own, *SAID_BY_GROUP.get(group, ())}
    kept = [verb, *(word for word in words if word not in said)]
    while kept[-1] == "of":
        kept.pop()
    return "-".join(kept)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _command(
    endpoint: Endpoint, registry: Registry, schemas: Schemas
) -> Iterator[tuple[str, object]]:
    yield "operation", endpoint.name
    yield "method", endpoint.method
    yield "path", "/v4" + plain_path(endpoint.path)
    yield "help", endpoint.summary
    if kinds := path_params(endpoint.path):
        yield "arguments", list(kinds)
    of = _view_of(endpoint, registry)
    shown = {} if of is None else path_params(of.path)
    if whole := [name for name, kind in {**kinds, **shown}.items() if kind == "path"]:
        yield "slashes", whole
    yield "answer", _answer(endpoint)
    if columns := _columns(schemas, endpoint):
        yield "columns", columns
    body = schemas.resolved(schemas.body_of(endpoint))
    if endpoint.body is not None:
        yield "body", True
    if options := list(_options(schemas, body)):
        yield "options", options
    yield from _facts(endpoint)
    if of is not None:
        yield "view", "/v4" + plain_path(of.path)


def _facts(endpoint: Endpoint) -> Iterator[tuple[str, object]]:
    if endpoint.query:
        yield "query", {name: _sentence(text) for name, text in endpoint.query.items()}
    if endpoint.filters:
        yield "filters", sorted(endpoint.filters)
        typed = [name for name, column in endpoint.filters.items() if column.type in TYPED]
        if typed:
            yield "typed", sorted(typed)
    if endpoint.accepts:
        yield "accepts", list(endpoint.accepts)
    if endpoint.events and endpoint.writes:
        yield "events", list(endpoint.events)
    if endpoint.dry_run is not None:
        yield "dry_run", True
    if is_destructive(endpoint):
        yield "destructive", True
    if endpoint.deprecated or endpoint.name in HIDDEN:
        yield "hidden", True


def _answer(endpoint: Endpoint) -> str:
    match endpoint.returns:
        case None:
            return "nothing"
        case Page():
            return "page"
        case Array():
            return "array"
        case Binary():
            return "file"
        case Stream():
            return "stream"
        case _:
            return "record"


def _view_of(endpoint: Endpoint, registry: Registry) -> Endpoint | None:
    """What shows the thing that a write changes or makes."""
    if not endpoint.writes:
        return None
    gets = {e.path: e for e in registry if e.method == "GET" and _answer(e) == "record"}
    if endpoint.method == "POST":
        rows = (p for p in gets if re.fullmatch(re.escape(endpoint.path) + r"/\{[^/]*\}", p))
        if (row := next(rows, None)) is not None:
            return gets[row]
    path = endpoint.path
    while path:
        if path in gets and path.endswith("}"):
            return gets[path]
        path = path.rpartition("/")[0]
    return None


def _columns(schemas: Schemas, endpoint: Endpoint) -> list[str]:
    """What a table can show: single values, and lists of them."""
    row = schemas.resolved(schemas.row(endpoint))
    names = [name for name, schema in properties(row) if _is_plain(schemas, schema)]
    first = [name for name in FIRST if name in names]
    return first + [name for name in names if name not in first]


def _is_plain(schemas: Schemas, schema: Json) -> bool:
    found = schemas.resolved(schema)
    items = found.get("items")
    if type_of(found) == "array" and isinstance(items, dict):
        return _is_plain(schemas, items)
    return type_of(found) in ("string", "integer", "number", "boolean")


def _options(
    schemas: Schemas, schema: Json, before: str = "", depth: int = 1
) -> Iterator[dict[str, object]]:
    """One for each field; those of nested records with dots."""
    required = schema.get("required", [])
    assert isinstance(required, list)
    for name, field in properties(schema):
        found = schemas.resolved(field)
        needed = name in required and (depth == 1 or not before)
        if type_of(found) == "object" and "properties" in found and depth < DEPTH:
            yield from _options(schemas, found, f"{before}{name}.", depth + 1)
            continue
        yield dict(_option(schemas, f"{before}{name}", field, found, needed))


def _option(
    schemas: Schemas, name: str, field: Json, found: Json, needed: bool
) -> Iterator[tuple[str, object]]:
    yield "name", name
    items = found.get("items")
    each = found
    if type_of(found) == "array" and isinstance(items, dict):
        each = schemas.resolved(items)
        if type_of(each) in ("string", "integer"):
            yield "several", True
        else:
            each = {}
    kind = type_of(each)
    yield "type", kind if kind in ("string", "integer", "number", "boolean") else "json"
    if isinstance(words := each.get("enum"), list):
        yield "words", [word for word in words if word is not None]
    if needed:
        yield "required", True
    if _may_be_null(field):
        yield "null", True
    if text := _sentence(text_of(field.get("description", found.get("description", "")))):
        yield "help", text


def _may_be_null(field: Json) -> bool:
    kinds, options = field.get("type"), field.get("anyOf")
    several = isinstance(kinds, list) and "null" in kinds
    return several or (isinstance(options, list) and {"type": "null"} in options)


def _sentence(text: str) -> str:
    """The first one."""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()), maxsplit=1)[0]


if __name__ == "__main__":
    TARGET.write_text(build())
