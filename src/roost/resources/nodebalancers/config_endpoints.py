"""What the API offers: configs of NodeBalancers and their nodes (reference: operations)."""

from typing import TypeVar

from roost.resources.nodebalancers import config_service, endpoints, locks, node_service
from roost.resources.nodebalancers.bodies import (
    CreateNodeBalancerConfig,
    CreateNodeBalancerNode,
    NodeBalancerConfigFields,
    RebuildNodeBalancerConfig,
    UpdateNodeBalancerConfig,
    UpdateNodeBalancerNode,
)
from roost.resources.nodebalancers.certificate_rules import Served
from roost.resources.nodebalancers.config_queries import CONFIGS
from roost.resources.nodebalancers.endpoints import (
    MAY_READ,
    MAY_WRITE,
    ONE,
    READ,
    WRITE,
)
from roost.resources.nodebalancers.node_queries import NODES
from roost.resources.nodebalancers.records import NodeBalancerConfigRow, NodeBalancerNodeRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Write
from roost.web.registry import DryRun, Page, endpoint

_CONFIGS = f"{ONE}/configs"
_CONFIG = f"{_CONFIGS}/{{configId:int}}"
_NODES = f"{_CONFIG}/nodes"
_NODE = f"{_NODES}/{{nodeId:int}}"

B = TypeVar("B", bound=NodeBalancerConfigFields)


async def _read_certificate(call: Call, body: B) -> tuple[B, Served | None]:
    return body, await config_service.read_certificate(call, body)


@endpoint(
    "GET",
    _CONFIGS,
    scopes=READ,
    grant=MAY_READ,
    returns=Page(NodeBalancerConfigRow),
    filters=CONFIGS.columns,
)
async def list_nodebalancer_configs(call: Call) -> bytes:
    """List the configs of a NodeBalancer.

    Each is a port.
    """
    nodebalancer_id = await locks.check_exists(call, call.number("nodeBalancerId"))
    return await call.collection(CONFIGS, call.account_id, nodebalancer_id)


@endpoint(
    "POST",
    _CONFIGS,
    scopes=WRITE,
    grant=MAY_WRITE,
    body=CreateNodeBalancerConfig,
    prepare=_read_certificate,
    of=endpoints.view_nodebalancer,
    returns=NodeBalancerConfigRow,
    events=("nodebalancer_config_create",),
    dry_run=DryRun(),
)
async def create_nodebalancer_config(
    call: Call, prepared: tuple[CreateNodeBalancerConfig, Served | None]
) -> bytes:
    """Create a config of a NodeBalancer.

    It serves when the event is finished. Connections to other ports go on.
    """
    config_id = await config_service.create(call, call.number("nodeBalancerId"), *prepared)
    return await _config(call, config_id)


@endpoint("GET", _CONFIG, scopes=READ, grant=MAY_READ, returns=NodeBalancerConfigRow)
async def view_nodebalancer_config(call: Call) -> bytes:
    """View a config of a NodeBalancer.

    Its certificate and key are not shown.
    """
    scope = call.account_id, call.number("nodeBalancerId")
    return await call.record(call.number("configId"), CONFIGS, *scope)


