"""Bringing instances and NodeBalancers to other hosts, one or all of a host, until that is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from roost.app.all_groups import all_groups
from roost.app.lab.clock import clock_beside
from roost.app.operator import hosts
from roost.clock import Clock
from roost.core.catalog import load
from roost.core.context import Context
from roost.core.events.log import EventListener
from roost.core.limits.capacity import Promises
from roost.core.neighbours import Neighbours
from roost.errors import ApiError, OperatorError
from roost.jobs import queries as jobs
from roost.jobs.queue import JobQueue
from roost.resources.compute.host_queries import instances_of
from roost.resources.compute.lifecycle.live_jobs import UNFIT
from roost.resources.compute.lifecycle.move_service import MoveError, WorkedOnError, begin_move
from roost.resources.nodebalancers import host_queries as balancers
from roost.resources.nodebalancers import move_service as balancing
from roost.services import Services
from roost.settings import Settings
from roost.store import Connection, Store
from roost.threads import DISK

_POLL_SECONDS = 0.2
_PATIENCE = 60.0
_ALL = 100_000

Say = Callable[[str], None]
Started = TypeVar("Started")


class DrainError(OperatorError):
    """An instance or a NodeBalancer stays where it is."""


class _Mover:
    """What moves instances beside the server."""

    def __init__(self, store: Store, services: Services, clock: Clock) -> None:
        self.store, self._services, self._clock = store, services, clock

    @classmethod
    async def of(cls, store: Store, settings: Settings) -> "_Mover":
        clock = await clock_beside(settings, store)
        groups = all_groups()
        services = Services(
            await DISK.run(load, settings.catalog),
            JobQueue(groups.jobs, clock, EventListener(clock)),
            Neighbours(groups.neighbours),
            *groups.neighbours,
            Promises(*groups.promises),
        )
        return cls(store, services, clock)

    async def move(self, compute_id: int, host: str | None, *, live: bool) -> str:
        """Where it is when it is there; one that cannot go while it runs is powered off for it.

        Raises DrainError.
        """
        what, begin = f"instance {compute_id}", partial(begin_move, compute_id=compute_id)
        started = await self._begin(what, partial(begin, host=host, live=live))
        fault = await self._ended(started.job_id)
        if fault is not None and fault.startswith(UNFIT):
            started = await self._begin(what, partial(begin, host=started.host, live=False))
            fault = await self._ended(started.job_id)
        if fault is not None:
            raise DrainError(f"{what} stays where it is: {fault}")
        return f"{what} is on host {started.host}"

    async def move_balancer(self, nodebalancer_id: int) -> str:
        """The same of a NodeBalancer. Raises DrainError."""
        what = f"NodeBalancer {nodebalancer_id}"
        begin = partial(balancing.begin_move, nodebalancer_id=nodebalancer_id)
        started = await self._begin(what, begin)
        fault = await self._ended(started.job_id)
        if fault is not None:
            raise DrainError(f"{what} stays where it is: {fault}")
        return f"{what} is on host {started.host}"

    async def _begin(self, what: str, begin: Callable[[Context], Awaitable[Started]]) -> Started:
        """What is done with it just now ends before. Raises DrainError."""

        async def work(db: Connection) -> Started:
            context = Context(caller=None, db=db, services=self._services, clock=self._clock)
            return await begin(context)

        deadline = time.monotonic() + _PATIENCE
        try:
            while True:
                with suppress(WorkedOnError, balancing.WorkedOnError):
                    return await self.store.commit(work)
                if time.monotonic() > deadline:
                    return await self.store.commit(work)
                await asyncio.sleep(_POLL_SECONDS)
        except (MoveError, balancing.MoveError) as error:
            raise DrainError(str(error)) from error
        except ApiError as error:
            reasons = ", ".join(problem.reason for problem in error.problems)
            raise DrainError(f"{what}: {reasons}") from error

    async def _ended(self, job_id: int) -> str | None:
        """Why it has failed; None when it is there."""
        while True:
            job = await jobs.find(self.store, job_id)
            if job is not None and job.finished is not None:
                return None if job.status == "done" else job.error or job.status
            await asyncio.sleep(_POLL_SECONDS)


async def migrate(
    store: Store, settings: Settings, compute_id: int, host: str | None, *, live: bool = True
) -> str:
    """Says where it is when it is there. Raises DrainError."""
    mover = await _Mover.of(store, settings)
    return await mover.move(compute_id, host, live=live)


async def drain(
    store: Store, settings: Settings, name: str, at_once: int, say: Say, *, live: bool = True
) -> int:
    """Place nothing on a host, and move what it has, so many at once; how many are left.

    Raises HostError.
    """
    await hosts.close(store, name)
    if at_once:
        held, balanced = await _instances(store, name), await balancers.movable(store, name)
        mover, turns = await _Mover.of(store, settings), asyncio.Semaphore(at_once)
        count = _Count(len(held) + len(balanced), say)
        await asyncio.gather(
            *(_leave(turns, count, partial(mover.move, each, None, live=live)) for each in held)
        )
        await asyncio.gather(
            *(_leave(turns, count, partial(mover.move_balancer, each)) for each in balanced)
        )
    return len(await _instances(store, name)) + await balancers.count_on(store, name)


async def _instances(store: Store, name: str) -> list[int]:
    return [each.id for each in await instances_of(store, name, 0, _ALL)]


class _Count:
    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say, self._done = total, say, 0

    def tell(self, text: str) -> None:
        self._done += 1
        self._say(f"{self._done} of {self._total}: {text}")


async def _leave(
    turns: asyncio.Semaphore, count: _Count, move: Callable[[], Awaitable[str]]
) -> None:
    async with turns:
        try:
            count.tell(await move())
        except DrainError as error:
            count.tell(str(error))
