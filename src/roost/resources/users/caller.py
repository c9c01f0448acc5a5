"""The caller's own row: what is remembered of a token may be older than a change of its user."""

from roost.core.context import Context
from roost.errors import forbidden, unauthenticated
from roost.resources.account import queries as accounts
from roost.resources.users import queries
from roost.resources.users.queries import UserFacts


async def find_caller(context: Context) -> UserFacts:
    """Raises 401 when the user is gone."""
    user = await queries.find_by_id(context.db, context.identity.user_id)
    if user is None:
        raise unauthenticated()
    return user


async def lock_users(context: Context) -> None:
    """Lock the users of the account for a caller who may manage them.

    Raises 403 for a caller who was restricted while the request was under way, as it could undo
    that.
    """
    await accounts.lock(context.db, context.account_id)
    if (await find_caller(context)).restricted:
        raise forbidden()
