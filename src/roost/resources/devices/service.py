"""Devices that a user trusts: they are asked for the second factor only once in a while."""

from datetime import datetime, timedelta

from roost.ids import new_token
from roost.resources.devices import queries
from roost.secrets import hash_token
from roost.store import Queries

TRUSTED_FOR = timedelta(days=30)

_USER_AGENT_LENGTH = 512


async def remember_device(
    db: Queries, user_id: int, user_agent: str, ip: str, now: datetime
) -> str:
    """The text by which the device is known again: a secret of the device, kept as a hash."""
    secret, now = new_token(), now.replace(microsecond=0)
    await queries.delete_expired(db, user_id, now)
    await queries.add(
        db,
        user_id,
        hash_token(secret),
        user_agent[:_USER_AGENT_LENGTH],
        ip,
        now,
        now + TRUSTED_FOR,
    )
    return secret


async def forget_all(db: Queries, user_id: int) -> None:
    """The user is asked for the second factor on every device."""
    await queries.forget_all(db, user_id)


async def is_known(db: Queries, user_id: int, secret: str, now: datetime) -> bool:
    """Whether the user trusts the device of this secret; tells nobody that it was asked."""
    return await queries.exists(db, user_id, hash_token(secret), now)


async def is_trusted(db: Queries, user_id: int, secret: str, ip: str, now: datetime) -> bool:
    """Whether the user trusts the device of this secret; notes its use from an IP address."""
    return await queries.touch(db, user_id, hash_token(secret), ip, now.replace(microsecond=0))
