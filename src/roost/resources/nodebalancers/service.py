"""Making, changing and deleting NodeBalancers (reference: operations, NodeBalancers)."""

from collections.abc import Sequence

from asyncpg import UniqueViolationError

from roost.core.access import give_to_creator
from roost.core.addresses.service import PoolExhaustedError, allocate_balanced
from roost.core.billing.ledger import begin, record
from roost.core.context import Context
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.core.planes import Engines
from roost.core.suspensions import SUSPENDED, Suspension
from roost.errors import invalid
from roost.resources.networking.limits import PUBLIC
from roost.resources.nodebalancers import config_service, jobs, locks, node_service, queries
from roost.resources.nodebalancers.bodies import CreateNodeBalancer, UpdateNodeBalancer
from roost.resources.nodebalancers.certificate_rules import Served
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.move_service import choose_host
from roost.resources.nodebalancers.neighbours import BalancerFirewalls
from roost.resources.nodebalancers.queries import BalancerFacts, NewBalancer
from roost.resources.reverse_dns.rules import default_name
from roost.resources.reverse_dns.settings import ReverseDns
from roost.resources.tags.service import change_tags, use_tags

LABEL_TAKEN = "Label must be unique among your NodeBalancers"
EXHAUSTED = "The region has no free IPv4 address"


async def create(
    context: Context, body: CreateNodeBalancer, served: Sequence[Served | None]
) -> int:
    """The id of a new one; `served` are the certificates of its configs."""
    await use_tags(context, body.tags)
    config_service.check_all(body.configs, served)
    named = {
        f"configs[{at}].nodes[{number}].address": node.address
        for at, config in enumerate(body.configs)
        for number, node in enumerate(config.nodes or ())
    }
    places = await node_service.find_places(context, body.region, named)
    new = await _insert(context, body)
    await give_to_creator(context, NODEBALANCER.name, new.id)
    for at, (config, each) in enumerate(zip(body.configs, served, strict=True)):
        config_id = await config_service.insert(context, new.id, config, each, f"configs[{at}].")
        for number, node in enumerate(config.nodes or ()):
            field = f"configs[{at}].nodes[{number}].address"
            await node_service.insert(context, config_id, node, places[field], field)
    await jobs.start(context, "nodebalancer_create", new.id, new.label)
    await begin(context.db, queries.CHARGED, new.id, new.now)
    await check_limits(context, queries.LIMIT)
    await check_limits(context, PUBLIC)
    if body.firewall_id is not None:
        firewalls = context.get(BalancerFirewalls)
        await firewalls.put_before(context, new.id, new.label, body.firewall_id)
    return new.id


async def _insert(context: Context, body: CreateNodeBalancer) -> NewBalancer:
    nodebalancer_id = await queries.next_id(context.db)
    try:
        held = await allocate_balanced(context.db, body.region, context.account_id, nodebalancer_id)
    except PoolExhaustedError:
        raise invalid(EXHAUSTED, "region") from None
    address = str(held.interface.ip)
    new = NewBalancer(
        id=nodebalancer_id,
        account_id=context.account_id,
        label=body.label or f"balancer{nodebalancer_id}",
        region=body.region,
        engine=context.get(Engines).of(BALANCER_PLANE, body.region).name,
        host=await choose_host(context, context.account_id, body.region),
        address=address,
        hostname=default_name(address, context.get(ReverseDns).suffix) or "",
        client_conn_throttle=body.client_conn_throttle,
        tags=body.tags,
        now=context.clock.seconds(),
    )
    if not await queries.insert(context.db, new):
        raise invalid(LABEL_TAKEN, "label")
    return new


async def update(context: Context, nodebalancer_id: int, body: UpdateNodeBalancer) -> None:
    tags = await change_tags(context, NODEBALANCER, nodebalancer_id, body.tags)
    held, now = await locks.lock(context, nodebalancer_id), context.clock.seconds()
    throttle = body.client_conn_throttle
    try:
        changed = await queries.update(context.db, held.id, body.label, tags, throttle, now)
    except UniqueViolationError:
        raise invalid(LABEL_TAKEN, "label") from None
    if not changed:
        return
    label = body.label or held.label
    if throttle in (None, held.client_conn_throttle):
        await log.notify(context, "nodebalancer_update", NODEBALANCER.entity(held.id, label))
    else:
        await jobs.start(context, "nodebalancer_update", held.id, label)
    await record(context.db, queries.CHARGED, held.id, now)


async def delete(context: Context, nodebalancer_id: int) -> None:
    """From now on nobody sees it; nobody answers at its address when the event is finished."""
    held, now = await locks.lock(context, nodebalancer_id), context.clock.seconds()
    await queries.set_deleting(context.db, held.id, now)
    args = jobs.BalancerArgs(nodebalancer_id=held.id)
    await log.start(context, jobs.DELETE, args, NODEBALANCER.of(held))
    await record(context.db, queries.CHARGED, held.id, now)


async def _rest(context: Context, nodebalancer_id: str) -> None:
    await _set_resting(context, nodebalancer_id, True, SUSPENDED)


async def _resume(context: Context, nodebalancer_id: str) -> None:
    await _set_resting(context, nodebalancer_id, False, "The account is no longer suspended.")


async def _set_resting(context: Context, nodebalancer_id: str, resting: bool, why: str) -> None:
    held = await _lock_any(context, int(nodebalancer_id))
    await queries.set_resting(context.db, held.id, resting)
    args = jobs.BalancerArgs(nodebalancer_id=held.id)
    entity = NODEBALANCER.of(held)
    await log.start(context, jobs.APPLY, args, entity, action="nodebalancer_update", message=why)


async def _lock_any(context: Context, nodebalancer_id: int) -> BalancerFacts:
    held = await queries.lock_any(context.db, nodebalancer_id)
    if held is None or held.deleting:
        raise invalid("The NodeBalancer is gone")
    return held


SUSPENSION = Suspension(queries.RUNNING, queries.RESTING, _rest, _resume)
