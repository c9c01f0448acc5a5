"""The fields of a request body as an HTML table, with an example."""

import html
from collections.abc import Iterator, Mapping, Sequence

import orjson

from roost.web.bodies import Body

Schema = Mapping[str, object]

_LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minimum": "from {}",
    "maximum": "to {}",
    "default": "default {}",
}


_NO_LIMITS: Sequence[object] = (None, [], "", 0, 2**31 - 1, 2**63 - 1)
"""What the machine, not the API, sets as a limit."""


def render_fields(body: type[Body]) -> str:
    """A section that opens on demand."""
    schema = body.model_json_schema()
    rows = "".join(_rows(schema, schema.get("$defs", {}), ""))
    head = "<tr><th>field</th><th>type</th><th>limits</th></tr>"
    return (
        f"<details><summary>Request fields</summary><table>{head}{rows}</table>"
        f"{_example(schema)}</details>"
    )


def _rows(schema: Schema, definitions: Mapping[str, Schema], prefix: str) -> Iterator[str]:
    required = schema.get("required")
    properties = schema.get("properties")
    assert isinstance(properties, Mapping)
    for name, described in properties.items():
        field = _resolve(described, definitions)
        star = " *" if isinstance(required, Sequence) and name in required else ""
        limits = ", ".join(_limits({**described, **field}))
        cells = (f"<code>{html.escape(prefix + name)}</code>{star}", _type(field), limits)
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        inner = _resolve(field.get("items", field), definitions)
        if "properties" in inner:
            suffix = "[]." if field.get("type") == "array" else "."
            yield from _rows(inner, definitions, f"{prefix}{name}{suffix}")


def _resolve(schema: object, definitions: Mapping[str, Schema]) -> Schema:
    """The schema itself, behind a reference and beside null."""
    assert isinstance(schema, Mapping)
    options = schema.get("anyOf")
    if isinstance(options, Sequence):
        return _resolve(next(o for o in options if o.get("type") != "null"), definitions)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return definitions[reference.rpartition("/")[2]]
    return schema


def _type(schema: Schema) -> str:
    kind = str(schema.get("type", "any"))
    items = schema.get("items")
    if isinstance(items, Mapping) and "type" in items:
        return f"array of {html.escape(str(items['type']))}"
    return html.escape(kind)


def _limits(schema: Schema) -> Iterator[str]:
    choices = schema.get("enum")
    if isinstance(choices, Sequence):
        yield "one of " + ", ".join(html.escape(str(choice)) for choice in choices)
    for key, text in _LIMITS.items():
        if schema.get(key) not in _NO_LIMITS:
            yield html.escape(text.format(orjson.dumps(schema[key]).decode()))


def _example(schema: Schema) -> str:
    examples = schema.get("examples")
    if not isinstance(examples, Sequence) or not examples:
        return ""
    text = orjson.dumps(examples[0], option=orjson.OPT_INDENT_2).decode()
    return f"<pre>{html.escape(text)}</pre>"
