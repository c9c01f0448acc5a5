"""SSH keys that users have stored, for root of an instance."""

from collections.abc import Collection, Mapping

from roost.core.context import Context
from roost.errors import invalid
from roost.resources.ssh_keys.queries import keys_by_user

NO_KEYS = "Each must be a user of the account with stored SSH keys"


class _KeysOfUsers:
    """How bodies name users whose keys root is to accept."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, list[str]]:
        return await keys_by_user(context.db, context.account_id, ids)


KEYS_OF_USERS = _KeysOfUsers()


async def stored_keys(context: Context, keys: list[str], usernames: list[str]) -> list[str]:
    """Keys and those that users of the account have stored; 400 when one of them has none."""
    if not usernames:
        return keys
    found = await keys_by_user(context.db, context.account_id, usernames)
    if len(found) < len(set(usernames)):
        raise invalid(NO_KEYS, "authorized_users")
    return keys + [key for name in dict.fromkeys(usernames) for key in found[name]]
