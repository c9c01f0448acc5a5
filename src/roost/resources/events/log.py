"""Writing events: one-shot notifications, and events that follow a job."""

from dataclasses import dataclass
from datetime import datetime

from roost.clock import Clock
from roost.core.entities.records import Entity
from roost.jobs.model import Job
from roost.resources.events import queries
from roost.resources.events.records import EventStatus
from roost.store import Queries
from roost.web.call import Call


@dataclass(frozen=True, slots=True)
class Actor:
    """In whose account something happens, and who did it; None is Roost itself."""

    account_id: int
    username: str | None

    @classmethod
    def of(cls, call: Call) -> "Actor":
        return cls(call.account_id, call.identity.username)


async def notify(
    db: Queries,
    now: datetime,
    actor: Actor,
    action: str,
    entity: Entity,
    secondary: Entity | None = None,
    message: str = "",
) -> None:
    """An event that is over as soon as it is told."""
    await _add(db, now, actor, action, "notification", entity, secondary, message)


async def schedule(
    db: Queries,
    now: datetime,
    actor: Actor,
    action: str,
    entity: Entity,
    secondary: Entity | None = None,
    message: str = "",
    size: int | None = None,
) -> int:
    """The face of a job that is about to be enqueued; give its id to the job.

    `size`: MB that it copies, from which users are told its rate.
    """
    return await _add(db, now, actor, action, "scheduled", entity, secondary, message, size)


async def _add(
    db: Queries,
    now: datetime,
    actor: Actor,
    action: str,
    status: EventStatus,
    entity: Entity,
    secondary: Entity | None,
    message: str,
    size: int | None = None,
) -> int:
    return await queries.add(
        db,
        actor.account_id,
        actor.username,
        action,
        status,
        now.replace(microsecond=0),
        entity,
        secondary,
        message,
        size,
    )


class EventListener:
    """A JobListener: the event of a job shows how far the job is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def enqueued(self, conn: Queries, job: Job) -> None:
        """The event was made before, as `scheduled`."""

    async def started(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.start(conn, job.event_id, job.id, self._clock.now())

    async def retried(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.explain(conn, job.event_id, job.error or "")

    async def progressed(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.progress(conn, job.event_id, job.percent, self._clock.now())

    async def finished(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.finish(conn, job.event_id, job.id, self._clock.now())

    async def failed(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.fail(conn, job.event_id, job.id, self._clock.now(), job.error or "")
