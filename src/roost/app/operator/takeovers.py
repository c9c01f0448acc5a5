"""What becomes of a host that is dead: it is fenced, and another one takes over what it had."""

import asyncio
from pathlib import Path

from roost.app.groups import GROUPS
from roost.app.operator import hosts
from roost.app.operator.hosts import HostError
from roost.clock import Clock
from roost.core.events.log import EventListener
from roost.core.hosts import queries
from roost.core.hosts.holdings import Holdings
from roost.core.neighbours import Neighbours
from roost.jobs import host_queries as jobs
from roost.jobs.queue import JobQueue
from roost.resources.compute import host_queries
from roost.resources.compute import queries as instances
from roost.resources.compute.leftover_jobs import call_off
from roost.resources.compute.locks import resource_of
from roost.services import Services
from roost.store import Connection, Queries, Store

_PROGRAM_SECONDS = 300.0
_REASON = "The host {} is dead."

_HOLDINGS = Holdings(*GROUPS.holdings)


async def fence(store: Store, name: str, program: Path | None) -> None:
    """Its workers may not serve any more; one that still runs ends its guests when it learns of it.

    `program` powers the machine off, or sees that it is: it is told the host's name, and ends with
    0 when the machine is off for certain. Without one the operator has seen to it. HostError.
    """
    await hosts.check_silent(store, name)
    if program is not None:
        await _power_off(program, name)
    services = _services()

    async def work(db: Connection) -> None:
        await queries.set_state(db, name, "fenced")
        for job_id in await host_queries.moves_to(db, name):
            await services.get(JobQueue).cancel(db, job_id, _REASON.format(name))

    await store.commit(work)


async def take_over(store: Store, name: str, other: str) -> dict[str, int]:
    """All that a fenced host had is another one's, in whose state folder the disks are already;
    how many of what. Raises HostError."""
    services = _services()

    async def work(db: Connection) -> dict[str, int]:
        await _check(db, name, other)
        queue, reason = services.get(JobQueue), _REASON.format(name)
        for compute_id in await host_queries.leaving(db, name):
            await queue.preempt(db, resource_of(compute_id), reason)
            await call_off(db, services, compute_id)
            await instances.set_status(db, compute_id, "offline", queue.clock.now())
        for job_id in await host_queries.clearings(db, name):
            await queue.cancel(db, job_id, reason)
        await jobs.give(db, name, other)
        await hosts.retire(db, name)
        return await _HOLDINGS.give(db, name, other)

    return await store.commit(work)


async def _check(db: Queries, name: str, other: str) -> None:
    facts, taker = await queries.lock(db, name), await queries.find(db, other)
    if facts is None:
        raise HostError(f"there is no host {name}")
    if facts.state != "fenced":
        raise HostError(f"host {name} is not fenced: its guests may run there")
    if taker is None or not taker.alive or taker.state == "fenced":
        raise HostError(f"host {other} has no worker that runs")
    found = await _HOLDINGS.regions(db, name)
    if unserved := found.difference(await queries.serves(db, other)):
        raise HostError(f"host {other} does not serve {', '.join(sorted(unserved))}")


async def _power_off(program: Path, name: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(program, name)
    except OSError as error:
        raise HostError(f"{program} does not run: {error.strerror}") from error
    try:
        async with asyncio.timeout(_PROGRAM_SECONDS):
            code = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise HostError(f"{program} does not end: host {name} may run") from None
    if code != 0:
        raise HostError(f"{program} ended with {code}: host {name} may run")


def _services() -> Services:
    clock = Clock()
    return Services(
        JobQueue(GROUPS.jobs, clock, EventListener(clock)),
        Neighbours(GROUPS.neighbours),
        *GROUPS.neighbours,
    )
