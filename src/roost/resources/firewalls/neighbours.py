"""What firewalls are to the instances behind them."""

from collections.abc import Collection, Mapping

from roost.core.context import Context
from roost.core.events import log
from roost.core.neighbours import Neighbour
from roost.core.references import OfKind
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.neighbours import InstanceFirewalls
from roost.resources.firewalls import device_queries, queries, service
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.queries import FIREWALL, FirewallFacts
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.neighbours import BalancerFirewalls
from roost.services import Services
from roost.store import Queries

_NAMED = OfKind(FIREWALL, "read_write", scopes=("firewall:read_write",))


class FirewallDevices(InstanceFirewalls, BalancerFirewalls, Neighbour):
    """The firewalls that an instance is behind."""

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        """What filters a guest is there before it sends a packet, and gone before its addresses
        are another's."""
        for device in await device_queries.of_instance(db, compute_id):
            await put_in_force(db, services, device.firewall_id)

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        held = await device_queries.of_instance(db, compute_id)
        return ["is behind a firewall"] if held else []

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        queue = services.get(JobQueue)
        for device in await device_queries.of_instance(db, compute_id):
            firewall = await queries.find(db, device.firewall_id)
            await device_queries.delete(db, [device.id])
            if firewall is not None and firewall.status != "deleted":
                by = log.Starter(queue, db, firewall.account_id)
                entity, second = FIREWALL.of(firewall), COMPUTE.entity(compute_id, None)
                await log.notify(by, "firewall_device_remove", entity, second)

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await _NAMED.find(context, ids)

    async def put_behind(
        self, context: Context, compute_id: int, label: str, firewall_id: int
    ) -> None:
        firewall = await _lock(context, firewall_id)
        await service.put_behind(context, firewall, COMPUTE.entity(compute_id, label), compute_id)

    async def put_before(
        self, context: Context, nodebalancer_id: int, label: str, firewall_id: int
    ) -> None:
        firewall = await _lock(context, firewall_id)
        entity = NODEBALANCER.entity(nodebalancer_id, label)
        await service.put_balancer_behind(context, firewall, entity, nodebalancer_id)

    async def settle_balancer(self, db: Queries, services: Services, nodebalancer_id: int) -> None:
        for firewall_id in await device_queries.before_balancer(db, nodebalancer_id):
            await put_in_force(db, services, firewall_id)


async def _lock(context: Context, firewall_id: int) -> FirewallFacts:
    """One that a body names as `firewall_id`."""
    await queries.hold(context.db, context.account_id)
    firewall = await queries.lock(context.db, context.account_id, firewall_id)
    if firewall is None:
        raise invalid("firewall_id is not valid", "firewall_id")
    return firewall
