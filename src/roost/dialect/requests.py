"""Requests in our words: bodies and the header X-Filter."""

import re
from collections.abc import Mapping
from functools import cache

import orjson

from roost.dialect import paths
from roost.dialect.table import Dialect, Dropped
from roost.dialect.texts import exchange_scopes
from roost.web.bodies import MAX_DEPTH

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def translate_body(dialect: Dialect, path: str, body: bytes) -> bytes:
    """A JSON body of our path; as it is when it is none, so that the API can say what is wrong."""
    try:
        data: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    if not isinstance(data, dict):
        return body
    said = back(dialect, data)
    assert isinstance(said, dict)
    for rule in _dropped(dialect, path):
        if any(said.get(key, value) != value for key, value in rule.unless.items()):
            said.pop(rule.field, None)
    return body if said == data else orjson.dumps(said)


def translate_filter(dialect: Dialect, text: bytes) -> bytes:
    """The header X-Filter; as it is when it is no JSON."""
    try:
        data: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return orjson.dumps(_filter(dialect, data, "", 0))


def back(dialect: Dialect, data: Json, field: str = "", depth: int = 0) -> Json:
    """JSON of theirs in our words. What is too deep for the API is left to it."""
    if isinstance(data, str):
        return _value(dialect, field, data)
    if depth > MAX_DEPTH:
        return data
    if isinstance(data, list):
        return [back(dialect, item, field, depth + 1) for item in data]
    if not isinstance(data, dict):
        return data
    names = dialect.keys_exchanged
    return {
        names.get(key, key): value
        if key in dialect.opaque_fields
        else back(dialect, value, key, depth + 1)
        for key, value in data.items()
    }


def _filter(dialect: Dialect, data: Json, field: str, depth: int) -> Json:
    """Operators stand between a field and its value, and fields of fields have dots."""
    if isinstance(data, str):
        if field == "+order_by":
            return _dotted(dialect, data)
        return _value(dialect, field.rpartition(".")[2], data)
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


def _value(dialect: Dialect, field: str, text: str) -> str:
    if field in dialect.scope_fields:
        return exchange_scopes(dialect, text.encode()).decode()
    if field in dialect.path_fields:
        return back_path(dialect, text)
    for rule in dialect.values_by_field.get(field, ()):
        for said in (rule.back(text), rule.forth(text)):
            if said is not None:
                return said
    return text


def back_path(dialect: Dialect, path: str) -> str:
    """The path of a link, with its version."""
    version = re.match(r"/v4(?:beta)?(?=/)", path)
    if version is None:
        return path
    return version[0] + paths.back(dialect, path[version.end() :])


@cache
def _patterns(dialect: Dialect) -> Mapping[Dropped, re.Pattern[str]]:
    return {
        rule: re.compile(re.escape(rule.path).replace(r"\{\}", "[^/]+") + r"(?:/[^/]+)?")
        for rule in dialect.dropped
    }


def _dropped(dialect: Dialect, path: str) -> list[Dropped]:
    return [rule for rule, pattern in _patterns(dialect).items() if pattern.fullmatch(path)]
