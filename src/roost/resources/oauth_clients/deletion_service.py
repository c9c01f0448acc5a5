"""Finding and deleting OAuth clients of the account."""

from roost.core.context import Context
from roost.core.events import log
from roost.errors import not_found
from roost.resources.oauth_clients import queries
from roost.resources.oauth_clients.entity import OAUTH_CLIENT
from roost.resources.oauth_clients.queries import OAuthClient


async def lock(context: Context, client_id: str) -> OAuthClient:
    """One that nobody else changes until the end of the transaction; 404."""
    client = await queries.lock(context.db, context.account_id, client_id)
    if client is None:
        raise not_found()
    return client


async def delete(context: Context, client_id: str) -> None:
    """With all tokens issued to it. Raises 404."""
    client = await lock(context, client_id)
    await queries.delete(context.db, client.id)
    await context.revoke()
    await log.notify(context, "oauth_client_delete", OAUTH_CLIENT.entity(client.id, client.label))
