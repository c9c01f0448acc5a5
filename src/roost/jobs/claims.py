"""How a worker gets jobs, and keeps trouble with one of them from the others."""

from collections.abc import Collection
from datetime import timedelta

import structlog
from asyncpg import UniqueViolationError

from roost.jobs import lease_queries
from roost.jobs.environment import Environment
from roost.jobs.model import Job

_POSTPONED = timedelta(seconds=30)

_log = structlog.get_logger(__name__)


class _NotStartedError(Exception):
    def __init__(self, job_id: int) -> None:
        super().__init__(f"job {job_id} could not be started")
        self.job_id = job_id


async def claim(
    environment: Environment, owner: str, limit: int, resources: Collection[str] | None = None
) -> list[Job]:
    """At most `limit` due jobs, now this worker's; those that begin have been announced.

    With `resources` only the next one of each.
    """
    try:
        return await _claim(environment, owner, limit, resources)
    except (UniqueViolationError, _NotStartedError):
        return await _claim_singly(environment, owner, limit)


async def _claim(
    environment: Environment, owner: str, limit: int, resources: Collection[str] | None = None
) -> list[Job]:
    queue, lease = environment.queue, environment.settings.written_lease
    async with environment.store.transaction() as conn:
        names = list(queue.kinds.by_name)
        now, only = queue.clock.now(), None if resources is None else list(resources)
        jobs = await lease_queries.claim(conn, owner, lease, names, now, limit, only)
        for job in jobs:
            if job.fence > 1:
                continue
            try:
                await queue.listener.started(conn, job)
            except Exception as error:
                raise _NotStartedError(job.id) from error
    return jobs


async def _claim_singly(environment: Environment, owner: str, limit: int) -> list[Job]:
    jobs: list[Job] = []
    for _ in range(limit):
        try:
            claimed = await _claim(environment, owner, 1)
        except UniqueViolationError:
            continue
        except _NotStartedError as error:
            _log.exception("job_not_started", job=error.job_id)
            until = environment.queue.clock.now() + _POSTPONED
            await lease_queries.postpone(environment.store, error.job_id, until)
            continue
        if not claimed:
            break
        jobs += claimed
    return jobs
