"""What is being done with one thing, and what happened to it last."""

from roost.app.terminal import Shown
from roost.core.events.listing_queries import list_of_entity
from roost.jobs.listing_queries import Wanted, list_jobs
from roost.store import Queries

_JOBS = 100
_EVENTS = 5
_UNFINISHED = ("queued", "running", "waiting")


async def unfinished_jobs(db: Queries, resource: str) -> list[Shown]:
    """The one that goes first, first."""
    jobs = await list_jobs(db, Wanted(statuses=_UNFINISHED, resource=resource, limit=_JOBS))
    return [
        {
            "id": job.id,
            "kind": job.kind,
            "status": job.status,
            "step": job.step,
            "attempt": job.attempt,
            "waits_for": job.waits_for,
            "error": job.undo_error or job.error,
        }
        for job in reversed(jobs)
    ]


async def last_events(db: Queries, account_id: int, entity: str, key: int) -> list[Shown]:
    """The latest first."""
    return [
        {
            "id": event.id,
            "created": event.created,
            "action": event.action,
            "status": event.status,
            "message": event.message or None,
        }
        for event in await list_of_entity(db, account_id, entity, key, _EVENTS)
    ]
