"""What operations take and answer, as the OpenAPI document describes it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from roost.console.api import Json
from roost.web.openapi.schemas import build_schemas, row_of
from roost.web.registry import Endpoint

_REF = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Schemas:
    components: Mapping[str, Json]

    @classmethod
    def of(cls, endpoints: Iterable[Endpoint]) -> "Schemas":
        """Takes a processor for a while."""
        return cls(cast("Mapping[str, Json]", build_schemas(endpoints)))

    def body_of(self, endpoint: Endpoint) -> Json:
        """Of what it takes; empty where it takes nothing."""
        return {} if endpoint.body is None else self.components[endpoint.body.__name__]

    def row(self, endpoint: Endpoint) -> Json:
        """Of the record that it answers, or lists."""
        row = row_of(endpoint.returns)
        return {} if row is None else self.components[row.__name__]

    def resolved(self, schema: Json) -> Json:
        """Without references and without null; what stands beside them counts too."""
        while True:
            ref, options = schema.get("$ref"), schema.get("anyOf")
            beside = {k: v for k, v in schema.items() if k not in ("$ref", "anyOf")}
            if isinstance(ref, str):
                schema = {**self.components[ref.removeprefix(_REF)], **beside}
            elif isinstance(options, list):
                kinds = [each for each in options if isinstance(each, dict)]
                kinds = [each for each in kinds if each.get("type") != "null"]
                if len(kinds) != 1:
                    return beside
                schema = {**kinds[0], **beside}
            else:
                return schema


def properties(schema: Json) -> Iterator[tuple[str, Json]]:
    found = schema.get("properties")
    if isinstance(found, dict):
        for name, described in found.items():
            if isinstance(described, dict):
                yield name, described


def type_of(schema: Json) -> str:
    """The one type that is not null; empty where it may be of several."""
    kind = schema.get("type", "")
    if isinstance(kind, list):
        kinds = [each for each in kind if each != "null"]
        kind = kinds[0] if len(kinds) == 1 else ""
    return kind if isinstance(kind, str) else ""


def text_of(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
