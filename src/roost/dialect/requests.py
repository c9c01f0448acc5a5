"""Bodies of requests, and links, in our words."""

import re
from collections.abc import Mapping
from functools import cache

import orjson

from roost.dialect import paths
from roost.dialect.table import Dialect, Dropped
from roost.dialect.texts import exchange_scopes
from roost.web.bodies import MAX_DEPTH
from roost.web.translation import Json, parse


def translate_body(
    dialect: Dialect, path: str, body: bytes, stored: Mapping[str, Json] | None = None
) -> bytes:
    """A JSON body of our path; as it is when it is none, so that the API can say what is wrong.

    `stored` is the record that it changes, where that matters.
    """
    data = parse(body)
    if data is None:
        return body
    said = back(dialect, data)
    assert isinstance(said, dict)
    known = {**(stored or {}), **said}
    for rule in _dropped(dialect, path):
        if any(known.get(key, value) != value for key, value in rule.unless.items()):
            said.pop(rule.field, None)
    return body if said == data else orjson.dumps(said)


def depends(dialect: Dialect, path: str, body: bytes) -> bool:
    """Whether what a body means depends on the record of the path, which it does not say itself."""
    rules = _dropped(dialect, path)
    if not rules or (data := parse(body)) is None:
        return False
    return any(rule.field in data and not rule.unless.keys() & data.keys() for rule in rules)


def back(dialect: Dialect, data: Json, field: str = "", depth: int = 0) -> Json:
    """JSON of theirs in our words. What is too deep for the API is left to it."""
    if isinstance(data, str):
        return value_back(dialect, field, data)
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


def value_back(dialect: Dialect, field: str, text: str) -> str:
    """What a field says, in our words."""
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
