"""How a worker gets jobs, and keeps trouble with one of them from the others."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

import structlog
from asyncpg import UniqueViolationError

from roost.jobs import lease_queries, queries
from roost.jobs.environment import Environment
from roost.jobs.fairness import Line, Slots
from roost.jobs.model import Job
from roost.store import Queries

_POSTPONED = timedelta(seconds=30)
_LINES = 256
"""How many lines of waiting jobs are looked at in one go."""

_log = structlog.get_logger(__name__)


class _NotStartedError(Exception):
    def __init__(self, job_id: int) -> None:
        super().__init__(f"job {job_id} could not be started")
        self.job_id = job_id


class Claimer:
    """Claims due jobs for one worker."""

    def __init__(self, environment: Environment, owner: str) -> None:
        self._env = environment
        self._owner = owner
        self._place = lease_queries.FIRST

    async def claim(self, held: Sequence[Job], freed: Collection[str]) -> list[Job]:
        """Due jobs for the slots that `held` leaves, now this worker's; what begins is announced.

        A job that still runs here is not taken again, even if the worker has lost it. `freed` are
        resources in which the first of those that wait may begin.
        """
        if freed:
            now = self._env.queue.clock.now()
            await queries.free(self._env.store.reserved, list(freed), now)
        try:
            return await self._fill(held)
        except (UniqueViolationError, _NotStartedError):
            return await self._fill_singly(held)

    async def _fill(self, held: Sequence[Job], most: int | None = None) -> list[Job]:
        """At most `most` jobs. Where there are very many lines, the next call goes on behind the
        last one of this."""
        jobs = list[Job]()
        limit = self._env.settings.slots - len(held) if most is None else most
        async with self._env.store.reserved.transaction() as conn:
            wrapped = self._place == lease_queries.FIRST
            while len(jobs) < limit:
                jobs += await self._claim(conn, [*held, *jobs], limit - len(jobs))
                if self._place == lease_queries.FIRST:
                    if wrapped:
                        break
                    wrapped = True
            await self._announce(conn, [job for job in jobs if job.fence == 1])
        return jobs

    async def _claim(self, conn: Queries, held: Sequence[Job], most: int) -> list[Job]:
        queue, settings = self._env.queue, self._env.settings
        now = queue.clock.now()
        limits = (_LINES, settings.slots)
        waiting = await lease_queries.find_waiting(
            conn, queue.kinds, now, self._place, limits, settings.host
        )
        self._place = waiting.rest
        here = {job.id for job in held}
        due = [each for each in waiting.candidates if each.id not in here]
        slots = Slots(settings.slots, queue.kinds, _lines(held))
        chosen = slots.choose(due, waiting.running)[:most]
        if not chosen:
            return []
        lease = settings.written_lease
        return await lease_queries.claim(
            conn, self._owner, lease, queue.kinds, now, chosen, settings.host
        )

    async def _announce(self, conn: Queries, begun: Sequence[Job]) -> None:
        if not begun:
            return
        try:
            await self._env.queue.listener.started(conn, begun)
        except Exception as error:
            raise _NotStartedError(begun[0].id) from error

    async def _fill_singly(self, held: Sequence[Job]) -> list[Job]:
        jobs = list[Job]()
        for _ in range(self._env.settings.slots - len(held)):
            try:
                claimed = await self._fill([*held, *jobs], most=1)
            except UniqueViolationError:
                continue
            except _NotStartedError as error:
                _log.exception("job_not_started", job=error.job_id)
                until = self._env.queue.clock.now() + _POSTPONED
                await lease_queries.postpone(self._env.store.reserved, error.job_id, until)
                continue
            if not claimed:
                break
            jobs += claimed
        return jobs


def _lines(jobs: Iterable[Job]) -> Iterable[Line]:
    return (Line(job.account_id or 0, job.kind) for job in jobs)
