"""Work on NodeBalancers: rows become what engines serve.

kind                 done                            failed
nodebalancer_apply   the engine has what rows say    the watch brings it there every minute
nodebalancer_delete  nothing of it is left           the watch ends it

Those that take it to another host are in `move_jobs`.

A row says what is wanted, so there is nothing to undo: until the engine has it, it serves as
before.
"""

from functools import partial

from roost.core.addresses.queries import release_of_nodebalancer
from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, again, next_step, writing
from roost.resources.nodebalancers import node_queries, queries
from roost.resources.nodebalancers.apply_service import put_in_force, statuses
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.locks import resource_of
from roost.resources.nodebalancers.neighbours import BalancerFirewalls
from roost.services import Services
from roost.store import Queries, Store

_PAUSE_SECONDS = 1.0


class BalancerArgs(JobArgs):
    """Which NodeBalancer."""

    nodebalancer_id: int


def on_balancer(args: BalancerArgs) -> str:
    return resource_of(args.nodebalancer_id)


async def apply(run: Run[BalancerArgs]) -> Verdict:
    """Bring it to its engine as it is now."""
    await put_in_force(run.store, run.tools.services, run.args.nodebalancer_id)
    found = await statuses(run.store, run.tools.services, run.args.nodebalancer_id)
    return next_step(writing(node_queries.set_statuses, found))


APPLY = JobKind(
    "nodebalancer_apply",
    BalancerArgs,
    resource=on_balancer,
    steps=(Step("apply", apply),),
    retry=Retry(attempts=4),
)


async def clear(store: Store, services: Services, nodebalancer_id: int) -> None:
    """Nobody answers at its address, and nothing filters it. Raises EngineError."""
    await put_in_force(store, services, nodebalancer_id)
    await services.get(BalancerFirewalls).settle_balancer(store, services, nodebalancer_id)


async def forget(nodebalancer_id: int, services: Services, db: Queries) -> None:
    """Its address is free, and its row is gone."""
    now = services.get(JobQueue).clock.now()
    await release_of_nodebalancer(db, nodebalancer_id, now)
    await queries.forget(db, nodebalancer_id)


async def delete(run: Run[BalancerArgs]) -> Verdict:
    """Nothing of it is left, also where it was before a move."""
    services, nodebalancer_id = run.tools.services, run.args.nodebalancer_id
    row = await queries.find(run.store, nodebalancer_id)
    if row is not None and row.left_host is not None:
        return again(_PAUSE_SECONDS)
    await clear(run.store, services, nodebalancer_id)
    return next_step(partial(forget, nodebalancer_id, services))


DELETE = JobKind(
    "nodebalancer_delete",
    BalancerArgs,
    resource=on_balancer,
    steps=(Step("delete", delete),),
)


async def start(
    by: Context | log.Starter,
    action: str,
    nodebalancer_id: int,
    label: str,
    secondary: Entity | None = None,
) -> None:
    """Bring it as it is from now on to its engine; the event `action` tells when."""
    args, entity = (
        BalancerArgs(nodebalancer_id=nodebalancer_id),
        NODEBALANCER.entity(nodebalancer_id, label),
    )
    await log.start(by, APPLY, args, entity, secondary, action=action)
