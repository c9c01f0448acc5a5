"""Request bodies of SSH keys (reference: Profile)."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import ConfigDict

from roost.core.context import Context
from roost.errors import invalid
from roost.resources.ssh_keys.queries import keys_by_user
from roost.resources.ssh_keys.rules import PublicKey
from roost.web.bodies import Body
from roost.web.fields import Length

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


_LABEL = "laptop"
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB me@laptop"

Label = Annotated[str, Length(0, 64)]


class CreateSshKey(Body):
    """POST /profile/sshkeys."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL, "ssh_key": _KEY}]})

    label: Label = ""
    """The name of the key."""
    ssh_key: PublicKey
    """The public key as one line of an authorized_keys file: RSA, DSA, ECDSA, Ed25519 or a security
    key's."""


class UpdateSshKey(Body):
    """PUT /profile/sshkeys/{sshKeyId}: the key itself never changes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL}]})

    label: Label | None = None
    """The new name."""
