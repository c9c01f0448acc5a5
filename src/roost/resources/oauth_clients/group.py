"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.core.public_url import PublicUrl
from roost.resources.oauth_clients import endpoints, queries, service
from roost.resources.oauth_clients.entity import OAUTH_CLIENT


async def _end(context: Context, oauth_client_id: str) -> None:
    await service.delete(context, oauth_client_id)


GROUP = Group(
    endpoints=(endpoints,),
    entities=(OAUTH_CLIENT,),
    limits=(queries.LIMIT,),
    endings=(Ending("oauth client", queries.HELD, _end),),
    services=lambda settings: (PublicUrl(settings.public_url),),
)
