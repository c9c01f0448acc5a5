"""Finding and locking a firewall of the account."""

from roost.core.context import Context
from roost.errors import not_found
from roost.resources.firewalls import queries
from roost.resources.firewalls.queries import FirewallFacts


def resource_of(firewall_id: int) -> str:
    """The name under which jobs of a firewall run one at a time."""
    return f"firewall:{firewall_id}"


async def check_exists(context: Context, firewall_id: int) -> int:
    """The id; 404 unless it is that of a firewall of the account."""
    if not await queries.exists(context.db, context.account_id, firewall_id):
        raise not_found()
    return firewall_id


async def lock(context: Context, firewall_id: int) -> FirewallFacts:
    """The firewall, which nobody else changes until the end of the transaction; 404."""
    firewall = await queries.lock(context.db, context.account_id, firewall_id)
    if firewall is None:
        raise not_found()
    return firewall
