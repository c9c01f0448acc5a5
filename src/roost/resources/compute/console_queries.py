"""SQL of tickets to consoles."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Ticket:
    """Whose console it opens, and the token that asked for it."""

    compute_id: int
    token_id: int
    restrictions: list[str]
    """Those of a narrowed token."""


async def insert(
    db: Queries, hashed: bytes, ticket: Ticket, now: datetime, expires: datetime
) -> None:
    """What has expired goes (UTC)."""
    await db.execute("delete from console_ticket where expires <= $1", now)
    await db.execute(
        """
        insert into console_ticket (hash, compute_id, token_id, restrictions, expires)
        values ($1, $2, $3, $4, $5)
        """,
        hashed,
        ticket.compute_id,
        ticket.token_id,
        ticket.restrictions,
        expires,
    )


@query("""
    delete from console_ticket where hash = any($1) and expires > $2
    returning compute_id, token_id, restrictions
    """)
async def take(db: Queries, hashes: list[bytes], now: datetime) -> Ticket | None:
    """That of one of the hashes, which is of no use any more then (UTC)."""
