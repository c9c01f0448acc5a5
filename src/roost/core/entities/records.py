"""How records name what they are about (reference: Event, Support ticket)."""

from typing_extensions import TypedDict

from roost.core.formats import UriReference


class Entity(TypedDict):
    """Tags and images have names instead of numbers as ids, an account and a profile none."""

    id: int | str | None
    """Its id; null for an account or a profile."""
    label: str | None
    """What it was called then; null for what has no label."""
    type: str
    """What kind of thing it is, such as `compute`."""
    url: UriReference
    """The path that shows it."""
