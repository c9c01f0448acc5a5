"""SQL of phone numbers, which are columns of their users."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Pending:
    """A number that a code was sent to."""

    number: str
    code: bytes
    """SHA-256."""
    expiry: datetime
    tries: int


@query("""
    insert into phone_code (user_id, number, code, expiry) values ($1, $2, $3, $4)
    on conflict (user_id) do update set (number, code, expiry, tries) = row($2, $3, $4, 0)
    """)
async def begin(db: Queries, user_id: int, number: str, code: bytes, expiry: datetime) -> None:
    """In place of any other number that waits for its code."""


@query("""
    update phone_code set tries = tries + 1 where user_id = $1
    returning number, code, expiry, tries
    """)
async def try_code(db: Queries, user_id: int) -> Pending | None:
    """What waits for its code, with this try counted."""


async def verify(db: Queries, user_id: int, number: str) -> None:
    """The number is the user's; its code is used up."""
    await db.execute("update api_user set phone_number = $2 where id = $1", user_id, number)
    await db.execute("delete from phone_code where user_id = $1", user_id)


async def delete(db: Queries, user_id: int) -> None:
    await db.execute("update api_user set phone_number = null where id = $1", user_id)
    await db.execute("delete from phone_code where user_id = $1", user_id)
