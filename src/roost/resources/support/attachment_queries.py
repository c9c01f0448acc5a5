"""SQL of attachments."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Attachment:
    """One row; its file is found by the key."""

    id: int
    ticket_id: int
    key: str
    name: str
    size: int
    created: datetime
    created_by: str


async def insert(
    db: Queries, ticket_id: int, key: str, name: str, size: int, username: str, now: datetime
) -> None:
    await db.execute(
        """
        insert into ticket_attachment (ticket_id, key, name, size, created_by, created)
        values ($1, $2, $3, $4, $5, $6)
        """,
        ticket_id,
        key,
        name,
        size,
        username,
        now,
    )


async def count(db: Queries, ticket_id: int) -> int:
    found: int = await db.fetchval(
        "select count(*) from ticket_attachment where ticket_id = $1", ticket_id
    )
    return found


async def total_size(db: Queries, account_id: int) -> int:
    """Bytes of all attachments of an account."""
    size: int = await db.fetchval(
        """
        select coalesce(sum(a.size), 0)::bigint
        from ticket t join ticket_attachment a on a.ticket_id = t.id where t.account_id = $1
        """,
        account_id,
    )
    return size


async def list_of(db: Queries, ticket_id: int) -> list[Attachment]:
    rows = await db.fetch(
        """
        select id, ticket_id, key, name, size, created, created_by from ticket_attachment
        where ticket_id = $1 order by id
        """,
        ticket_id,
    )
    return [Attachment(**row) for row in rows]


async def last_id(db: Queries) -> int:
    found: int = await db.fetchval("select coalesce(max(id), 0) from ticket_attachment")
    return found


async def list_all(db: Queries, after: int, last: int, limit: int) -> list[Attachment]:
    """The next ones of all accounts, by id, which is at most `last`."""
    rows = await db.fetch(
        """
        select id, ticket_id, key, name, size, created, created_by from ticket_attachment
        where id > $1 and id <= $2 order by id limit $3
        """,
        after,
        last,
        limit,
    )
    return [Attachment(**row) for row in rows]


async def has_key(db: Queries, key: str) -> bool:
    found: bool = await db.fetchval(
        "select exists (select from ticket_attachment where key = $1)", key
    )
    return found


async def find_key(db: Queries, attachment_id: int) -> str | None:
    found: str | None = await db.fetchval(
        "select key from ticket_attachment where id = $1", attachment_id
    )
    return found
