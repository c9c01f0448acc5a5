"""On which host of its region a NodeBalancer is, and taking it to another one."""

from dataclasses import dataclass

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.hosts import queries as hosts
from roost.errors import ShownError
from roost.jobs import host_queries as jobs
from roost.jobs.queue import JobQueue
from roost.resources.nodebalancers import host_queries, queries, usage_queries
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.jobs import BalancerArgs
from roost.resources.nodebalancers.locks import left_on, resource_of
from roost.resources.nodebalancers.move_jobs import MOVE, leave
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.settings import MAIN_HOST

_MOVED = "The NodeBalancer goes to another machine: clients connect anew."


class MoveError(ShownError):
    """The NodeBalancer stays where it is, at least for now."""


class WorkedOnError(MoveError):
    """Something else is done with it at this moment."""


@dataclass(frozen=True, slots=True)
class Started:
    """A move that has begun."""

    job_id: int
    host: str


async def choose_host(context: Context, account_id: int, region: str) -> str:
    """For a new one: where most instances of the account are that may be its nodes, of the hosts
    that others reach; else the main one."""
    found = await _possible(context, region)
    return await _nearest(context, account_id, region, found) if found else MAIN_HOST


async def begin_move(context: Context, nodebalancer_id: int) -> Started:
    """Have a job bring it to another host of its region. Raises MoveError."""
    held = await queries.lock_any(context.db, nodebalancer_id)
    if held is None or held.deleting:
        raise MoveError(f"NodeBalancer {nodebalancer_id} is gone")
    queue = context.get(JobQueue)
    if held.left_host is not None or await queue.busy(context.db, resource_of(held.id)):
        raise WorkedOnError(f"something is done with NodeBalancer {held.id}")
    others = [each for each in await _possible(context, held.region) if each != held.host]
    if not others:
        raise MoveError(f"NodeBalancer {held.id} is on host {held.host}: no other one can have it")
    host = await _nearest(context, held.account_id, held.region, others)
    await host_queries.begin_move(context.db, held.id, host)
    await _start(context, held)
    [job] = [
        each
        for each in await queue.unfinished(context.db, resource_of(held.id))
        if each.kind == MOVE.name
    ]
    return Started(job.id, host)


async def rescue(context: Context, nodebalancer_id: int, dead: str) -> str | None:
    """Another host of its region has it at once, as nothing of it is on disks; None when it was
    only to be dropped by the dead one, which is fenced. Raises MoveError where none can have it."""
    facts = await hosts.lock(context.db, dead)
    if facts is None or facts.state != "fenced":
        raise MoveError(f"host {dead} is not fenced")
    held = await queries.lock_any(context.db, nodebalancer_id)
    if held is None or dead not in {held.host, held.left_host}:
        return None
    if held.host != dead:
        await _drop_no_more(context, held, dead, dead)
        await leave(context.db, held.id, dead)
        return None
    # The former host may serve it still: two would answer at its address.
    host = held.left_host or await _other(context, held)
    await _drop_no_more(context, held, host, dead)
    await host_queries.put(context.db, held.id, host)
    await usage_queries.forget_reading(context.db, held.id, dead)
    await jobs.give_resource(context.db, resource_of(held.id), dead, host)
    if not held.deleting:
        await _start(context, held)
    return host


async def _drop_no_more(context: Context, held: BalancerFacts, host: str, dead: str) -> None:
    """Nobody waits for `host` to drop it; what a dead worker had begun ends on one that lives."""
    resource = left_on(held.id, host)
    if host == dead:
        await jobs.give_resource(context.db, resource, dead, held.host)
    await context.get(JobQueue).preempt(context.db, resource, f"The host {dead} is dead.")


async def _other(context: Context, held: BalancerFacts) -> str:
    possible = [each for each in await _possible(context, held.region) if each != held.host]
    if not possible:
        raise MoveError(f"NodeBalancer {held.id} stays: no other host can have it")
    return await _nearest(context, held.account_id, held.region, possible)


async def _start(context: Context, held: BalancerFacts) -> None:
    by = log.Starter(context.get(JobQueue), context.db, held.account_id)
    args = BalancerArgs(nodebalancer_id=held.id)
    await log.start(by, MOVE, args, NODEBALANCER.of(held), message=_MOVED)


async def _possible(context: Context, region: str) -> list[str]:
    """Hosts that may have one more, and whose networks meet those of others."""
    reached = {each.name for each in await hosts.all_hosts(context.db) if each.ip is not None}
    return [
        each.host
        for each in await hosts.serving(context.db, region)
        if each.state == "up" and each.alive and each.host in {*reached, MAIN_HOST}
    ]


async def _nearest(context: Context, account_id: int, region: str, possible: list[str]) -> str:
    count = await instance_queries.hosts_of_account(context.db, account_id, region)
    return max(possible, key=lambda each: (count.get(each, 0), each == MAIN_HOST))