@endpoint(
    "PUT",
    _CONFIG,
    scopes=WRITE,
    grant=MAY_WRITE,
    body=UpdateNodeBalancerConfig,
    prepare=_read_certificate,
    of=view_nodebalancer_config,
    returns=NodeBalancerConfigRow,
    events=("nodebalancer_config_update",),
    dry_run=DryRun(),
)
async def update_nodebalancer_config(
    call: Call, prepared: tuple[UpdateNodeBalancerConfig, Served | None]
) -> bytes:
    """Update a config of a NodeBalancer.

    New connections meet it when the event is finished; those that are open go on.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    await config_service.update(call, *ids, *prepared)
    return await _config(call, ids[1])


@endpoint(
    "DELETE",
    _CONFIG,
    scopes=WRITE,
    grant=MAY_WRITE,
    events=("nodebalancer_config_delete",),
    dry_run=DryRun(),
)
async def delete_nodebalancer_config(call: Call) -> None:
    """Delete a config of a NodeBalancer.

    With its nodes; nobody answers at its port when the event is finished.
    """
    await config_service.delete(call, call.number("nodeBalancerId"), call.number("configId"))


@endpoint(
    "POST",
    f"{_CONFIG}/rebuild",
    scopes=WRITE,
    grant=Write("nodebalancer", of="nodeBalancerId", right="add_nodebalancers"),
    body=RebuildNodeBalancerConfig,
    prepare=_read_certificate,
    of=view_nodebalancer_config,
    returns=NodeBalancerConfigRow,
    events=("nodebalancer_config_update",),
    dry_run=DryRun(),
)
async def rebuild_nodebalancer_config(
    call: Call, prepared: tuple[RebuildNodeBalancerConfig, Served | None]
) -> bytes:
    """Rebuild a config of a NodeBalancer.

    Its fields and all of its nodes in one step: nodes that are not named go.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    await config_service.rebuild(call, *ids, *prepared)
    return await _config(call, ids[1])


@endpoint(
    "GET",
    _NODES,
    scopes=READ,
    grant=MAY_READ,
    returns=Page(NodeBalancerNodeRow),
    filters=NODES.columns,
)
async def list_nodebalancer_nodes(call: Call) -> bytes:
    """List the nodes of a config of a NodeBalancer.

    With what the last look at them has found.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    await locks.check_config_exists(call, *ids)
    return await call.collection(NODES, call.account_id, *ids)


@endpoint(
    "POST",
    _NODES,
    scopes=WRITE,
    grant=MAY_WRITE,
    body=CreateNodeBalancerNode,
    of=view_nodebalancer_config,
    returns=NodeBalancerNodeRow,
    events=("nodebalancer_node_create",),
)
async def create_nodebalancer_node(call: Call, body: CreateNodeBalancerNode) -> bytes:
    """Create a node of a config of a NodeBalancer.

    The private address of an instance of the account, in the NodeBalancer's region. It gets
    connections when the event is finished.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    return await _node(call, await node_service.create(call, *ids, body))


@endpoint("GET", _NODE, scopes=WRITE, grant=MAY_READ, returns=NodeBalancerNodeRow)
async def view_nodebalancer_node(call: Call) -> bytes:
    """View a node of a config of a NodeBalancer.

    With what the last look at it has found.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    return await call.record(call.number("nodeId"), NODES, call.account_id, *ids)


@endpoint(
    "PUT",
    _NODE,
    scopes=WRITE,
    grant=MAY_WRITE,
    body=UpdateNodeBalancerNode,
    of=view_nodebalancer_node,
    returns=NodeBalancerNodeRow,
    events=("nodebalancer_node_update",),
)
async def update_nodebalancer_node(call: Call, body: UpdateNodeBalancerNode) -> bytes:
    """Update a node of a config of a NodeBalancer.

    Where it is, its share, and what it gets: one that is to go is drained first.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    await node_service.update(call, *ids, call.number("nodeId"), body)
    return await _node(call, call.number("nodeId"))


@endpoint(
    "DELETE",
    _NODE,
    scopes=WRITE,
    grant=MAY_WRITE,
    events=("nodebalancer_node_delete",),
)
async def delete_nodebalancer_node(call: Call) -> None:
    """Delete a node of a config of a NodeBalancer.

    It gets nothing new when the event is finished.
    """
    ids = call.number("nodeBalancerId"), call.number("configId")
    await node_service.delete(call, *ids, call.number("nodeId"))


async def _config(call: Call, config_id: int) -> bytes:
    scope = call.account_id, call.number("nodeBalancerId")
    return await fetch_record(call.db, CONFIGS, scope, config_id)


async def _node(call: Call, node_id: int) -> bytes:
    scope = call.account_id, call.number("nodeBalancerId"), call.number("configId")
    return await fetch_record(call.db, NODES, scope, node_id)
