"""Writing events: one-shot notifications, and events that follow a job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from roost.clock import Clock
from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import queries
from roost.jobs.kinds import JobArgs, JobKind
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.store import Queries

Args = TypeVar("Args", bound=JobArgs)


@dataclass(frozen=True, slots=True)
class Starter:
    """Who tells or starts something where there is no context: other jobs, and `roost fsck`."""

    queue: JobQueue
    db: Queries
    account_id: int
    username: str | None = None
    """Who did it; None is Roost itself."""

    @classmethod
    def of(cls, by: "Context | Starter") -> "Starter":
        if isinstance(by, Starter):
            return by
        return cls(by.get(JobQueue), by.db, by.account_id, by.identity.username)


@dataclass(frozen=True, slots=True)
class Event:
    """What users are told."""

    action: str
    entity: Entity
    secondary: Entity | None = None
    message: str = ""
    size: int | None = None
    """MB, from which users are told the rate of a job."""


async def notify(
    by: Context | Starter,
    action: str,
    entity: Entity,
    secondary: Entity | None = None,
    *,
    message: str = "",
) -> None:
    """An event that is over as soon as it is told."""
    event = Event(action, entity, secondary, message)
    await queries.add(by.db, _row(Starter.of(by), event, "notification"))


async def start(
    by: Context | Starter,
    kind: JobKind[Args],
    args: Args,
    entity: Entity,
    secondary: Entity | None = None,
    *,
    action: str | None = None,
    message: str = "",
    size: int | None = None,
) -> None:
    """Enqueue a job with the event that shows how far it is.

    `action` is the event's where it is not that of the kind; `size`: MB that the job copies.
    """
    starter = Starter.of(by)
    queue, db, account_id = starter.queue, starter.db, starter.account_id
    shown = Event(action or kind.event or kind.name, entity, secondary, message, size)
    event = queries.with_job(_row(starter, shown, "scheduled"))
    if kind.joined:
        await queue.enqueue_once(db, kind, args, account_id=account_id, event=event)
    else:
        await queue.enqueue(db, kind, args, account_id=account_id, event=event)


def _row(by: Starter, event: Event, status: queries.FirstStatus) -> queries.NewEvent:
    return queries.NewEvent(
        account_id=by.account_id,
        username=by.username,
        action=event.action,
        status=status,
        created=by.queue.clock.seconds(),
        entity=event.entity,
        secondary=event.secondary,
        message=event.message,
        size=event.size,
    )


class EventListener:
    """A JobListener: the event of a job shows how far the job is."""

    ending = queries.FINISH

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def enqueued(self, conn: Queries, job: Job) -> None:
        """The event was written with the job, as `scheduled`."""

    async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
        events = {job.id: job.event_id for job in jobs if job.event_id is not None}
        if events:
            await queries.start(conn, events, self._clock.now())

    async def retried(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.explain(conn, job.event_id, job.error or "")

    async def progressed(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.progress(conn, job.event_id, job.percent, self._clock.now())

    async def failed(self, conn: Queries, job: Job) -> None:
        if job.event_id is not None:
            await queries.fail(conn, job.event_id, job.id, self._clock.now(), job.error or "")
