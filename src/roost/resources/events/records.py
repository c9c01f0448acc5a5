"""The event record (reference: Event)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.entities.records import Entity

EventStatus = Literal["scheduled", "started", "finished", "failed", "notification"]


class EventRow(TypedDict):
    """One change of something in the account, and how far it got.

    `rate` is that of copying, such as `464.00 MB/s`; `time_remaining` an estimate, such as
    `0:02:10`.
    """

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
