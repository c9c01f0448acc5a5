"""What becomes of a host that is dead: it is fenced, and another one takes over what it had."""

import asyncio
import time
from pathlib import Path

from pydantic import BaseModel

from roost.app.all_groups import all_groups
from roost.app.operator import hosts
from roost.app.operator.hosts import HostError
from roost.clock import Clock
from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events.log import EventListener
from roost.core.hosts import queries
from roost.core.hosts.holdings import Holdings
from roost.core.hosts.missing_jobs import MISSING, STEP, MissingArgs
from roost.core.neighbours import Neighbours
from roost.endings import Ending
from roost.jobs import host_queries as jobs
from roost.jobs import queries as job_rows
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.resources.compute import host_queries
from roost.resources.compute.leftover_jobs import call_off
from roost.resources.nodebalancers import host_queries as balancers
from roost.resources.nodebalancers.move_service import MoveError, rescue
from roost.services import Services
from roost.store import Connection, Queries, Store

_PROGRAM_SECONDS = 300.0
_LOOK_SECONDS = 120.0
_POLL_SECONDS = 0.2
_NAMED = 10
"""So many missing things are named."""
_REASON = "The host {} is dead."


async def fence(store: Store, name: str, program: Path | None) -> list[str]:
    """Its workers may not serve any more; one that still runs ends its guests when it learns of it.
    What has nothing on disks goes to other hosts at once: what became of it, in lines.

    `program` powers the machine off, or sees that it is: it is told the host's name, and ends with
    0 when the machine is off for certain. Without one the operator has seen to it. HostError.
    """
    await hosts.check_silent(store, name)
    if program is not None:
        await _power_off(program, name)
    services = _services()

    async def work(db: Connection) -> None:
        await queries.set_state(db, name, "fenced")
        for job_id in await _holdings().moves_to(db, name):
            await services.get(JobQueue).cancel(db, job_id, _REASON.format(name))

    await store.commit(work)
    return [
        said
        for each in await balancers.known_to(store, name)
        if (said := await _rescue(store, services, each, name)) is not None
    ]


async def _rescue(store: Store, services: Services, nodebalancer_id: int, name: str) -> str | None:
    async def work(db: Connection) -> str | None:
        clock = services.get(JobQueue).clock
        context = Context(caller=None, db=db, services=services, clock=clock)
        return await rescue(context, nodebalancer_id, name)

    try:
        host = await store.commit(work)
    except MoveError as error:
        return str(error)
    return None if host is None else f"NodeBalancer {nodebalancer_id} goes to host {host}"


async def take_over(
    store: Store, name: str, other: str, *, without_disks: bool = False
) -> dict[str, int]:
    """All that a fenced host had is another one's, in whose state folder the disks are already;
    how many of what.

    Raises HostError, also where disks, volumes or backups are missing there, unless `without_disks`
    says that they are lost.
    """
    services = _services()
    if not without_disks:
        await _see_disks(store, services, name, other)

    async def work(db: Connection) -> dict[str, int]:
        await _check(db, name, other)
        queue, reason = services.get(JobQueue), _REASON.format(name)
        for each in await host_queries.leaving(db, name):
            await call_off(db, services, each.id)
            # The move alone: what waits behind it, or takes its place, is done by the other host.
            if each.move is not None and await queue.preempt_one(db, each.move, reason):
                await instance_queries.set_status(db, each.id, "offline", queue.clock.now())
        for job_id in await host_queries.clearings(db, name):
            await queue.cancel(db, job_id, reason)
        await jobs.give(db, name, other)
        await hosts.retire(db, name)
        return await _holdings().give(db, name, other)

    return await store.commit(work)


async def _check(db: Queries, name: str, other: str) -> None:
    facts, taker = await queries.lock(db, name), await queries.find(db, other)
    if facts is None:
        raise HostError(f"there is no host {name}")
    if facts.state != "fenced":
        raise HostError(f"host {name} is not fenced: its guests may run there")
    if taker is None or not taker.alive or taker.state == "fenced":
        raise HostError(f"host {other} has no worker that runs")
    found = await _holdings().regions(db, name)
    if unserved := found.difference(await queries.serves(db, other)):
        raise HostError(f"host {other} does not serve {', '.join(sorted(unserved))}")


async def _see_disks(store: Store, services: Services, name: str, other: str) -> None:
    """The taker's own worker looks: nobody else sees its disks. Raises HostError."""

    async def ask(db: Connection) -> int:
        await _check(db, name, other)
        args = MissingArgs(host=name)
        return (await services.get(JobQueue).enqueue(db, MISSING, args, host=other)).id

    job = await _ended(store, await store.commit(ask), other)
    if job.status != "done":
        raise HostError(f"host {other} could not look for the disks: {job.error or job.status}")
    result = _Missing.model_validate(job.results[STEP])
    if result.missing:
        first, more = result.missing[:_NAMED], len(result.missing) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        raise HostError(
            f"host {other} does not have {', '.join(first)}{rest} of host {name}: bring them to"
            " its state folder first, or say --without-disks if they are lost"
        )


class _Missing(BaseModel):
    """The result of the job that has looked."""

    missing: list[str]


async def _ended(store: Store, job_id: int, host: str) -> Job:
    """Raises HostError when the host's worker does not come to it."""
    deadline = time.monotonic() + _LOOK_SECONDS
    while (job := await job_rows.find(store, job_id)) is not None and job.finished is None:
        if time.monotonic() > deadline:
            raise HostError(f"host {host} does not say whether it has the disks: try again")
        await asyncio.sleep(_POLL_SECONDS)
    if job is None:
        raise HostError(f"job {job_id} of host {host} is gone: try again")
    return job


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
        ending = Ending.of((program,), code, "")
        raise HostError(f"{program} {ending.how}: host {name} may run")


def _holdings() -> Holdings:
    return Holdings(*all_groups().holdings)


def _services() -> Services:
    clock, groups = Clock(), all_groups()
    return Services(
        JobQueue(groups.jobs, clock, EventListener(clock)),
        Neighbours(groups.neighbours),
        *groups.neighbours,
    )
