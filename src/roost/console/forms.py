"""Forms of what operations take: fields from the request models, and back to the JSON of a body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson
from pydantic import JsonValue

from roost.console.api import Json
from roost.console.schemas import Schemas, properties, text_of, type_of

Kind = Literal["text", "secret", "long", "number", "switch", "choice", "lines", "json", "group"]
Sent = Mapping[str, Sequence[str]]
"""Of a form: what it says of each name."""

_LONG = 256
"""Characters from which on a text has more than one line."""
_SECRETS = ("pass", "cvv", "secret")


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """One input, or with `fields` a group of them. Its name is the API's dotted path."""

    name: str
    kind: Kind
    text: str
    """What the API's document says of it."""
    required: bool
    type: str
    """Of JSON; of a list, that of an item."""
    default: JsonValue = None
    options: Sequence[Option] = ()
    limits: Mapping[str, JsonValue] = field(default_factory=dict)
    fields: Sequence["Field"] = ()

    @property
    def id(self) -> str:
        """In the page."""
        return "f-" + self.name.replace(".", "-")

    @property
    def title(self) -> str:
        last = self.name.rpartition(".")[2].replace("_", " ")
        return last[:1].upper() + last[1:]


def fields_of(schemas: Schemas, schema: Json, prefix: str = "") -> list[Field]:
    """Of a request model, but for what is deprecated."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return [
        _field(schemas, prefix + name, schemas.resolved(described), name in names)
        for name, described in properties(schema)
        if not described.get("deprecated")
    ]


def _field(schemas: Schemas, name: str, schema: Json, required: bool) -> Field:
    kind, inner = type_of(schema), schema.get("items")
    items = schemas.resolved(inner) if isinstance(inner, dict) else {}
    return Field(
        name=name,
        kind=_kind(name, schema, kind, items),
        text=text_of(schema.get("description")),
        required=required,
        type=(type_of(items) or "string") if kind == "array" else kind or "string",
        default=schema.get("default"),
        options=_options(schema) or _options(items),
        limits={key: schema[key] for key in ("maxLength", "minimum", "maximum") if key in schema},
        fields=fields_of(schemas, schema, f"{name}.") if "properties" in schema else (),
    )


def _kind(name: str, schema: Json, kind: str, items: Json) -> Kind:
    if "properties" in schema:
        return "group"
    if kind == "array":
        return "lines" if type_of(items) in ("string", "integer", "number") else "json"
    if kind == "object" or kind == "":
        return "json" if "enum" not in schema else "choice"
    if "enum" in schema or "const" in schema:
        return "choice"
    if kind == "boolean":
        return "switch"
    if kind in ("integer", "number"):
        return "number"
    if any(word in name for word in _SECRETS) and "id" not in name.split("_"):
        return "secret"
    most = schema.get("maxLength")
    return "long" if isinstance(most, int) and most > _LONG else "text"


def _options(schema: Json) -> Sequence[Option]:
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if not isinstance(values, list):
        return ()
    return [Option(shown(each), shown(each)) for each in values if each is not None]


def shown(value: JsonValue) -> str:
    """As an input has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return "\n".join(str(each) for each in value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def values_of(fields: Sequence[Field], record: Json) -> dict[str, str]:
    """What a form begins with: a record's values, for those that may be changed."""
    values: dict[str, str] = {}
    for each in fields:
        value = record.get(each.name.rpartition(".")[2])
        if each.kind == "group":
            values.update(values_of(each.fields, value if isinstance(value, dict) else {}))
        elif each.kind != "secret":
            values[each.name] = shown(value)
    return values


def body_of(fields: Sequence[Field], sent: Sent, former: Mapping[str, str]) -> dict[str, JsonValue]:
    """What a form says. Fields that are left empty, or as they were, are left out.

    What is no number or JSON goes on as it is: the API says what is wrong with it.
    """
    body: dict[str, JsonValue] = {}
    for each in fields:
        key = each.name.rpartition(".")[2]
        if each.kind == "group":
            if inner := body_of(each.fields, sent, former):
                body[key] = inner
            continue
        lines = [text.replace("\r\n", "\n") for text in sent.get(each.name, ())]
        text = "\n".join(lines)
        if each.name not in sent or text == former.get(each.name, ""):
            continue
        body[key] = _value(each, text)
    return body


def _value(field: Field, text: str) -> JsonValue:
    if field.kind == "lines":
        lines = [line.strip() for line in text.split("\n")]
        return [_scalar(field.type, line) for line in lines if line]
    if text == "" and field.type != "string":
        return None
    return _scalar(field.type, text)


def _scalar(kind: str, text: str) -> JsonValue:
    if kind in ("string", ""):
        return text
    try:
        value: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value
