"""How an instance ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.compute import deletion_service, queries


async def _end(context: Context, instance_id: str) -> None:
    await deletion_service.delete(context, int(instance_id), keeps=False)


INSTANCES = Ending("compute", queries.HELD, _end)
