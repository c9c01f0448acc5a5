"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.transfers import endpoints, jobs, queries, service
from roost.resources.transfers.queries import TRANSFER


async def _end(context: Context, transfer_id: str) -> None:
    await service.cancel(context, transfer_id)


GROUP = Group(
    endpoints=(endpoints,),
    entities=(TRANSFER,),
    endings=(Ending("transfer", queries.HELD, _end),),
    jobs=(jobs.DUE,),
    schedules=(jobs.EVERY_MINUTE,),
    retention=(
        retention("transfer_retention", "52 3 * * *", Old(queries.delete_old, queries.KEPT)),
    ),
)
