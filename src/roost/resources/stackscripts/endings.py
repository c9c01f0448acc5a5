"""How a private StackScript ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.stackscripts import queries, service


async def _end(context: Context, stackscript_id: str) -> None:
    await service.delete(context, int(stackscript_id))


STACKSCRIPTS = Ending("stackscript", queries.HELD, _end)
