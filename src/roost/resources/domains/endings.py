"""How a domain ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.domains import queries, service


async def _end(context: Context, domain_id: str) -> None:
    await service.delete(context, int(domain_id))


DOMAINS = Ending("domain", queries.HELD, _end)
