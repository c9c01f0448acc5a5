"""Whatever a caller can choose has a bound: every string, array and free object of every body."""

import time
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Literal, Union, cast, get_args, get_origin

import orjson
import pytest
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from roost.app.groups import GROUPS
from roost.app.lab import bodies as lab
from roost.app.roost import Roost
from roost.errors import MAX_PROBLEMS
from roost.web.bodies import Body
from roost.web.checks import Checks
from roost.web.fields import Length, Pattern
from roost.web.registry import Registry
from tests.support.client import Client

_MOST_CHARACTERS = 1024 * 1024
_MOST_ITEMS = 10_000
_SHORT_FORMATS = ("date-time",)

Schema = dict[str, object]


def models() -> list[type[Body]]:
    found = {e.body for e in Registry(GROUPS.endpoints) if e.body is not None}
    found |= {m for m in vars(lab).values() if isinstance(m, type) and issubclass(m, Body)}
    found.discard(Body)
    return sorted(found, key=lambda model: model.__name__)


MODELS = models()
DEFINITIONS = cast(
    "dict[str, Schema]",
    models_json_schema([(model, "validation") for model in MODELS])[1]["$defs"],
)


def unbounded(schema: Schema, path: str) -> Iterator[str]:
    """The places of a schema that may be as long as a caller likes."""
    for part in parts(schema):
        yield from unbounded(part, path)
    match schema.get("type"):
        case "string" if not is_short(schema):
            yield path
        case "array":
            if not most(schema, "maxItems") <= _MOST_ITEMS:
                yield path
            yield from unbounded(cast("Schema", schema["items"]), f"{path}[]")
        case "object":
            members = cast("dict[str, Schema]", schema.get("properties", {}))
            for name, member in members.items():
                yield from unbounded(member, f"{path}.{name}")
            if schema.get("additionalProperties") and most(schema, "maxProperties") > _MOST_ITEMS:
                yield f"{path}.*"


def parts(schema: Schema) -> list[Schema]:
    return [
        p for key in ("anyOf", "allOf", "oneOf") for p in cast("list[Schema]", schema.get(key, []))
    ]


def is_short(schema: Schema) -> bool:
    if "enum" in schema or "const" in schema or schema.get("format") in _SHORT_FORMATS:
        return True
    return most(schema, "maxLength") <= _MOST_CHARACTERS


def most(schema: Schema, bound: str) -> float:
    return cast("float", schema.get(bound, float("inf")))


def test_nothing_is_without_a_bound() -> None:
    assert [place for name in DEFINITIONS for place in unbounded(DEFINITIONS[name], name)] == []


def test_a_schema_without_bounds_is_found_out() -> None:
    text: Schema = {"type": "string"}
    free: Schema = {
        "type": "object",
        "properties": {"a": text, "b": {"anyOf": [{"type": "array", "items": text}]}},
        "additionalProperties": True,
    }
    assert list(unbounded(free, "x")) == ["x.a", "x.b", "x.b[]", "x.*"]


def sized(annotation: object, checks: Sequence[object], path: str) -> Iterator[str]:
    """The types within an annotation that can be long, whose first check is not their length."""
    if get_origin(annotation) is Annotated:
        inner, *outer = get_args(annotation)
        yield from sized(inner, [*outer, *checks], path)
        return
    long = annotation is str or get_origin(annotation) in (list, dict)
    if long and Length not in [type(check) for check in checks if not is_silent(check)][:1]:
        yield path
    if get_origin(annotation) is not Literal:
        apart = isinstance(annotation, UnionType) or get_origin(annotation) is Union
        inside = get_args(annotation)
        for part in inside[1:] if get_origin(annotation) is dict else inside:
            yield from sized(part, checks if apart else (), f"{path}[]" if long else path)


def is_silent(check: object) -> bool:
    """Whether it only says something in the document, or of the field as a whole."""
    return isinstance(check, FieldInfo) or type(check).__module__ == "pydantic.config"


def test_lengths_are_checked_first() -> None:
    fields = [(f"{m.__name__}.{name}", f) for m in MODELS for name, f in m.model_fields.items()]
    assert [place for name, f in fields for place in sized(f.annotation, f.metadata, name)] == []


def test_a_field_whose_length_is_checked_late_is_found_out() -> None:
    late = Pattern("[a-z]*", "Must be small"), Length(0, 5)
    assert list(sized(str, late, "x")) == ["x"]
    assert list(sized(list[Annotated[str, *late]] | None, [Length(0, 5)], "x")) == ["x[]"]
    assert list(sized(dict[str, str], [], "x")) == ["x", "x[]"]
    assert list(sized(Annotated[str, Length(0, 5)], late[:1], "x")) == []


async def test_no_answer_lists_more_than_a_hundred_problems(client: Client) -> None:
    grants = [{"id": n} for n in range(10_000)]
    answer = await client.send("PUT", "/account/users/nobody/grants", {"compute": grants})
    assert answer.status == 404, "the object comes first"
    keys = {"authorized_keys": ["no key"] * 100, "image": 5, "root_pass": 5}
    answer = await client.send("POST", "/compute/instances", keys)
    assert (answer.status, len(answer.problems)) == (400, MAX_PROBLEMS)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/volumes", {"label": "x", "region": "us-lake", "tags": [1] * 300_000}),
        ("/compute/instances", {"interfaces": [{}] * 200_000}),
        ("/tags", {"label": "many", "computes": ["x"] * 200_000}),
    ],
)
async def test_a_list_that_is_too_long_is_one_problem(
    client: Client, path: str, body: dict[str, object]
) -> None:
    answer = await client.send("POST", path, body)
    assert answer.status == 400
    assert len(answer.raw) < 1000
    field = next(name for name, value in body.items() if isinstance(value, list))
    reason = dict(answer.problems)[field]
    assert reason.startswith("Length must be 0-")
    assert reason.endswith(" items")


async def test_such_a_list_costs_no_more_than_its_json(roost: Roost) -> None:
    """Nothing is made of its items: a tenth of the time in which they would be checked."""
    model = next(model for model in MODELS if model.__name__ == "CreateTag")
    raw = orjson.dumps({"label": "many", "computes": ["x"] * 200_000})
    began = time.process_time()
    for _ in range(3):
        with pytest.raises(ValueError, match="Length must be"):
            model.model_validate(orjson.loads(raw), context=Checks(roost.services))
    assert time.process_time() - began < 3 * 0.2
