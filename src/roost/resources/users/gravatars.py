"""What gravatar.com knows users by."""

import hashlib

from roost.core.context import Context
from roost.resources.users.queries import find_by_id


def gravatar_id(address: str) -> str:
    """Of an email address: 32 hex digits."""
    return hashlib.md5(address.strip().lower().encode(), usedforsecurity=False).hexdigest()


async def gravatar_of(context: Context) -> str:
    """Of the caller."""
    user = await find_by_id(context.db, context.identity.user_id)
    return gravatar_id("" if user is None else user.email)
