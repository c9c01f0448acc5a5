"""The event record (reference: Event)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.entities.records import Entity

EventStatus = Literal["scheduled", "started", "finished", "failed", "notification"]


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
