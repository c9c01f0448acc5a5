"""Jobs made by the clock: one for each tick of a cron expression, however many workers run."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Generic, Never, TypeAlias, TypeVar

import structlog
from croniter import croniter

from roost.jobs import upkeep_queries
from roost.jobs.kinds import JobArgs, JobKind
from roost.jobs.queue import JobQueue
from roost.settings import MAIN_HOST
from roost.store import Queries, Store

Args = TypeVar("Args", bound=JobArgs, contravariant=True)

_MOST_TICKS = 1000
"""Of one schedule in one transaction; the rest follows in the next."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Schedule(Generic[Args]):
    """A job of `kind` at each tick of `cron` (UTC), one after the other; `job.tick` tells which.

    Of the ticks that nobody was there for only the latest is run, unless `catch_up` asks for all.
    """

    name: str
    cron: str
    kind: JobKind[Args]
    args: Args
    catch_up: bool = False
    per_host: bool = False
    """Whether each host has its own, with ticks while a worker of it runs."""

    def __post_init__(self) -> None:
        if not croniter.is_valid(self.cron):
            raise ValueError(f"{self.name} has no cron expression: {self.cron}")

    def due(self, ticked: datetime, now: datetime) -> list[datetime]:
        """The ticks to run after `ticked` until `now`, the oldest first; a bounded number."""
        if self.catch_up:
            later = croniter(self.cron, ticked).all_next(datetime)
            return list(islice(takewhile(lambda tick: tick <= now, later), _MOST_TICKS))
        next_second = now.replace(microsecond=0) + timedelta(seconds=1)
        latest = croniter(self.cron, next_second).get_prev(datetime)
        return [latest] if latest > ticked else []

    def next(self, now: datetime) -> datetime:
        return croniter(self.cron, now).get_next(datetime)

    def on(self, host: str) -> str:
        """The name of a host's own one."""
        return self.name if host == MAIN_HOST else f"{self.name}@{host}"

    async def enqueue(
        self, queue: JobQueue, conn: Queries, tick: datetime, host: str = MAIN_HOST
    ) -> None:
        name = self.on(host)
        await queue.enqueue(
            conn,
            self.kind,
            self.args,
            resource=f"schedule:{name}",
            schedule=name,
            tick=tick,
            host=host,
        )


AnySchedule: TypeAlias = Schedule[Never]


def of_host(schedules: Iterable[AnySchedule], host: str) -> tuple[AnySchedule, ...]:
    """Those that workers of a host see to: all, or only what each host has its own of."""
    return tuple(each for each in schedules if each.per_host or host == MAIN_HOST)


class Scheduler:
    """Enqueues what has become due. Any number of them may work on one database."""

    def __init__(
        self,
        store: Store,
        queue: JobQueue,
        schedules: Iterable[AnySchedule],
        host: str = MAIN_HOST,
    ) -> None:
        self._store = store
        self._queue = queue
        self._host = host
        self._schedules = of_host(schedules, host)
        self._next: dict[str, datetime] = {}

    async def tick(self) -> None:
        """Look at the clock once. Between ticks this costs no query."""
        for schedule in self._schedules:
            try:
                await self._tick(schedule)
            except Exception:
                _log.exception("schedule_failed", schedule=schedule.name)

    async def _tick(self, schedule: AnySchedule) -> None:
        name, now = schedule.on(self._host), self._queue.clock.now()
        if name not in self._next:
            await upkeep_queries.add_schedule(self._store, name, now)
        elif now < self._next[name]:
            return
        while await self._enqueue_due(schedule, now) == _MOST_TICKS:
            pass
        self._next[name] = schedule.next(now)

    async def _enqueue_due(self, schedule: AnySchedule, now: datetime) -> int:
        async with self._store.transaction() as conn:
            ticked = await upkeep_queries.lock_schedule(conn, schedule.on(self._host))
            ticks = schedule.due(ticked, now)
            for tick in ticks:
                await schedule.enqueue(self._queue, conn, tick, self._host)
            if ticks:
                await upkeep_queries.save_tick(conn, schedule.on(self._host), ticks[-1])
        return len(ticks)
