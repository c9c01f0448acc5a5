"""How a worker gets jobs, and keeps trouble with one of them from the others."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import timedelta

import structlog
from asyncpg import UniqueViolationError

from roost.jobs import lease_queries, queries
from roost.jobs.environment import Environment
from roost.jobs.fairness import Candidate, Line, Slots
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
        self._store = environment.store.reserved
        self._owner = owner
        self._place = lease_queries.FIRST

    async def claim(
        self, held: Sequence[Job], freed: Collection[str], begin: Callable[[Job], None]
    ) -> int:
        """Take due jobs for the slots that `held` leaves; what begins is announced. Each is this
        worker's when `begin` is called with it. Returns how many there were.

        A job that still runs here is not taken again, even if the worker has lost it. `freed` are
        resources in which the first of those that wait may begin.
        """
        if freed:
            now = self._env.queue.clock.now()
            await queries.free(self._store, list(freed), now)
        taken = list[Job]()

        def take(job: Job) -> None:
            taken.append(job)
            begin(job)

        try:
            await self._fill(held, taken, take)
        except (UniqueViolationError, _NotStartedError):
            await self._fill_singly(held, taken, take)
        return len(taken)

    async def _fill(
        self,
        held: Sequence[Job],
        taken: Sequence[Job],
        take: Callable[[Job], None],
        most: int | None = None,
    ) -> None:
        """At most `most` jobs more. Where there are very many lines, the next call goes on behind
        the last one of this."""
        limit = self._env.settings.slots - len(held)
        if most is not None:
            limit = min(limit, len(taken) + most)
        wrapped = self._place == lease_queries.FIRST
        while len(taken) < limit:
            chosen = await self._choose([*held, *taken], limit - len(taken))
            if chosen:
                for job in await self._take(chosen):
                    take(job)
            if self._place == lease_queries.FIRST:
                if wrapped:
                    break
                wrapped = True

    async def _choose(self, held: Sequence[Job], most: int) -> list[Candidate]:
        """Whoever looks and finds nothing has asked once."""
        queue, settings = self._env.queue, self._env.settings
        now = queue.clock.now()
        limits = (_LINES, settings.slots)
        waiting = await lease_queries.find_waiting(
            self._store, queue.kinds, now, self._place, limits, settings.host
        )
        self._place = waiting.rest
        here = {job.id for job in held}
        due = {each.id: each for each in waiting.candidates if each.id not in here}
        slots = Slots(settings.slots, queue.kinds, _lines(held))
        return [due[each] for each in slots.choose(due.values(), waiting.running)[:most]]

    async def _take(self, chosen: Sequence[Candidate]) -> list[Job]:
        """A transaction is for those that begin, as their events do; the claim of others is one
        statement."""
        if all(each.begun for each in chosen):
            return await self._claim(self._store, chosen)
        async with self._store.transaction() as conn:
            jobs = await self._claim(conn, chosen)
            await self._announce(conn, [job for job in jobs if job.fence == 1])
        return jobs

    async def _claim(self, conn: Queries, chosen: Sequence[Candidate]) -> list[Job]:
        queue, settings = self._env.queue, self._env.settings
        return await lease_queries.claim(
            conn,
            self._owner,
            settings.written_lease,
            queue.kinds,
            queue.clock.now(),
            [each.id for each in chosen],
            settings.host,
        )

    async def _announce(self, conn: Queries, begun: Sequence[Job]) -> None:
        if not begun:
            return
        try:
            await self._env.queue.listener.started(conn, begun)
        except Exception as error:
            raise _NotStartedError(begun[0].id) from error

    async def _fill_singly(
        self, held: Sequence[Job], taken: Sequence[Job], take: Callable[[Job], None]
    ) -> None:
        for _ in range(self._env.settings.slots - len(held) - len(taken)):
            before = len(taken)
            try:
                await self._fill(held, taken, take, most=1)
            except UniqueViolationError:
                continue
            except _NotStartedError as error:
                _log.exception("job_not_started", job=error.job_id)
                until = self._env.queue.clock.now() + _POSTPONED
                await lease_queries.postpone(self._store, error.job_id, until)
                continue
            if len(taken) == before:
                break


def _lines(jobs: Iterable[Job]) -> Iterable[Line]:
    return (Line(job.account_id or 0, job.kind) for job in jobs)
