"""How a volume ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.volumes import queries, service


async def _end(context: Context, volume_id: str) -> None:
    await service.delete(context, int(volume_id))


VOLUMES = Ending("volume", queries.HELD, _end)
