"""What records are described with: forms of texts, fields that many have, filters."""

from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import Field

T = TypeVar("T")

TIMESTAMP_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"

Timestamp = Annotated[str, Field(json_schema_extra={"pattern": TIMESTAMP_PATTERN})]
"""UTC, without an offset."""


@dataclass(frozen=True, slots=True)
class Filter:
    """That callers may filter a list by a field of its record, and order it by that."""

    folds: bool = False
    """Whether it is ordered as people do who chose it, big and small letters alike."""
    sortable: bool = True


Filtered = Annotated[T, Filter()]
"""A field that a list can be filtered and ordered by."""
Folded = Annotated[T, Filter(folds=True)]
"""The same for names that people chose."""
Sought = Annotated[T, Filter(sortable=False)]
"""A field that a list can be filtered by, and not ordered."""

Created = Annotated[Timestamp, Field(description="When it was made (UTC)."), Filter()]
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
