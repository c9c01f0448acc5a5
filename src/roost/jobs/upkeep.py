"""What every worker does for all of them, again and again."""

import time
from collections.abc import Sequence

import structlog

from roost.jobs import lease_queries, queries, upkeep_queries
from roost.jobs.environment import Environment
from roost.jobs.schedules import Scheduler

_METRICS_SECONDS = 5.0
_QUEUES = 1000
"""Resources whose queues are looked at in one go."""

_log = structlog.get_logger(__name__)


class Upkeep:
    """Lapsed leases, due schedules, passed deadlines and figures."""

    def __init__(self, environment: Environment, scheduler: Scheduler) -> None:
        self._env = environment
        self._scheduler = scheduler
        self._store = environment.store.reserved
        self._measured = -_METRICS_SECONDS
        self._last_queue = ""

    async def run(self, held: Sequence[int]) -> None:
        """Once; `held` are the jobs of this worker."""
        await self._recover(held)
        await self._scheduler.tick()
        await self._mark_overdue()
        if time.monotonic() - self._measured >= _METRICS_SECONDS:
            self._measured = time.monotonic()
            await self._measure()
            await self._free()

    async def _recover(self, held: Sequence[int]) -> None:
        for lost in await lease_queries.recover(self._store, held):
            _log.warning(
                "job_lease_lapsed", job=lost.id, job_kind=lost.kind, resource=lost.resource
            )
            self._env.metrics.lost_leases.labels(lost.kind).inc()

    async def _mark_overdue(self) -> None:
        now = self._env.queue.clock.now()
        for job in await upkeep_queries.mark_overdue(self._store, now):
            _log.error(
                "job_overdue", job=job.id, job_kind=job.kind, resource=job.resource, step=job.step
            )
            self._env.metrics.overdue.labels(job.kind).inc()

    async def _free(self) -> None:
        """Should a worker have died between the end of a job and the beginning of the next."""
        resources = await upkeep_queries.find_queues(self._store, self._last_queue, _QUEUES)
        await queries.free(self._store, resources, self._env.queue.clock.now())
        self._last_queue = resources[-1] if len(resources) == _QUEUES else ""

    async def _measure(self) -> None:
        now = self._env.queue.clock.now()
        counts = await upkeep_queries.count(self._store, now)
        self._env.metrics.show(self._env.queue.kinds.by_name, counts, now)
