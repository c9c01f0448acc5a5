"""How a VPC ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.vpcs import queries, service


async def _end(context: Context, vpc_id: str) -> None:
    await service.delete(context, int(vpc_id))


VPCS = Ending("vpc", queries.HELD, _end)
