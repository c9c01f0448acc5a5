"""SQL of tickets, their replies and their attachments."""

from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.support.records import TicketKind, TicketReplyRow, TicketRow, TicketStatus
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, inserted, selected

TICKETS = listing_of(
    TicketRow,
    source="ticket t",
    scope="t.account_id = $1",
    key="t.list_order",
    sql={
        "attachments": """
            array(select a.name from ticket_attachment a where a.ticket_id = t.id order by a.id)
            """,
    },
)
BY_ID = replace(TICKETS, key="t.id")

LIMIT = LimitGroup.of(
    "ticket where account_id = $1 and status <> 'closed'",
    LimitKind("tickets", "open support tickets", 100, service=False),
)

REPLIES = listing_of(
    TicketReplyRow,
    source="ticket_reply r",
    scope="r.ticket_id = $1",
    key="r.id",
    sql={
        "friendly_name": "r.created_by",
        "from_compute": "r.from_staff",
    },
)


@dataclass(frozen=True, slots=True)
class NewTicket:
    account_id: int
    kind: TicketKind
    summary: str
    description: str
    entity: Entity | None
    region: str | None
    opened_by: str
    opener_id: int | None
    gravatar_id: str
    closable: bool


@dataclass(frozen=True, slots=True)
class NewReply:
    description: str
    created_by: str
    gravatar_id: str
    from_staff: bool


@dataclass(frozen=True, slots=True)
class Ticket:
    """What rules and staff need of a row."""

    id: int
    account_id: int
    kind: TicketKind
    status: TicketStatus
    summary: str
    description: str
    entity: str | None
    region: str | None
    opened: datetime
    opened_by: str
    opener_id: int | None
    closable: bool
    updated: datetime
    updated_by: str | None
    closed: datetime | None
    assignee: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    id: int
    created: datetime
    created_by: str
    description: str
    from_staff: bool


_TICKET = f"select {selected(Ticket)} from ticket"  # noqa: S608
_REPLY = f"select {selected(Reply)} from ticket_reply"  # noqa: S608


_NEW = inserted(NewTicket, opened=":now", updated=":now")
_INSERT = Statement(f"insert into ticket {_NEW} returning id")


async def insert(db: Queries, new: NewTicket, now: datetime) -> int:
    entity = None if new.entity is None else orjson.dumps(new.entity).decode()
    ticket_id: int = await db.fetchval(*_INSERT.of(new, entity=entity, now=now))
    return ticket_id


@query("select exists (select from ticket where account_id = $1 and id = $2)")
async def exists(db: Queries, account_id: int, ticket_id: int) -> bool:
    """Whether the account has this ticket."""


@query(f"{_TICKET} where account_id = $1 and id = $2 for no key update")
async def lock(db: Queries, account_id: int, ticket_id: int) -> Ticket | None:
    """The caller's ticket, which nobody else changes until the end of the transaction."""


@query(f"{_TICKET} where id = $1 for no key update")
async def lock_any(db: Queries, ticket_id: int) -> Ticket | None:
    """A ticket of any account, which nobody else changes until the end of the transaction."""


@query(f"{_TICKET} where id = $1")
async def find(db: Queries, ticket_id: int) -> Ticket | None:
    """A ticket of any account."""


@query(f"{_TICKET} where $1 or status <> 'closed' order by list_order")
async def list_all(db: Queries, closed: bool) -> list[Ticket]:
    """The tickets of all accounts; the closed ones only if they are wanted."""


@query(f"{_TICKET} where account_id = $1 and kind <> 'support' and status <> 'closed' order by id")
async def urgent(db: Queries, account_id: int) -> list[Ticket]:
    """Open tickets that users are told of."""


async def touch(db: Queries, ticket_id: int, username: str, now: datetime) -> None:
    """Say who changed it last."""
    await db.execute(
        "update ticket set updated = $2, updated_by = $3 where id = $1", ticket_id, now, username
    )


@query("update ticket set status = 'open' where id = $1")
async def set_open(db: Queries, ticket_id: int) -> None:
    """Staff have looked at it."""


@query("update ticket set status = 'closed', closed = $2, closable = false where id = $1")
async def close(db: Queries, ticket_id: int, now: datetime) -> None: ...


@query("update ticket set assignee = $2 where id = $1")
async def assign(db: Queries, ticket_id: int, assignee: str | None) -> None: ...


async def insert_reply(db: Queries, ticket_id: int, new: NewReply, now: datetime) -> int:
    reply_id: int = await db.fetchval(
        """
        insert into ticket_reply (ticket_id, description, created, created_by, gravatar_id,
            from_staff)
        values ($1, $2, $3, $4, $5, $6) returning id
        """,
        ticket_id,
        new.description,
        now,
        new.created_by,
        new.gravatar_id,
        new.from_staff,
    )
    return reply_id


@query(f"{_REPLY} where id = $1")
async def find_reply(db: Queries, reply_id: int) -> Reply | None: ...


@query(f"{_REPLY} where ticket_id = $1 order by id")
async def list_replies(db: Queries, ticket_id: int) -> list[Reply]: ...


TICKET = EntityKind(name="ticket", path="/support/tickets/{id}")


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


@query("""
    insert into ticket_attachment (ticket_id, key, name, size, created_by, created)
    values ($1, $2, $3, $4, $5, $6)
    """)
async def insert_attachment(
    db: Queries, ticket_id: int, key: str, name: str, size: int, username: str, now: datetime
) -> None: ...


@query("select count(*) from ticket_attachment where ticket_id = $1")
async def count_attachments(db: Queries, ticket_id: int) -> int: ...


@query("""
    select coalesce(sum(a.size), 0)::bigint
    from ticket t join ticket_attachment a on a.ticket_id = t.id where t.account_id = $1
    """)
async def attachments_size(db: Queries, account_id: int) -> int:
    """Bytes of all attachments of an account."""


@query("""
    select id, ticket_id, key, name, size, created, created_by from ticket_attachment
    where ticket_id = $1 order by id
    """)
async def attachments_of(db: Queries, ticket_id: int) -> list[Attachment]: ...


@query("select coalesce(max(id), 0) from ticket_attachment")
async def last_attachment(db: Queries) -> int: ...


@query("""
    select id, ticket_id, key, name, size, created, created_by from ticket_attachment
    where id > $1 and id <= $2 order by id limit $3
    """)
async def all_attachments(db: Queries, after: int, last: int, limit: int) -> list[Attachment]:
    """The next ones of all accounts, by id, which is at most `last`."""


@query("select exists (select from ticket_attachment where key = $1)")
async def has_key(db: Queries, key: str) -> bool: ...


@query("select key from ticket_attachment where id = $1")
async def find_key(db: Queries, attachment_id: int) -> str | None: ...
