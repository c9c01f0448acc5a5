"""The header X-Filter in our words.

What it asks of fields that only later revisions have is decided here: what such a field says is
known beforehand.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import partial

import orjson

from roost.dialect.answers import Schema, concerns, fields_of, shape_of
from roost.dialect.requests import value_back
from roost.dialect.table import Dialect
from roost.web.bodies import MAX_DEPTH
from roost.web.openapi.schemas import row_of
from roost.web.registry import Endpoint
from roost.web.translation import Json, Rewrite

_ORDER = ("+order_by", "+order")

Later = Mapping[str, object]
"""What fields of later revisions say in each row of a list."""


NO_FIELDS: Later = {}


class Known(Enum):
    """What is known of a filter, or a part of one, whatever the rows are."""

    ALL = "all rows pass"
    NONE = "no row passes"


ANY = object()
"""What is equal to whatever it is compared with."""


def compile_filters(
    dialect: Dialect, endpoints: Iterable[Endpoint], schemas: Mapping[str, Schema]
) -> dict[str, Rewrite]:
    """How the header is changed, by operation."""
    return {
        each.name: partial(
            translate_filter,
            dialect,
            later=later_fields(dialect, each, schemas),
            nothing=nothing_of(each),
        )
        for each in endpoints
        if each.filters
    }


def later_fields(dialect: Dialect, endpoint: Endpoint, schemas: Mapping[str, Schema]) -> Later:
    """Those of the rows of a list."""
    row = row_of(endpoint.returns)
    if row is None:
        return {}
    fields = fields_of(row.__name__, schemas)
    found: dict[str, object] = {}
    for added in dialect.added:
        if concerns(added, endpoint) and added.beside in fields.schemas:
            found.update(added.fields)
    shape = shape_of(endpoint)
    found.update({rule.field: ANY for rule in dialect.unfiltered if rule.path == shape})
    return {name: value for name, value in found.items() if name not in endpoint.filters}


def translate_filter(
    dialect: Dialect, text: bytes, later: Later = NO_FIELDS, nothing: Json = None
) -> bytes:
    """The header X-Filter; as it is when it is no JSON. No row passes the filter `nothing`."""
    try:
        data: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if later and isinstance(data, dict):
        if data.get("+order_by") in later:
            # All rows say the same.
            data = {key: value for key, value in data.items() if key not in _ORDER}
        match _decided(data, later, 0):
            case Known.ALL:
                data = {}
            case Known.NONE:
                data = nothing
            case left:
                data = left
    return orjson.dumps(_filter(dialect, data, "", 0))


def nothing_of(endpoint: Endpoint) -> Json:
    """A filter that no row of a list passes; None where lists have no filters."""
    column = next(iter(endpoint.filters), None)
    return None if column is None else {"+and": [{column: None}, {column: {"+neq": None}}]}


def _decided(data: Json, later: Later, depth: int) -> Json | Known:
    """A filter without what is known. What is no filter is left to the API."""
    if not isinstance(data, dict) or depth > MAX_DEPTH:
        return data
    kept: dict[str, Json] = {}
    for key, value in data.items():
        left = _member(key, value, later, depth)
        if left is Known.NONE:
            return Known.NONE
        if not isinstance(left, Known):
            kept[key] = left
    return kept if kept or not data else Known.ALL


def _member(key: str, value: Json, later: Later, depth: int) -> Json | Known:
    name = key.partition(".")[0]
    if name in later:
        return Known.ALL if _holds(value, later[name]) else Known.NONE
    if key not in ("+and", "+or") or not isinstance(value, list) or not value:
        return value
    parts = [_decided(part, later, depth + 1) for part in value]
    decides, else_ = (Known.ALL, Known.NONE) if key == "+or" else (Known.NONE, Known.ALL)
    if decides in parts:
        return decides
    return [part for part in parts if not isinstance(part, Known)] or else_


def _holds(wanted: Json, said: object) -> bool:
    """Whether a field that says this is what a filter wants."""
    if said is ANY:
        return True
    if not isinstance(wanted, dict):
        return wanted == said
    return all(_compared(name, value, said) for name, value in wanted.items())


def _compared(operator: str, value: Json, said: object) -> bool:
    match operator, value, said:
        case "+or", list(), _:
            return any(_holds(each, said) for each in value)
        case "+neq", _, _:
            return value != said
        case "+contains", str(), str():
            return value.lower() in said.lower()
        case (("+gt" | "+gte" | "+lt" | "+lte"), int() | float(), int() | float()):
            more, less = said > value, said < value
            return {"+gt": more, "+gte": not less, "+lt": less, "+lte": not more}[operator]
    return False


def _filter(dialect: Dialect, data: Json, field: str, depth: int) -> Json:
    """Operators stand between a field and its value, and fields of fields have dots."""
    if isinstance(data, str):
        if field == "+order_by":
            return _dotted(dialect, data)
        return value_back(dialect, field.rpartition(".")[2], data)
    if depth > MAX_DEPTH:
        return data
    if isinstance(data, list):
        return [_filter(dialect, item, field, depth + 1) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        key if key.startswith("+") else _dotted(dialect, key): _filter(
            dialect, value, field if _is_operator(key) else key, depth + 1
        )
        for key, value in data.items()
    }


def _is_operator(key: str) -> bool:
    return key.startswith("+") and key != "+order_by"


def _dotted(dialect: Dialect, field: str) -> str:
    return ".".join(dialect.keys_exchanged.get(part, part) for part in field.split("."))
