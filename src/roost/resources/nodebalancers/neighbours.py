"""What NodeBalancers are to the instances that are their nodes, and what they ask of firewalls."""

from roost.core import instance_queries
from roost.core.catalog.entries import RegionEntry
from roost.core.context import Context
from roost.core.events import log
from roost.core.neighbours import Neighbour
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.nodebalancers import node_queries, queries
from roost.resources.nodebalancers.apply_service import put_in_force
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.services import Services
from roost.store import Queries


class BalancerFirewalls:
    """That there are none: firewalls rest on this package, which never imports them."""

    async def put_before(
        self, context: Context, nodebalancer_id: int, label: str, firewall_id: int
    ) -> None:
        """Put a new NodeBalancer behind a firewall. Raises 400 when that is gone."""

    async def settle_balancer(self, db: Queries, services: Services, nodebalancer_id: int) -> None:
        """Bring what engines filter in line with the rows, while no transaction is open.

        Raises EngineError.
        """


class Nodes(Neighbour):
    """What an instance is a node of."""

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        held = await node_queries.balancers_of(db, compute_id)
        return ["is a node of a NodeBalancer"] if held else []

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        return await self.ties(db, compute_id)

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        """Of an instance that goes, nothing is sent to its address before that is another's."""
        instance = await instance_queries.find(db, compute_id)
        if instance is None or instance.status != "deleting":
            return
        found = await queries.find_many(db, await node_queries.balancers_of(db, compute_id))
        for balancer in found:
            await put_in_force(db, services, balancer.id)
        # Not before: while an engine fails, the rows say where it still has to go.
        await node_queries.drop_instance(db, compute_id)
        queue, second = services.get(JobQueue), COMPUTE.of(instance)
        for balancer in found:
            by = log.Starter(queue, db, balancer.account_id)
            await log.notify(by, "nodebalancer_node_delete", NODEBALANCER.of(balancer), second)
