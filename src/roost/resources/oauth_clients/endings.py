"""How an OAuth client ends with its account."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.resources.oauth_clients import deletion_service, queries


async def _end(context: Context, oauth_client_id: str) -> None:
    await deletion_service.delete(context, oauth_client_id)


OAUTH_CLIENTS = Ending("oauth client", queries.HELD, _end)
