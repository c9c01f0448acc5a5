"""What the API offers: NodeBalancers (reference: operations, NodeBalancers)."""

from collections.abc import Sequence

from roost.resources.compute.locks import check_exists as check_instance_exists
from roost.resources.nodebalancers import config_service, service, usage_service
from roost.resources.nodebalancers.bodies import CreateNodeBalancer, UpdateNodeBalancer
from roost.resources.nodebalancers.certificate_rules import Served
from roost.resources.nodebalancers.queries import NODEBALANCERS, OF_INSTANCE
from roost.resources.nodebalancers.records import NodeBalancerRow, NodeBalancerStatsRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import DryRun, Page, endpoint

READ = ("nodebalancers:read_only",)
WRITE = ("nodebalancers:read_write",)
MAY_READ = Read("nodebalancer", of="nodeBalancerId")
MAY_WRITE = Write("nodebalancer", of="nodeBalancerId")
ALL = "/nodebalancers"
ONE = f"{ALL}/{{nodeBalancerId:int}}"


@endpoint(
    "GET",
    ALL,
    scopes=READ,
    grant=Listed("nodebalancer"),
    returns=Page(NodeBalancerRow),
    filters=NODEBALANCERS.columns,
)
async def list_nodebalancers(call: Call) -> bytes:
    """List NodeBalancers.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(NODEBALANCERS, call.account_id)


Prepared = tuple[CreateNodeBalancer, Sequence[Served | None]]


async def _read_certificates(call: Call, body: CreateNodeBalancer) -> Prepared:
    found = [
        await config_service.read_certificate(call, each, f"configs[{at}].")
        for at, each in enumerate(body.configs)
    ]
    return body, found


@endpoint(
    "POST",
    ALL,
    scopes=WRITE,
    grant=Global("add_nodebalancers"),
    body=CreateNodeBalancer,
    prepare=_read_certificates,
    returns=NodeBalancerRow,
    events=("nodebalancer_create",),
    dry_run=DryRun(),
)
async def create_nodebalancer(call: Call, prepared: Prepared) -> bytes:
    """Create a NodeBalancer.

    With its first configs and their nodes, if you like. It gets a public IPv4 address of its own,
    and serves when its event is finished.
    """
    nodebalancer_id = await service.create(call, *prepared)
    return await fetch_record(call.db, NODEBALANCERS, (call.account_id,), nodebalancer_id)


@endpoint("GET", ONE, scopes=READ, grant=MAY_READ, returns=NodeBalancerRow)
async def view_nodebalancer(call: Call) -> bytes:
    """View a NodeBalancer.

    Its configs and their nodes are lists of their own.
    """
    return await call.record(call.number("nodeBalancerId"), NODEBALANCERS, call.account_id)


@endpoint(
    "PUT",
    ONE,
    scopes=WRITE,
    grant=MAY_WRITE,
    body=UpdateNodeBalancer,
    of=view_nodebalancer,
    returns=NodeBalancerRow,
    events=("nodebalancer_update",),
    dry_run=DryRun(),
)
async def update_nodebalancer(call: Call, body: UpdateNodeBalancer) -> bytes:
    """Update a NodeBalancer.

    Its name, its tags, and how many connections a client may open in a second.
    """
    nodebalancer_id = call.number("nodeBalancerId")
    await service.update(call, nodebalancer_id, body)
    return await fetch_record(call.db, NODEBALANCERS, (call.account_id,), nodebalancer_id)


@endpoint(
    "DELETE",
    ONE,
    scopes=WRITE,
    grant=MAY_WRITE,
    events=("nodebalancer_delete",),
    dry_run=DryRun(),
)
async def delete_nodebalancer(call: Call) -> None:
    """Delete a NodeBalancer.

    With its configs and nodes, and its address. Connections end when the event is finished.
    """
    await service.delete(call, call.number("nodeBalancerId"))


@endpoint("GET", f"{ONE}/stats", scopes=READ, grant=MAY_READ, returns=NodeBalancerStatsRow)
async def view_nodebalancer_stats(call: Call) -> str:
    """View what a NodeBalancer did in the last 24 hours.

    Means over five minutes. There are none in its first minutes.
    """
    return await usage_service.view_stats(call, call.number("nodeBalancerId"))


@endpoint(
    "GET",
    "/compute/instances/{computeId:int}/nodebalancers",
    scopes=("computes:read_only",),
    grant=Read("compute"),
    returns=Page(NodeBalancerRow),
    filters=OF_INSTANCE.columns,
)
async def list_nodebalancers_of_instance(call: Call) -> bytes:
    """List the NodeBalancers that an instance is a node of.

    Restricted users see those that are granted to them.
    """
    compute_id = call.number("computeId")
    await check_instance_exists(call, compute_id)
    return await call.collection(OF_INSTANCE, call.account_id, compute_id)
