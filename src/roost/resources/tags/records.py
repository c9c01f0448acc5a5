"""Records of tags (reference: Tag and tagged object)."""

from pydantic import JsonValue
from typing_extensions import TypedDict


class TagRow(TypedDict):
    """A label that users put on their entities."""

    label: str


class TaggedRow(TypedDict):
    """Something that has a tag."""

    type: str
    data: dict[str, JsonValue]
    """The record of that type, the same as its own endpoint shows."""
