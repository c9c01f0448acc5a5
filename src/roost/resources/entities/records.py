"""How records name what they are about (reference: Event, Support ticket)."""

from typing_extensions import TypedDict


class Entity(TypedDict):
    """Tags and images have names instead of numbers as ids, an account and a profile none."""

    id: int | str | None
    label: str | None
    type: str
    url: str
