"""Sending an instance to another host of its region, for whoever runs the cloud."""

from dataclasses import dataclass

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.hosts import queries as hosts
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.capacity import choose_host, has_room
from roost.core.limits.host import Promised
from roost.errors import ShownError
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.leftover_jobs import left_on
from roost.resources.compute.lifecycle.live_jobs import MOVE_LIVE
from roost.resources.compute.lifecycle.move_jobs import MOVE, MoveArgs
from roost.resources.compute.locks import is_worked_on

_RESTING = ("running", "offline", "stopped")


class MoveError(ShownError):
    """The instance stays where it is, at least for now."""


class WorkedOnError(MoveError):
    """Something else is done with it at this moment."""


@dataclass(frozen=True, slots=True)
class Started:
    """A move that has begun."""

    job_id: int
    compute_id: int
    host: str


async def begin_move(context: Context, compute_id: int, host: str | None, *, live: bool) -> Started:
    """Have a job bring it to that host, or to the one of its region with the most room.

    `live`: a guest that runs goes on running; else it is powered off, and booted again there.
    Raises MoveError and, where no host has room, ApiError 400.
    """
    facts = await instance_queries.lock_any(context.db, compute_id)
    if facts is None:
        raise MoveError(f"there is no instance {compute_id}")
    if facts.status not in _RESTING or await is_worked_on(context, facts.id):
        raise WorkedOnError(f"instance {facts.id} is {facts.status}, and something is done with it")
    target = await _target(context, facts, host)
    await queries.set_target_host(context.db, facts.id, target)
    if not await has_room(context, facts.region, target):
        raise MoveError(f"host {target} has no room for instance {facts.id}")
    runs = facts.status == "running"
    kind = MOVE_LIVE if live and runs else MOVE
    args = MoveArgs(compute_id=facts.id, booted=runs, source=facts.host, host=target)
    queue = context.get(JobQueue)
    by = log.Starter(queue, context.db, facts.account_id)
    await log.start(by, kind, args, COMPUTE.of(facts))
    [job] = [
        each
        for each in await queue.unfinished(context.db, f"compute:{facts.id}")
        if each.kind == kind.name
    ]
    return Started(job.id, facts.id, target)


async def _target(context: Context, facts: InstanceFacts, host: str | None) -> str:
    if host is None:
        needs = Promised(facts.memory, facts.disk, facts.vcpus)
        host = await choose_host(context, facts.region, needs, "host", besides=facts.host)
    if host == facts.host:
        raise MoveError(f"instance {facts.id} is on host {host}, and no other one can have it")
    found = await hosts.find(context.db, host)
    serving = {each.host for each in await hosts.serving(context.db, facts.region)}
    if found is None or host not in serving:
        raise MoveError(f"there is no host {host} that serves region {facts.region}")
    if found.state != "up" or not found.alive:
        raise MoveError(f"host {host} is {found.state if found.alive else 'silent'}")
    if found.address is None:
        raise MoveError(f"host {host} takes nothing: its worker has no ROOST_HOST_LISTEN")
    if await context.get(JobQueue).busy(context.db, left_on(facts.id, host)):
        raise MoveError(f"host {host} still drops what it had of instance {facts.id}")
    return host
