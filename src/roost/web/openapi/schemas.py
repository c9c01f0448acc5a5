"""The components of the document: what is sent and what is answered."""

import re
from collections.abc import Iterable, Mapping

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from roost.core.billing.price_changes import DryRunRow
from roost.errors import ErrorBody
from roost.web.bodies import Body, or_null
from roost.web.openapi.docstrings import field_texts, paragraphs
from roost.web.openapi.examples import recorded
from roost.web.registry import Binary, Endpoint, Returns
from roost.web.reply import Warned

_REF = "#/components/schemas/{model}"


def reference(kind: type) -> Mapping[str, str]:
    return {"$ref": _REF.format(model=kind.__name__)}


def row_of(returns: Returns) -> type | None:
    """The record that an answer is, or is made of."""
    if returns is None or isinstance(returns, Binary):
        return None
    return returns if isinstance(returns, type) else returns.row


def build_schemas(endpoints: Iterable[Endpoint]) -> dict[str, dict[str, object]]:
    """All components by name; raises ValueError when two would have the same."""
    endpoints = list(endpoints)
    bodies = {e.body for e in endpoints if e.body is not None}
    rows = {row for e in endpoints if (row := row_of(e.returns)) is not None}
    rows |= {ErrorBody, DryRunRow, Warned}
    _check_unique((*bodies, *rows))
    schemas: dict[str, dict[str, object]] = {}
    for definitions in (_body_schemas(bodies), _row_schemas(rows)):
        clash = schemas.keys() & definitions.keys()
        if clash:
            raise ValueError(f"two components have the names {sorted(clash)}")
        schemas.update(definitions)
    for name, example in recorded().items():
        if name in schemas:
            schemas[name]["examples"] = [example]
    for endpoint in endpoints:
        _mark_filterable(endpoint, schemas)
    return schemas


def _check_unique(records: Iterable[type]) -> None:
    """The document has one list of records for all groups."""
    by_name: dict[str, type] = {}
    for record in records:
        other = by_name.setdefault(record.__name__, record)
        if other is not record:
            places = sorted((record.__module__, other.__module__))
            raise ValueError(f"{' and '.join(places)} both have a record {record.__name__}")


def _mark_filterable(endpoint: Endpoint, schemas: Mapping[str, Mapping[str, object]]) -> None:
    """Fields of nested records are named by the operation only: others nest the same records."""
    row = row_of(endpoint.returns)
    properties = {} if row is None else schemas[row.__name__].get("properties", {})
    assert isinstance(properties, dict)
    for name in endpoint.filters:
        if name in properties:
            properties[name]["x-filterable"] = True


class _Generator(GenerateJsonSchema):
    """Adds the fields' texts; titles would only repeat the names."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """As they are declared: fields of an example stand in the order of the record."""
        return value

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return or_null(self.generate_inner(schema["schema"]))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Not of a nested record: its own fields have theirs, and openapi-python-client leaves an
        operation out whose body has such a default."""
        described = super().default_schema(schema)
        if isinstance(described.get("default"), Mapping):
            del described["default"]
        return described

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        described = super().typed_dict_schema(schema)
        cls = schema.get("cls")
        if cls is not None:
            _describe(described, cls, field_texts(cls))
        return described

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        cls = schema["cls"]
        names = {name: field.alias or name for name, field in cls.model_fields.items()}
        texts = field_texts(cls).items()
        _describe(described, cls, {names.get(name, name): text for name, text in texts})
        return described


def _describe(schema: JsonSchemaValue, cls: type, texts: Mapping[str, str]) -> None:
    schema.pop("title", None)
    if "description" in schema:
        schema["description"] = paragraphs(schema["description"])
    for name, described in schema.get("properties", {}).items():
        if name in texts:
            described["description"] = texts[name]


def _body_schemas(bodies: Iterable[type[Body]]) -> dict[str, dict[str, object]]:
    models = sorted(bodies, key=lambda model: model.__name__)
    _, schema = models_json_schema(
        [(m, "validation") for m in models], ref_template=_REF, schema_generator=_Generator
    )
    definitions: dict[str, dict[str, object]] = schema.get("$defs", {})
    return definitions


def _row_schemas(rows: Iterable[type]) -> dict[str, dict[str, object]]:
    adapters: list[tuple[str, TypeAdapter[object]]] = [
        (r.__name__, TypeAdapter(r)) for r in sorted(rows, key=lambda r: r.__name__)
    ]
    _, schema = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in adapters],
        ref_template=_REF,
        schema_generator=_Generator,
    )
    definitions: dict[str, dict[str, object]] = schema.get("$defs", {})
    _check_names(definitions)
    return definitions


def _check_names(definitions: Iterable[str]) -> None:
    odd = [name for name in definitions if not re.fullmatch(r"\w+", name)]
    if odd:
        raise ValueError(f"these rows have equal names: {odd}")
