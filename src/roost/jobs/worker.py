"""Runs jobs. Any number of workers share one database, on any number of machines."""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

import structlog

from roost.jobs import lease_queries, queries, worker_queries
from roost.jobs.claims import Claimer
from roost.jobs.environment import Environment
from roost.jobs.execution import Execution
from roost.jobs.model import Job
from roost.jobs.retention import RETENTION, RetentionArgs
from roost.jobs.schedules import AnySchedule, Schedule, Scheduler
from roost.jobs.upkeep import Upkeep

_LAST_SECONDS = 1.0
"""For steps that have been interrupted, when the worker stops."""
_PAUSE_SECONDS = 0.002
"""From one look for due jobs to the next: what becomes due meanwhile is claimed together."""
_LONGEST_PAUSE_SECONDS = 0.02
_SHARE = 4
"""A look that finds few jobs takes at most one part in so many of a worker's time."""

_log = structlog.get_logger(__name__)


class Worker:
    """Claims due jobs and runs up to `slots` of them at the same time."""

    def __init__(self, environment: Environment, schedules: Iterable[AnySchedule] = ()) -> None:
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._env = environment
        retention = RetentionArgs(days=environment.settings.retention)
        nightly = Schedule("job_retention", "17 3 * * *", RETENTION, retention)
        self._store = environment.store.reserved
        host = environment.settings.host
        scheduler = Scheduler(self._store, environment.queue, (*schedules, nightly), host)
        self._upkeep = Upkeep(environment, scheduler)
        self._claimer = Claimer(environment, self.owner)
        self._running: dict[int, Execution] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._freed: set[str] = set()
        self._stopping = False
        self._gone = False
        self._signing = asyncio.Lock()
        self._renewed = time.monotonic()

    async def run(self) -> None:
        """Work until `stop`, or until this task is cancelled, which is as rude as a crash."""
        await self._env.store.listen(queries.READY, self._on_ready)
        await self._env.store.listen(queries.STOP, self._on_stop)
        settings = self._env.settings
        helpers = [
            asyncio.create_task(self._repeat(self._beat, settings.heartbeat)),
            asyncio.create_task(self._repeat(self._care, settings.poll)),
            asyncio.create_task(self._repeat(self._show_alive, settings.heartbeat)),
        ]
        try:
            while not self._stopping:
                await self._claim()
            await self._drain()
            await self._show_gone()
        finally:
            tasks = (*helpers, *self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=_LAST_SECONDS)

    def stop(self) -> None:
        """Take no more jobs and hand over those that run; `run` ends within 10 seconds."""
        self._stopping = True
        self.wake()

    def wake(self) -> None:
        """Look for due jobs now, for example because the clock has been moved."""
        self._wake.set()

    async def _claim(self) -> None:
        """Fill the free slots, then wait for a reason to look again."""
        self._wake.clear()
        looked, few = time.monotonic(), True
        try:
            few = await self._fill() < self._env.settings.slots // 2
        except Exception:
            _log.exception("job_claim_failed")
        pause = _PAUSE_SECONDS
        if few:
            took = time.monotonic() - looked
            pause = min(max(pause, took * _SHARE), _LONGEST_PAUSE_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._env.settings.poll):
                await self._wake.wait()
        left = looked + pause - time.monotonic()
        if left > 0:
            await asyncio.sleep(left)

    async def _fill(self) -> int:
        """How many jobs have begun."""
        if len(self._running) == self._env.settings.slots:
            return 0
        freed, self._freed = self._freed, set()
        held = [execution.job for execution in self._running.values()]
        return await self._claimer.claim(held, freed, self._start)

    def _start(self, job: Job) -> None:
        execution = Execution(job, self._env)
        self._running[job.id] = execution
        task = asyncio.create_task(execution.run())
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, execution))

    def _ended(self, execution: Execution, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        del self._running[execution.job.id]
        self._wake.set()
        if task.cancelled():
            return
        if error := task.exception():
            _log.error("job_abandoned", job=execution.job.id, exc_info=error)
        elif execution.job.status == "waiting":
            left = (execution.job.run_at - self._env.queue.clock.now()).total_seconds()
            asyncio.get_running_loop().call_later(max(left, 0), self.wake)

    def _on_ready(self, payload: str) -> None:
        if payload:
            self._freed.add(payload)
        self.wake()

    def _on_stop(self, payload: str) -> None:
        for job_id, execution in self._running.items():
            if payload == str(job_id):
                execution.interrupt()

    async def _beat(self) -> None:
        """Renew all leases; have a look at jobs that were stopped or are no longer ours."""
        started, executions = time.monotonic(), list(self._running.values())
        try:
            if executions:
                await self._renew(executions)
            self._renewed = started
        finally:
            if time.monotonic() - self._renewed > self._env.settings.written_lease:
                for execution in self._running.values():
                    execution.interrupt()

    async def _show_alive(self) -> None:
        async with self._signing:
            if not self._gone:
                settings = self._env.settings
                await worker_queries.show_alive(
                    self._store, self.owner, settings.lease, settings.host
                )

    async def _show_gone(self) -> None:
        """After the last sign of life: one that was cancelled could still reach the database."""
        async with self._signing:
            self._gone = True
            await worker_queries.show_gone(self._store, self.owner)

    async def _renew(self, executions: Sequence[Execution]) -> None:
        settings = self._env.settings
        job_ids = [execution.job.id for execution in executions]
        async with asyncio.timeout(settings.heartbeat):
            held = await lease_queries.renew(
                self._store, self.owner, job_ids, settings.written_lease
            )
        stops = {(row.id, row.fence): row.stop for row in held}
        for execution in executions:
            job = execution.job
            lost = (job.id, job.fence) not in stops
            if lost or stops[job.id, job.fence] != job.stop:
                execution.interrupt()

    async def _care(self) -> None:
        await self._upkeep.run(list(self._running))

    async def _repeat(self, action: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            try:
                await action()
            except Exception:
                _log.exception("worker_upkeep_failed")
            await asyncio.sleep(seconds)

    async def _drain(self) -> None:
        for execution in self._running.values():
            execution.release()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._env.settings.grace)
        for execution in self._running.values():
            execution.interrupt()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST_SECONDS)
        await self._store.notify(queries.READY)
