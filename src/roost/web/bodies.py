"""Request bodies: JSON text to a model, or every reason why not."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeVar, get_args

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from roost.core.context import Context
from roost.errors import ApiError, Problem, invalid, invalid_fields
from roost.services import Services
from roost.web.checks import Checks
from roost.web.fields import WHOLE

B = TypeVar("B", bound="Body")

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NULL = {"type": "null"}
_OF_FIELDS = ("default", "deprecated", "description")
"""What the schema of a field says beside what its value is."""
MAX_DEPTH = 64
"""Objects and arrays within each other; Python's own limit would end in an error of ours."""
MAX_FIELDS = 1000
"""Of an object, with those that are ignored."""


def or_null(schema: JsonSchemaValue) -> JsonSchemaValue:
    """The schema of a value that may also be null."""
    if _NULL in schema.get("anyOf", ()) or "null" in schema.get("type", ()):
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema and "const" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, _NULL]}


class Body(BaseModel):
    """Base of all request models.

    Types are strict. Unknown keys are ignored, as clients send whole records back. `null` for a
    field that is not declared nullable means that the field was omitted.
    """

    model_config = ConfigDict(strict=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _drop_omitted(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        if len(data) > MAX_FIELDS:
            raise PydanticCustomError(
                "too_many_fields", "Must have at most {most} fields", {"most": MAX_FIELDS}
            )
        nullable = cls._nullable()
        return {k: v for k, v in data.items() if v is not None or k in nullable}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        model = handler.resolve_ref_schema(described)
        required = model.get("required", ())
        for name, field in model.get("properties", {}).items():
            if "default" in field and field["default"] is None:
                del field["default"]
            if name not in required:
                outside = {key: field.pop(key) for key in _OF_FIELDS if key in field}
                model["properties"][name] = {**or_null(field), **outside}
        return described

    @classmethod
    @cache
    def _nullable(cls) -> frozenset[str]:
        fields = cls.model_fields.items()
        return frozenset(name for name, f in fields if type(None) in get_args(f.annotation))


async def read_body(model: type[B], raw: bytes, context: Context) -> B:
    """The validated body; raises 400 with all problems in field order.

    A body that refers to something is validated twice: to know all that it names, and with what
    was found of that. Raises 401 or 403 for names that the caller may not use.
    """
    data, checks = _decode(raw), Checks(context.services)
    try:
        body = _validate(model, data, checks)
    except ApiError:
        if not checks.references.pending():
            raise
    else:
        if not checks.references.pending():
            return body
    await checks.references.look_up(context)
    body = _validate(model, data, checks)
    assert not checks.references.pending(), "a reference was met in the second pass only"
    return body


def parse_body(model: type[B], raw: bytes, services: Services) -> B:
    """The validated body of a request, when it names nothing in the database."""
    return _validate(model, _decode(raw), Checks(services))


def _decode(raw: bytes) -> dict[str, object]:
    """The JSON object; raises 400 for what is none, and for texts that no field can hold."""
    data = _parse(raw)
    if b"\\u0000" in raw:
        texts = ((path, leaf) for path, leaf in _leaves(data) if isinstance(leaf, str))
        problems = [Problem(_NUL, path) for path, text in texts if "\0" in text]
        if problems:
            raise invalid_fields(problems)
    return data


def _validate(model: type[B], data: dict[str, object], checks: Checks) -> B:
    try:
        return model.model_validate(data, context=checks)
    except ValidationError as error:
        raise _refusal(error) from None


def _parse(raw: bytes) -> dict[str, object]:
    if not raw:
        return {}
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise _broken(raw) from None
    if not isinstance(data, dict):
        raise invalid("The body must be a JSON object")
    if is_too_deep(raw, data):
        raise invalid(f"The body must not be nested deeper than {MAX_DEPTH} levels")
    return data


_NUL = "Must not contain NUL characters"
_NOT_UTF8 = "Must be valid UTF-8"
_NOT_64_BITS = "Must be a number of at most 64 bits"
_LONG_NUMBER = 24
"""Characters of an integer that may still fit."""


def _broken(raw: bytes) -> ApiError:
    """Names the fields whose text or number is wrong, where nothing else of the JSON is."""
    try:
        data = json.loads(
            raw.decode("utf-8", "surrogateescape"),
            strict=False,
            parse_int=_read_integer,
            parse_constant=_refuse_constant,
        )
        problems = [Problem(reason, path) for path, reason in _leaf_problems(data)]
    except (ValueError, RecursionError):
        return invalid("Invalid JSON")
    return invalid_fields(problems) if problems else invalid("Invalid JSON")


def _read_integer(text: str) -> int | float:
    return int(text) if len(text) <= _LONG_NUMBER else math.inf


def _refuse_constant(name: str) -> float:
    """NaN and Infinity, which are no JSON."""
    raise ValueError(name)


def _leaf_problems(data: object) -> Iterator[tuple[str, str]]:
    for path, value in _leaves(data):
        if not path.isprintable():
            continue
        if isinstance(value, float) and math.isinf(value):
            yield path, _NOT_64_BITS
        elif isinstance(value, str) and _LONE_SURROGATE.search(value):
            yield path, _NOT_UTF8
        elif isinstance(value, str) and "\0" in value:
            yield path, _NUL


def is_too_deep(raw: bytes, data: object) -> bool:
    """Whether JSON and what it says are nested deeper than a body may be."""
    return raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _is_deeper(data, MAX_DEPTH)


def _is_deeper(value: object, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [child for item in level for child in _children(item)]
    return any(isinstance(item, dict | list) for item in level)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """All values that are neither objects nor arrays, with their paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def _refusal(error: ValidationError) -> ApiError:
    details = error.errors(include_url=False, include_input=False)
    return invalid_fields([Problem(_reason(d), _path(_location(d)) or None) for d in details])


def _location(detail: ErrorDetails) -> tuple[int | str, ...]:
    within = detail.get("ctx", {}).get("within")
    if within == WHOLE:
        return detail["loc"][:-1]
    return (*detail["loc"], within) if within else detail["loc"]


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


_TYPE_REASONS = {
    "string_type": "Must be a string",
    "int_type": "Must be an integer",
    "int_parsing_size": "Must be an integer of at most 64 bits",
    "bool_type": "Must be true or false",
    "list_type": "Must be an array",
    "dict_type": "Must be an object",
    "model_type": "Must be an object",
    "float_type": "Must be a number",
}


def _reason(detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "missing":
        return f"{detail['loc'][-1]} is required"
    if kind == "literal_error":
        expected = str(detail["ctx"]["expected"])
        return "Must be one of " + expected.replace("'", "").replace(" or ", ", ")
    return _TYPE_REASONS.get(kind) or detail["msg"]
