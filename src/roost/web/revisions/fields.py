"""Fields within records and within schemas, by dotted paths."""

from copy import deepcopy
from enum import Enum
from typing import Final, Literal

from roost.web.translation import Json

Record = dict[str, Json]
Schemas = dict[str, dict[str, Json]]


class _Missing(Enum):
    MISSING = "there is no such field"


MISSING: Final = _Missing.MISSING
Found = Json | Literal[_Missing.MISSING]

COMPONENT = "x-component"
"""Says of a schema that stands in the place of a reference what that was to."""


def take(record: Record, path: str) -> Found:
    """Remove a field, and what would be empty without it; MISSING where there is none."""
    first, _, rest = path.partition(".")
    if not rest:
        return record.pop(first, MISSING)
    within = record.get(first, MISSING)
    if not isinstance(within, dict):
        return MISSING
    found = take(within, rest)
    if found is not MISSING and not within:
        del record[first]
    return found


def get(record: Record, path: str) -> Found:
    first, _, rest = path.partition(".")
    found = record.get(first, MISSING)
    if not rest:
        return found
    return get(found, rest) if isinstance(found, dict) else MISSING


def put(record: Record, path: str, value: Json) -> None:
    """Set a field; where what should hold it is no object, nothing, so that the API refuses it."""
    first, _, rest = path.partition(".")
    if not rest:
        record[first] = value
    elif isinstance(within := record.setdefault(first, {}), dict):
        put(within, rest, value)


def take_schema(schema: Record, path: str, schemas: Schemas) -> tuple[Json, bool]:
    """Remove a field from the schema of a record: what it was, and whether it was always there.

    KeyError where there is none.
    """
    holder, last = _holder(schema, path, schemas, make=False)
    properties, required = holder["properties"], holder.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    found = properties.pop(last)
    if was := last in required:
        required.remove(last)
    first, _, rest = path.partition(".")
    if rest and not properties:
        take_schema(schema, first, schemas)
    return found, was


def put_schema(schema: Record, path: str, value: Json, schemas: Schemas, *, required: bool) -> None:
    """Add a field to the schema of a record."""
    holder, last = _holder(schema, path, schemas, make=True)
    properties, names = holder["properties"], holder.setdefault("required", [])
    assert isinstance(properties, dict)
    assert isinstance(names, list)
    properties[last] = value
    if required:
        names.append(last)


def _holder(schema: Record, path: str, schemas: Schemas, *, make: bool) -> tuple[Record, str]:
    """The object that has the field of a path, and the field's name there. A reference on the way
    becomes a copy of what it is to, as other records have that, too."""
    first, _, rest = path.partition(".")
    if not rest:
        return schema, first
    properties = schema["properties"]
    assert isinstance(properties, dict)
    if make and first not in properties:
        properties[first] = {"type": "object", "properties": {}}
        names = schema.setdefault("required", [])
        assert isinstance(names, list)
        names.append(first)
    within = properties[first]
    assert isinstance(within, dict)
    if isinstance(ref := within.get("$ref"), str):
        name = ref.rpartition("/")[2]
        within = {**deepcopy(schemas[name]), COMPONENT: name}
        properties[first] = within
    return _holder(within, rest, schemas, make=make)
