"""How a firewall ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.firewalls import queries, service


async def _end(context: Context, firewall_id: str) -> None:
    await service.delete(context, int(firewall_id))


FIREWALLS = Ending("firewall", queries.HELD, _end)
