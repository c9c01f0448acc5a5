"""Forms of what operations take: fields from the request models, and back to the JSON of a body."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import orjson
from pydantic import JsonValue

from roost.console.api import Json
from roost.console.schemas import Schemas, properties, text_of, type_of
from roost.console.words import words

Kind = Literal[
    "text", "secret", "long", "number", "switch", "choice", "lines", "json", "group", "rows"
]
Sent = Mapping[str, Sequence[str]]
"""Of a form: what it says of each name."""

_LONG = 256
"""Characters from which on a text has more than one line."""
NULL = "null"
"""Of a choice: that it is null, where a field that is left out would stay as it is."""
MAX_ROWS = 1000
_WHOLE = frozenset({"devices", "updates"})
"""Groups that the API takes in place of all that they were."""
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
    """Of a group; of rows, those of one, which are named `<name>.#.<field>`."""
    encoded: bool = False
    """Whether the API wants base64 of what is typed."""

    @property
    def id(self) -> str:
        """In the page."""
        return "f-" + self.name.replace(".", "-")

    @property
    def title(self) -> str:
        return words(self.name.rpartition(".")[2].removesuffix("_id"))

    def at(self, number: int) -> Sequence["Field"]:
        """The fields of one row."""
        return [
            _numbered(each, f"{self.name}.#.", f"{self.name}.{number}.") for each in self.fields
        ]


def _numbered(field: Field, before: str, after: str) -> Field:
    inner = [_numbered(each, before, after) for each in field.fields]
    return replace(field, name=field.name.replace(before, after, 1), fields=inner)


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
    inner = schema.get("items")
    items = schemas.resolved(inner) if isinstance(inner, dict) else {}
    kind = _kind(name, schema, items)
    return Field(
        name=name,
        kind=kind,
        text=text_of(schema.get("description")),
        required=required,
        type=type_of(items if kind == "lines" else schema) or "string",
        default=schema.get("default"),
        options=_options(schema) or _options(items),
        limits={key: schema[key] for key in ("maxLength", "minimum", "maximum") if key in schema},
        fields=_inner(schemas, name, kind, schema, items),
        encoded=schema.get("contentEncoding") == "base64",
    )


def _inner(schemas: Schemas, name: str, kind: Kind, schema: Json, items: Json) -> list[Field]:
    if kind == "group":
        return fields_of(schemas, schema, f"{name}.")
    return fields_of(schemas, items, f"{name}.#.") if kind == "rows" else []


_KINDS: Mapping[str, Kind] = {
    "boolean": "switch",
    "integer": "number",
    "number": "number",
    "object": "json",
    "": "json",
}


def _kind(name: str, schema: Json, items: Json) -> Kind:
    kind = type_of(schema)
    if "properties" in schema:
        return "group"
    if kind == "array":
        plain = type_of(items) in ("string", "integer", "number")
        return "rows" if "properties" in items else "lines" if plain else "json"
    if "enum" in schema or "const" in schema:
        return "choice"
    return _KINDS.get(kind) or _kind_of_text(name, schema)


def _kind_of_text(name: str, schema: Json) -> Kind:
    last = name.rpartition(".")[2]
    if any(word in last for word in _SECRETS) and "id" not in last.split("_"):
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
        elif each.kind == "rows":
            rows = value if isinstance(value, list) else []
            for number, row in enumerate(rows):
                values.update(values_of(each.at(number), row if isinstance(row, dict) else {}))
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
                body[key] = body_of(each.fields, sent, {}) if key in _WHOLE else inner
        elif each.kind == "rows":
            rows = _rows(each, sent)
            was = _rows(each, {name: [text] for name, text in former.items()})
            if each.name in sent and rows != was:
                body[key] = rows
        elif each.name in sent:
            text = ("\n" if each.kind == "lines" else " ").join(sent[each.name])
            text = text.replace("\r\n", "\n")
            if text.strip("\n") != former.get(each.name, "").strip("\n"):
                body[key] = _value(each, text)
    return body


def rows_in(field: Field, names: Iterable[str]) -> int:
    """How many rows of it these names say something of."""
    start = field.name + "."
    found = (name.removeprefix(start).partition(".")[0] for name in names if name.startswith(start))
    return min(
        max((int(n) + 1 for n in found if n.isdecimal() and len(n) < 5), default=0), MAX_ROWS
    )


def _rows(field: Field, sent: Sent) -> list[JsonValue]:
    """All that say something; of each, what it says."""
    found = (body_of(field.at(number), sent, {}) for number in range(rows_in(field, sent)))
    return [row for row in found if row]


def _value(field: Field, text: str) -> JsonValue:
    if field.kind == "lines":
        lines = [line.strip() for line in text.split("\n")]
        return [_scalar(field.type, line) for line in lines if line]
    if (text == "" and field.type != "string") or (field.kind == "choice" and text == NULL):
        return None
    return base64.b64encode(text.encode()).decode() if field.encoded else _scalar(field.type, text)


def _scalar(kind: str, text: str) -> JsonValue:
    if kind == "string":
        return text
    try:
        value: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value
