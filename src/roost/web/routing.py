"""Paths to endpoints: a tree of segments, so that the cost does not grow with the API.

A path template holds literals and parameters: `{regionId}` is one segment, `{computeId:int}` a
number, `{imageId:path}` the rest of the path, slashes included.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

from roost.ids import MAX_ID

T = TypeVar("T")
ParamKind = Literal["str", "int", "path"]
Params = Mapping[str, str | int]

_PARAM = re.compile(r"\{(\w+)(?::(int|path))?\}")
_DIGITS = re.compile(r"[0-9]{1,19}")


@cache
def path_params(template: str) -> Mapping[str, ParamKind]:
    """The parameters of a template, in order."""
    return MappingProxyType({name: _kind(kind) for name, kind in _PARAM.findall(template)})


def _kind(text: str | None) -> ParamKind:
    if text == "int":
        return "int"
    return "path" if text == "path" else "str"


def plain_path(template: str) -> str:
    """The template as OpenAPI writes it, without the kinds of its parameters."""
    return _PARAM.sub(r"{\1}", template)


@dataclass(slots=True)
class _Node(Generic[T]):
    literals: dict[str, "_Node[T]"] = field(default_factory=dict)
    params: list[tuple[str, ParamKind, "_Node[T]"]] = field(default_factory=list)
    methods: dict[str, T] = field(default_factory=dict)

    def child(self, segment: str) -> "_Node[T]":
        match = _PARAM.fullmatch(segment)
        if match is None:
            return self.literals.setdefault(segment, _Node())
        name, kind = match[1], _kind(match[2])
        for known_name, known_kind, node in self.params:
            if (known_name, known_kind) == (name, kind):
                return node
        node = _Node[T]()
        self.params.append((name, kind, node))
        return node


@dataclass(frozen=True, slots=True)
class Match(Generic[T]):
    """What a path offers: an endpoint per method, and the values of its parameters."""

    methods: Mapping[str, T]
    params: Params


class Router(Generic[T]):
    def __init__(self) -> None:
        self._root = _Node[T]()

    def add(self, method: str, template: str, target: T) -> None:
        """Raises ValueError when the template is taken."""
        node = self._root
        for segment in template.strip("/").split("/"):
            node = node.child(segment)
        if method in node.methods:
            raise ValueError(f"{method} {template} is declared twice")
        node.methods[method] = target

    def find(self, path: str) -> Match[T] | None:
        """None when no endpoint has this path, whose last slash belongs to what it names."""
        return _find(self._root, path.lstrip("/").split("/"), 0, {})


def _find(
    node: _Node[T], segments: list[str], at: int, params: dict[str, str | int]
) -> Match[T] | None:
    if at == len(segments):
        return Match(node.methods, params) if node.methods else None
    segment = segments[at]
    literal = node.literals.get(segment)
    if literal is not None:
        found = _find(literal, segments, at + 1, params)
        if found is not None:
            return found
    for name, kind, child in node.params:
        if kind == "path":
            rest = _convert("str", "/".join(segments[at:]))
            if rest is not None:
                return Match(child.methods, {**params, name: rest})
            continue
        value = _convert(kind, segment)
        if value is None:
            continue
        found = _find(child, segments, at + 1, {**params, name: value})
        if found is not None:
            return found
    return None


def _convert(kind: ParamKind, segment: str) -> str | int | None:
    if kind == "str":
        return segment if segment and "\0" not in segment else None
    if not _DIGITS.fullmatch(segment):
        return None
    number = int(segment)
    return number if number <= MAX_ID else None
