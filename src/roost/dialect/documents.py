"""The OpenAPI document in their words."""

from collections.abc import Iterator, Mapping

import orjson

from roost.dialect import clusters
from roost.dialect.answers import concerns, fields_of, shape_of
from roost.dialect.table import Added, Copied, Dialect
from roost.dialect.texts import exchange_scopes, say
from roost.web.openapi import build_document
from roost.web.openapi.schemas import row_of
from roost.web.registry import Registry
from roost.web.translation import Json

_WORDS = ("enum", "const", "examples", "example", "default")


def translate_document(dialect: Dialect, registry: Registry) -> bytes:
    """JSON. Names of fields, paths, scopes and texts are words in it as in any text; what fields
    may hold is changed by their own rules."""
    document = orjson.loads(build_document(registry))
    schemas = document["components"]["schemas"]
    _add_fields(dialect, registry, schemas)
    clusters.describe(schemas)
    for schema in schemas.values():
        _visit(dialect, schema)
    text = exchange_scopes(dialect, orjson.dumps(document))
    return say(dialect, text.decode()).encode()


def _visit(dialect: Dialect, schema: Json) -> None:
    if isinstance(schema, list):
        for item in schema:
            _visit(dialect, item)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, described in properties.items():
            _translate_words(dialect, name, described)
    for part in schema.values():
        _visit(dialect, part)


def _translate_words(dialect: Dialect, field: str, described: Json) -> None:
    """What an enumeration, or an example, says of a field."""
    rules = dialect.values_by_field.get(field, ())
    if not rules or not isinstance(described, dict):
        return
    for part in (described, *_options(described)):
        for word in _WORDS:
            if word in part:
                part[word] = _forth(dialect, field, part[word])


def _options(described: dict[str, Json]) -> list[dict[str, Json]]:
    options = described.get("anyOf")
    return [each for each in options if isinstance(each, dict)] if isinstance(options, list) else []


def _forth(dialect: Dialect, field: str, value: Json) -> Json:
    if isinstance(value, list):
        return [_forth(dialect, field, each) for each in value]
    if not isinstance(value, str):
        return value
    said = (rule.forth(value) for rule in dialect.values_by_field[field])
    return next((each for each in said if each is not None), value)


def _add_fields(
    dialect: Dialect, registry: Registry, schemas: Mapping[str, dict[str, Json]]
) -> None:
    for added in dialect.added:
        said = {
            key: {**_type_of(value), "description": f"Always so: {added.reason}."}
            for key, value in added.fields.items()
        }
        for properties in _records_with(added, added.beside, registry, schemas):
            properties.update(said)
    for copied in dialect.copied:
        for properties in _records_with(copied, copied.field, registry, schemas):
            properties[copied.later] = properties[copied.field]
    for row in {row_of(e.returns) for e in registry if shape_of(e) in dialect.doubled_paths}:
        assert row is not None
        record = schemas[row.__name__]["properties"]
        assert isinstance(record, dict)
        within: Json = {"type": "object", "properties": {**record}, "description": "All of it."}
        record["data"] = within


def _records_with(
    rule: Added | Copied, field: str, registry: Registry, schemas: Mapping[str, dict[str, Json]]
) -> Iterator[dict[str, Json]]:
    """The properties of records that a rule is about."""
    for row in {row_of(e.returns) for e in registry if concerns(rule, e)} - {None}:
        assert row is not None
        fields = fields_of(row.__name__, schemas)
        for name in fields.named if field in fields.schemas else ():
            properties = schemas[name].get("properties")
            if isinstance(properties, dict) and field in properties:
                yield properties


def _type_of(value: object) -> dict[str, Json]:
    match value:
        case None:
            return {"type": "null"}
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case str():
            return {"type": "string"}
        case list():
            return {"type": "array", "items": {}}
        case _:
            return {"type": "object"}
