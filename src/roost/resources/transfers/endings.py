"""How a pending transfer ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.transfers import queries, service


async def _end(context: Context, transfer_id: str) -> None:
    await service.cancel(context, transfer_id)


TRANSFERS = Ending("transfer", queries.HELD, _end)
