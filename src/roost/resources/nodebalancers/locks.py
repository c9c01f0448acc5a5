"""Finding and locking a NodeBalancer of the account, and what is of it."""

from collections.abc import Collection

from roost.core.context import Context
from roost.errors import not_found
from roost.resources.nodebalancers import config_queries, node_queries, queries
from roost.resources.nodebalancers.config_queries import ConfigFacts
from roost.resources.nodebalancers.node_queries import NodeFacts
from roost.resources.nodebalancers.queries import BalancerFacts as BalancerFacts
from roost.store import Queries


def resource_of(nodebalancer_id: int) -> str:
    """The name under which jobs of a NodeBalancer run one at a time."""
    return f"nodebalancer:{nodebalancer_id}"


def left_on(nodebalancer_id: int, host: str) -> str:
    """The resource of what a host is to drop."""
    return f"left:{resource_of(nodebalancer_id)}@{host}"


async def check_exists(context: Context, nodebalancer_id: int) -> int:
    """The id; 404 unless it is that of a NodeBalancer of the account."""
    if await queries.label_of(context.db, context.account_id, nodebalancer_id) is None:
        raise not_found()
    return nodebalancer_id


async def check_config_exists(context: Context, nodebalancer_id: int, config_id: int) -> int:
    """The config's id; 404 unless a NodeBalancer of the account has it."""
    wanted = context.account_id, nodebalancer_id, config_id
    if not await config_queries.exists(context.db, *wanted):
        raise not_found()
    return config_id


async def find(context: Context, nodebalancer_id: int) -> BalancerFacts:
    """One of the account; 404."""
    found = await queries.find(context.db, nodebalancer_id)
    if found is None or found.account_id != context.account_id or found.deleting:
        raise not_found()
    return found


async def find_all(db: Queries, ids: Collection[int]) -> list[BalancerFacts]:
    """Those of the ids that exist, of any account."""
    return await queries.find_many(db, ids)


async def lock(context: Context, nodebalancer_id: int) -> BalancerFacts:
    """The same, of which nobody else changes anything until the end of the transaction.

    Who locks instances too does that before.
    """
    found = await queries.lock(context.db, context.account_id, nodebalancer_id)
    if found is None:
        raise not_found()
    return found


async def find_config(context: Context, nodebalancer_id: int, config_id: int) -> ConfigFacts:
    """One of a NodeBalancer that is locked; 404."""
    found = await config_queries.find(context.db, nodebalancer_id, config_id)
    if found is None:
        raise not_found()
    return found


async def find_node(context: Context, config_id: int, node_id: int) -> NodeFacts:
    """One of a config whose NodeBalancer is locked; 404."""
    found = await node_queries.find(context.db, config_id, node_id)
    if found is None:
        raise not_found()
    return found
