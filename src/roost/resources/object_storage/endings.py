"""How object storage ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.object_storage import queries, service


async def _end(context: Context, _account_id: str) -> None:
    await service.cancel(context)


OBJECT_STORAGE = Ending("object storage", queries.HELD, _end)
