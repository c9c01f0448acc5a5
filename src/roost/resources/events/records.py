"""The event record (reference: Event)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.entities.records import Entity
from roost.core.formats import Created, Filtered, Id

EventStatus = Literal["scheduled", "started", "finished", "failed", "notification"]


class EventRow(TypedDict):
    """One change of something in the account, and how far it got.

    `rate` is that of copying, such as `464.00 MB/s`; `time_remaining` an estimate, such as
    `0:02:10`.
    """

    id: Filtered[Id]
    action: Filtered[str]
    """What happened, such as `volume_create`."""
    created: Created
    duration: float | None
    """Seconds of work; null before it begins and for a `notification`."""
    entity: Entity | None
    """What it happened to; null when that has no name."""
    secondary_entity: Entity | None
    """What else took part, such as the image of a new instance; null when nothing."""
    percent_complete: int | None
    """0 to 100; null for a `notification`."""
    rate: str | None
    """How fast data is moved, such as `464.00 MB/s`; null when none is."""
    read: Filtered[bool]
    """Whether it was marked as read."""
    seen: Filtered[bool]
    """Whether it, or one after it, was marked as seen."""
    status: EventStatus
    """`scheduled`, then `started`, then `finished` or `failed`; `notification` for what took no
    time."""
    time_remaining: str | None
    """How long it may still take, as hours, minutes and seconds; null when unknown."""
    username: str | None
    """Who did it; null for the platform."""
    message: str
    """Why it failed, or what else there is to say; mostly empty."""
