"""Exchanges that were recorded of a revision when it was released, and what of them has to hold."""

import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path

from roost.app.roost import Roost
from roost.web.registry import Endpoint, Page
from tests.api.conftest import Account
from tests.api.doors import body_of, knock
from tests.api.samples.paths import become_welcome, make_row, sample_path, sample_query
from tests.support.client import Answer, Client, Json

FOLDER = Path(__file__).parent.parent / "api" / "recorded"
EXCHANGES, SCHEMAS = "exchanges.json", "schemas.json"
_UNIQUE = "{unique}"
_HEX = re.compile(r"[0-9a-f]{16,32}")
_REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')
_NUMBERS = ("integer", "number")


async def ask(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account, body: Json
) -> Answer:
    """Call an operation about things that are there, with a body as it was recorded."""
    await become_welcome(endpoint, client, roost, account)
    path, query = await sample_path(endpoint, client, roost, account), sample_query(endpoint)
    if isinstance(endpoint.returns, Page):
        await make_row(endpoint, path, client, roost, account)
    path = f"{path}?{query}" if query else path
    if endpoint.accepts:
        return await knock(endpoint, client, path)
    return await client.send(endpoint.method, path, filled(body))


def recorded_body(endpoint: Endpoint) -> Json:
    """The document's example, without what has to be another text each time."""
    return _replaced(body_of(endpoint), lambda text: _HEX.sub(_UNIQUE, text))


def filled(body: Json) -> Json:
    return _replaced(body, lambda text: text.replace(_UNIQUE, uuid.uuid4().hex[:16]))


def _replaced(body: Json, change: Callable[[str], str]) -> Json:
    return json.loads(change(json.dumps(body)))


def shape(value: Json) -> Json:
    """Names and types of a value."""
    match value:
        case dict():
            return {name: shape(each) for name, each in value.items()}
        case list():
            return [reduce(_common, map(shape, value))] if value else []
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return "string"


def _common(one: Json, other: Json) -> Json:
    """What two members of a list share: those of one record may differ, too."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: _common(one[name], other[name]) for name in one if name in other}
    if isinstance(one, list) and isinstance(other, list):
        return [_common(one[0], other[0])] if one and other else []
    return one if one == other else "null"


def misfits(wanted: Json, value: Json, path: str = "") -> Iterator[str]:
    """Where a value is not of a shape that was recorded. More fields are no harm; what was null
    may be something now, and the other way: only the schemas say what can be null."""
    if value is None or wanted == "null":
        return
    if isinstance(wanted, dict):
        if not isinstance(value, dict):
            yield f"{path} is no object"
            return
        for name, each in wanted.items():
            if name in value:
                yield from misfits(each, value[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is gone"
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            yield f"{path} is no array"
            return
        for each in value if wanted else ():
            yield from misfits(wanted[0], each, f"{path}[]")
    elif wanted != (found := shape(value)) and not {wanted, found} <= set(_NUMBERS):
        yield f"{path} is {found}, not {wanted}"


def schemas_of(document: Json) -> Json:
    """What an OpenAPI document says of records: types, words and what is always there."""
    return {
        name: {
            "required": sorted(schema.get("required", [])),
            "properties": {field: _type(each) for field, each in schema["properties"].items()},
        }
        for name, schema in document["components"]["schemas"].items()
        if "properties" in schema
    }


def _type(schema: Json) -> Json:
    """Sorted alternatives, each of which is a type, a word or a record."""
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return sorted({each for option in schema["anyOf"] for each in _type(option)})
    if words := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return sorted(f"={each}" for each in words)
    types = schema.get("type", [])
    found = [types] if isinstance(types, str) else types
    items = _type(schema["items"]) if "items" in schema else []
    return sorted([*found, *(f"[{each}]" for each in items)])


def sent_records(document: Json, bodies: Iterable[str]) -> set[str]:
    """The records that clients send, with those within."""
    schemas, found, left = document["components"]["schemas"], set[str](), list(bodies)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _REFERENCE.findall(json.dumps(schemas[name]))
    return found


def lost(recorded: Mapping[str, Json], now: Mapping[str, Json], sent: set[str]) -> Iterator[str]:
    """What was there and is not any more; `sent` are the records that clients send.

    Such a record must not require more, any other must not leave out what was always there.
    """
    for name, record in recorded.items():
        if name not in now:
            yield name
            continue
        required, was = set(now[name]["required"]), set(record["required"])
        more = required - was if name in sent else was - required
        yield from (f"{name}.{field} is required or not" for field in sorted(more))
        for field, types in record["properties"].items():
            found = now[name]["properties"].get(field)
            if found is None:
                yield f"{name}.{field}"
            elif not set(types) <= set(found):
                yield f"{name}.{field}: {sorted(set(types) - set(found))}"
