"""Records of tags (reference: Tag and tagged object)."""

from typing_extensions import TypedDict


class TagRow(TypedDict):
    """A label that users put on their entities."""

    label: str
    """The tag itself."""


class TaggedRow(TypedDict):
    """Something that has a tag."""

    type: str
    """What kind of thing it is, such as `volume`."""
    data: dict[str, object]
    """The record of that type, the same as its own endpoint shows."""
