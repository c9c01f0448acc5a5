"""The event record (reference: Event)."""

from typing import Literal

from typing_extensions import TypedDict

EventStatus = Literal["scheduled", "started", "finished", "failed", "notification"]


class Entity(TypedDict):
    """What an event is about; tags and images have names instead of numbers as ids."""

    id: int | str | None
    label: str | None
    type: str
    url: str


class EventRow(TypedDict):
    """One change of something in the account, and how far it got."""

    id: int
    action: str
    created: str
    duration: float | None
    entity: Entity | None
    secondary_entity: Entity | None
    percent_complete: int | None
    rate: str | None
    read: bool
    seen: bool
    status: EventStatus
    time_remaining: str | None
    username: str | None
    message: str
