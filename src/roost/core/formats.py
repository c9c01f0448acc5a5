"""What records are described with: texts of a known form, fields that many have, examples."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, with_config
from pydantic.config import JsonDict

T = TypeVar("T", bound=type)

TIMESTAMP_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"

Timestamp = Annotated[str, Field(json_schema_extra={"pattern": TIMESTAMP_PATTERN})]
"""UTC, without an offset."""

Created = Annotated[Timestamp, Field(description="When it was made (UTC).")]
Updated = Annotated[Timestamp, Field(description="When it was last changed (UTC).")]

Ipv4 = Annotated[str, Field(json_schema_extra={"format": "ipv4"})]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
UriReference = Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
Uuid = Annotated[str, Field(json_schema_extra={"format": "uuid"})]

Id = Annotated[int, Field(description="The number that names it in paths; never used again.")]
TagLabels = Annotated[
    list[str], Field(description="Labels of your own choice that group things; without order.")
]
GROUP_TEXT = "A group of your own choice. Deprecated: use tags."
Grouping = Annotated[str, Field(description=GROUP_TEXT, json_schema_extra={"deprecated": True})]


def example(row: JsonDict) -> Callable[[T], T]:
    """What the OpenAPI document shows as such a record."""
    return with_config(ConfigDict(json_schema_extra={"examples": [row]}))
