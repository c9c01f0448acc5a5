"""On which host of its region a NodeBalancer is, and taking it to another one."""

from dataclasses import dataclass

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.hosts import queries as hosts
from roost.errors import ShownError
from roost.jobs.queue import JobQueue
from roost.resources.nodebalancers import host_queries, queries
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.jobs import BalancerArgs
from roost.resources.nodebalancers.locks import resource_of
from roost.resources.nodebalancers.move_jobs import MOVE
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
    by = log.Starter(queue, context.db, held.account_id)
    args = BalancerArgs(nodebalancer_id=held.id)
    await log.start(by, MOVE, args, NODEBALANCER.of(held), message=_MOVED)
    [job] = [
        each
        for each in await queue.unfinished(context.db, resource_of(held.id))
        if each.kind == MOVE.name
    ]
    return Started(job.id, host)


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
