"""A job queue on a fresh database, and workers with short leases."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TypeVar

from prometheus_client import CollectorRegistry

from roost.clock import Clock
from roost.jobs import (
    AnyKind,
    AnySchedule,
    Environment,
    Faults,
    Job,
    JobArgs,
    JobKind,
    JobListener,
    JobQueue,
    Metrics,
    NullListener,
    Retry,
    Services,
    Worker,
    WorkerSettings,
)
from roost.jobs.model import AT_ONCE
from roost.store import Store

SHORT = WorkerSettings(slots=16, lease=3.0, grace=1.0)


class Lazy(WorkerSettings):
    """Of a worker that hardly looks for work by itself: what is done soon, it was told of."""

    @property
    def poll(self) -> float:
        return 100.0


LAZY = Lazy(lease=600)

QUICK = Retry(attempts=3, base=0.001)

_Args = TypeVar("_Args", bound=JobArgs)


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 120.0) -> None:
    """Ask, ever more rarely, whether a condition holds. TimeoutError when it does not come true."""
    pause = 0.005
    async with asyncio.timeout(seconds):
        while not await holds():
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, 0.05)


class Bench:
    def __init__(
        self,
        store: Store,
        *kinds: AnyKind,
        listener: JobListener | None = None,
        services: Iterable[object] = (),
        settings: WorkerSettings = SHORT,
    ) -> None:
        self.store = store
        self.clock = Clock()
        self.queue = JobQueue(kinds, self.clock, listener or NullListener())
        self.registry = CollectorRegistry()
        self.faults = Faults()
        self.environment = Environment(
            store, self.queue, Services(*services), settings, self.faults, Metrics(self.registry)
        )

    @asynccontextmanager
    async def worker(self, *schedules: AnySchedule) -> AsyncIterator[Worker]:
        """A worker that is stopped at the end."""
        worker = Worker(self.environment, schedules)
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task

    async def enqueue(
        self,
        kind: JobKind[_Args],
        args: _Args,
        resource: str | None = None,
        run_at: datetime = AT_ONCE,
    ) -> int:
        async with self.store.transaction() as conn:
            job = await self.queue.enqueue(conn, kind, args, resource=resource, run_at=run_at)
        return job.id

    async def job(self, job_id: int) -> Job:
        job = await self.queue.find(self.store, job_id)
        assert job is not None
        return job

    async def ended(self, job_id: int) -> Job:
        """The job when it has ended."""

        async def has_ended() -> bool:
            return (await self.job(job_id)).finished is not None

        await until(has_ended)
        return await self.job(job_id)

    async def reached(self, job_id: int, status: str) -> None:
        async def holds() -> bool:
            return (await self.job(job_id)).status == status

        await until(holds)

    def metric(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0
