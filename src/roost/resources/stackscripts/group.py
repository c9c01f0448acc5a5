"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.stackscripts import endpoints, queries, service
from roost.resources.stackscripts.neighbours import DeployedStackScripts
from roost.resources.stackscripts.queries import STACKSCRIPT


async def _end(context: Context, stackscript_id: str) -> None:
    await service.delete(context, int(stackscript_id))


GROUP = Group(
    endpoints=(endpoints,),
    entities=(STACKSCRIPT,),
    limits=(queries.LIMIT,),
    neighbours=(DeployedStackScripts(),),
    endings=(Ending("stackscript", queries.HELD, _end),),
)
