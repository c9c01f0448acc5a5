"""Filters of lists, as people say them: a field and a value, or the API's own words."""

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from roost.web.registry import Endpoint

FIELD, VALUE, ORDER, RAW = "where", "is", "order", "filter"
"""Parameters of a page's address; `-` before the field of an order turns it round."""
NAMES = (FIELD, VALUE, ORDER, RAW)


def filter_of(endpoint: Endpoint, asked: Mapping[str, str]) -> str | None:
    """The X-Filter of an address; None where it wants all, in the list's own order."""
    if raw := asked.get(RAW):
        return raw
    wanted: dict[str, JsonValue] = {}
    field, value = asked.get(FIELD, ""), asked.get(VALUE, "")
    if field and value:
        wanted[field] = _condition(endpoint, field, value)
    if order := asked.get(ORDER):
        wanted["+order_by"] = order.removeprefix("-")
        wanted["+order"] = "desc" if order.startswith("-") else "asc"
    return orjson.dumps(wanted).decode() if wanted else None


def _condition(endpoint: Endpoint, field: str, value: str) -> JsonValue:
    column = endpoint.filters.get(field)
    kind = "text" if column is None else column.type
    if kind in ("text", "id", "texts"):
        return {"+contains": value}
    if kind == "time":
        return {"+gte": value if "T" in value else f"{value}T00:00:00"}
    try:
        found: JsonValue = orjson.loads({"yes": "true", "no": "false"}.get(value, value))
    except orjson.JSONDecodeError:
        return value
    return value if isinstance(found, list | dict) else found
