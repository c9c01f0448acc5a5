"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.webhooks import endpoints, notices, queries, rules, service
from roost.resources.webhooks.entity import WEBHOOK


async def _end(context: Context, webhook_id: str) -> None:
    await service.delete(context, int(webhook_id))


GROUP = Group(
    endpoints=(endpoints,),
    entities=(WEBHOOK,),
    limits=(queries.LIMIT,),
    causes=(notices.disabled,),
    endings=(Ending("webhook", queries.HELD, _end),),
    retention=(retention("webhook_retention", "47 3 * * *", Old(queries.delete_old, rules.KEPT)),),
)
