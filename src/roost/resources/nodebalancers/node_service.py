"""Nodes of NodeBalancers: private addresses of instances (reference: NodeBalancer node)."""

from collections.abc import Mapping
from dataclasses import dataclass

from asyncpg import UniqueViolationError

from roost.core import instance_queries
from roost.core.access import require_named
from roost.core.addresses import queries as addresses
from roost.core.context import Context
from roost.core.entities.locks import lock_all
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.compute.entity import COMPUTE
from roost.resources.nodebalancers import jobs, locks, node_queries, queries, rules
from roost.resources.nodebalancers.bodies import CreateNodeBalancerNode, UpdateNodeBalancerNode
from roost.resources.nodebalancers.queries import BalancerFacts

NOT_YOURS = "Must be the private address of a Compute of yours in the region"
MANY = f"A config has at most {rules.MAX_NODES} nodes"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is."""

    compute_id: int
    address: str
    port: int


async def find_places(context: Context, region: str, named: Mapping[str, str]) -> dict[str, Place]:
    """Where nodes are, by the fields of the body that name them. Raises 400 with all that cannot
    be, and 403 for what a narrowed token may not name, whether it exists or not.

    Their instances keep their addresses until the end of the transaction. Called before the
    NodeBalancer is locked.
    """
    parsed = {field: rules.parse_address(text) for field, text in named.items()}
    wanted = {address for address, _ in parsed.values()}
    if not wanted:
        return {}
    found = await addresses.find_all_held(context.db, context.account_id, wanted)
    owners = {found[each].compute_id if each in found else 0 for each in wanted}
    await require_named(context, COMPUTE.name, owners)
    own = await lock_all(
        context.db, COMPUTE, context.account_id, {each.compute_id for each in found.values()}
    )
    # An instance may have lost one before it was locked.
    found = await addresses.find_all_held(context.db, context.account_id, wanted)
    instances = await instance_queries.find_many(context.db, own)
    places, problems = dict[str, Place](), list[Problem]()
    for field, (address, port) in parsed.items():
        held = found.get(address)
        instance = None if held is None else instances.get(held.compute_id)
        if (
            held is None
            or instance is None
            or instance.status == "deleting"
            or held.public
            or held.region != region
        ):
            problems.append(Problem(NOT_YOURS, field))
        else:
            places[field] = Place(instance.id, address, port)
    if problems:
        raise invalid_fields(problems)
    return places


async def insert(
    context: Context,
    config_id: int,
    body: CreateNodeBalancerNode,
    place: Place,
    field: str,
    node_id: int | None = None,
) -> int:
    """The id of a new one, or of one that is written anew; 400 when the config has one of this
    address."""
    found = await node_queries.insert(
        context.db,
        config_id,
        place.compute_id,
        place.address,
        place.port,
        body.label,
        body.weight,
        body.mode,
        node_id,
    )
    if found is None:
        raise invalid(rules.NODE_TAKEN, field)
    return found


async def create(
    context: Context, nodebalancer_id: int, config_id: int, body: CreateNodeBalancerNode
) -> int:
    region = (await locks.find(context, nodebalancer_id)).region
    places = await find_places(context, region, {"address": body.address})
    held = await locks.lock(context, nodebalancer_id)
    config = await locks.find_config(context, held.id, config_id)
    if len(await node_queries.of_config(context.db, config.id)) >= rules.MAX_NODES:
        raise invalid(MANY)
    node_id = await insert(context, config.id, body, places["address"], "address")
    await _changed(context, held, "nodebalancer_node_create")
    return node_id


async def update(
    context: Context,
    nodebalancer_id: int,
    config_id: int,
    node_id: int,
    body: UpdateNodeBalancerNode,
) -> None:
    region = (await locks.find(context, nodebalancer_id)).region
    named = {} if body.address is None else {"address": body.address}
    place = (await find_places(context, region, named)).get("address")
    held = await locks.lock(context, nodebalancer_id)
    config = await locks.find_config(context, held.id, config_id)
    node = await locks.find_node(context, config.id, node_id)
    before = Place(node.compute_id, node.address, node.port)
    place = place or before
    values = body.label or node.label, body.weight or node.weight, body.mode or node.mode
    if (place, *values) == (before, node.label, node.weight, node.mode):
        return
    try:
        await node_queries.update(
            context.db, node.id, place.compute_id, place.address, place.port, *values
        )
    except UniqueViolationError:
        raise invalid(rules.NODE_TAKEN, "address") from None
    await _changed(context, held, "nodebalancer_node_update")


async def delete(context: Context, nodebalancer_id: int, config_id: int, node_id: int) -> None:
    held = await locks.lock(context, nodebalancer_id)
    config = await locks.find_config(context, held.id, config_id)
    node = await locks.find_node(context, config.id, node_id)
    await node_queries.delete(context.db, [node.id])
    await _changed(context, held, "nodebalancer_node_delete")


async def _changed(context: Context, held: BalancerFacts, action: str) -> None:
    await queries.touch(context.db, held.id, context.clock.seconds())
    await jobs.start(context, action, held.id, held.label)
