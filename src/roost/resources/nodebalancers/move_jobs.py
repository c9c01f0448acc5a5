"""A NodeBalancer goes to another host of its region.

kind                 done                               failed
nodebalancer_move    the new host serves it             the former host has it again
nodebalancer_clear   the former host has nothing of it  the watch of that host ends it

Rows name the new host from the beginning, and the former one until that has dropped it: it serves
until the new one does.
"""

from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.jobs import queries as job_rows
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.nodebalancers import host_queries, node_queries, queries, usage_queries
from roost.resources.nodebalancers.apply_service import put_in_force, statuses
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.nodebalancers.jobs import BalancerArgs, on_balancer
from roost.resources.nodebalancers.locks import left_on, resource_of
from roost.resources.nodebalancers.neighbours import BalancerFirewalls
from roost.resources.nodebalancers.usage_service import note
from roost.store import Queries

_ASKED = 3
"""So often is asked for what was counted: an engine that does not say so is down."""


class LeftArgs(JobArgs):
    """What a host still has of a NodeBalancer that is on another one."""

    nodebalancer_id: int
    region: str
    host: str


def _on_left(args: LeftArgs) -> str:
    return left_on(args.nodebalancer_id, args.host)


async def clear(run: Run[LeftArgs]) -> Verdict:
    """What it has counted is noted before; nothing happens where it is by now, or where another
    host does this for a dead one, as that may serve it."""
    args, engines = run.args, run.get(Engines)
    row = await queries.find(run.store, args.nodebalancer_id)
    if row is not None and row.host == args.host:
        return next_step()
    if engines.host != args.host:
        return next_step(writing(leave, args.nodebalancer_id, args.host))
    engine = engines.of(BALANCER_PLANE, args.region)
    try:
        seen = await engine.traffic()
    except EngineError:
        if run.attempt < _ASKED:
            raise
    else:
        own = {each: seen[each] for each in seen.keys() & {args.nodebalancer_id}}
        await note(run.store, args.host, own, run.clock.now(), left=True)
    row = await queries.find(run.store, args.nodebalancer_id)
    if row is not None and row.host == args.host:
        return next_step()
    await engine.remove(args.nodebalancer_id)
    return next_step(writing(leave, args.nodebalancer_id, args.host))


async def leave(db: Queries, nodebalancer_id: int, host: str) -> None:
    """A host has nothing of it any more, and counts nothing."""
    await host_queries.leave(db, nodebalancer_id, host)
    await usage_queries.forget_reading(db, nodebalancer_id, host)


async def settle(run: Run[LeftArgs]) -> Verdict:
    """Nothing here filters it any more."""
    firewalls = run.get(BalancerFirewalls)
    await firewalls.settle_balancer(run.store, run.tools.services, run.args.nodebalancer_id)
    return next_step()


CLEAR = JobKind(
    "nodebalancer_clear",
    LeftArgs,
    resource=_on_left,
    steps=(Step("clear", clear), Step("settle", settle)),
)


async def move(run: Run[BalancerArgs]) -> Verdict:
    """This host serves it, behind its firewalls, before the former one drops it."""
    store, services, nodebalancer_id = run.store, run.tools.services, run.args.nodebalancer_id
    row = await queries.find(store, nodebalancer_id)
    if row is None:
        raise Fatal("The NodeBalancer is gone.")
    await services.get(BalancerFirewalls).settle_balancer(store, services, nodebalancer_id)
    await put_in_force(store, services, nodebalancer_id)
    found = await statuses(store, services, nodebalancer_id)

    async def write(db: Queries) -> None:
        await node_queries.set_statuses(db, found)
        held = await queries.lock_any(db, nodebalancer_id)
        if held is not None and held.left_host is not None:
            args = LeftArgs(
                nodebalancer_id=nodebalancer_id, region=held.region, host=held.left_host
            )
            await run.get(JobQueue).enqueue(db, CLEAR, args, host=held.left_host)

    return next_step(write)


async def give_up(run: Run[BalancerArgs]) -> Verdict:
    """Nothing of it stays here."""
    row = await queries.find(run.store, run.args.nodebalancer_id)
    if row is not None and row.left_host is not None:
        engines = run.tools.services.get(Engines)
        await engines.of(BALANCER_PLANE, row.region).remove(row.id)
    return next_step()


async def _stays(db: Queries, job: Job, args: BalancerArgs) -> None:
    host = await host_queries.stay(db, args.nodebalancer_id)
    if host is not None:
        await job_rows.move(db, resource_of(args.nodebalancer_id), host)


MOVE = JobKind(
    "nodebalancer_move",
    BalancerArgs,
    resource=on_balancer,
    event="nodebalancer_update",
    steps=(Step("move", move, undo=give_up),),
    retry=Retry(attempts=2),
    on_failed=_stays,
)
