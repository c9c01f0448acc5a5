"""How a managed database ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.databases import queries, service


async def _end(context: Context, database_id: str) -> None:
    await service.delete(context, int(database_id))


DATABASES = Ending("database", queries.HELD, _end)
