"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.vpcs import address_queries, endpoints, entity, queries, service
from roost.resources.vpcs.neighbours import VpcInterfaces


async def _end(context: Context, vpc_id: str) -> None:
    await service.delete(context, int(vpc_id))


GROUP = Group(
    endpoints=(endpoints,),
    entities=(entity.VPC,),
    limits=(queries.LIMIT,),
    endings=(Ending("vpc", queries.HELD, _end),),
    bindings=address_queries.BINDINGS,
    neighbours=(VpcInterfaces(),),
)
