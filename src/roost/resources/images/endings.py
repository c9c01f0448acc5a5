"""How a private image ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.images import queries, service


async def _end(context: Context, image_id: str) -> None:
    await service.delete(context, image_id)


IMAGES = Ending("image", queries.HELD, _end)
