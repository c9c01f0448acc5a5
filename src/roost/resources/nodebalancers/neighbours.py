"""What NodeBalancers ask of firewalls."""

from roost.core.context import Context
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
