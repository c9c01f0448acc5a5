"""SQL of handing messages over."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Due:
    """A webhook that has something to tell, claimed."""

    id: int
    account_id: int
    label: str
    url: str
    actions: list[str]
    entity_types: list[str]
    secret: bytes
    former_secret: bytes | None
    former_until: datetime | None
    position: int
    attempts: int
    failing_since: datetime | None
    revision: str


@query("select exists (select from webhook where status <> 'disabled')")
async def any_enabled(db: Queries) -> bool: ...


@query("""
    update webhook w set claim = $1, claimed_until = $2
    from (
        select o.id from webhook o join account a on a.id = o.account_id
        where o.status <> 'disabled' and o.next_try <= $3 and a.canceled is null
            and (o.claimed_until is null or o.claimed_until <= $3)
            and o.account_id <> all($4::bigint[])
            and exists (select from event_change c
                where c.account_id = o.account_id and c.position > o.position)
        order by o.next_try limit $5 for no key update of o skip locked
    ) as due
    where w.id = due.id
    returning w.id, w.account_id, w.label, w.url, w.actions, w.entity_types, w.secret,
        w.former_secret, w.former_until, w.position, w.attempts, w.failing_since,
        w.revision
    """)
async def claim(
    db: Queries,
    claimant: UUID,
    until: datetime,
    now: datetime,
    without: Collection[int],
    limit: int,
) -> list[Due]:
    """At most `limit` of those that have something to tell, for one who hands it over until then;
    none of the accounts `without`."""


@query("""
    update webhook set position = $3, status = 'active', reason = null, failing_since = null,
        attempts = 0, claim = null, claimed_until = null
    where id = $1 and claim = $2
    """)
async def advance(db: Queries, webhook_id: int, claimant: UUID, position: int) -> None:
    """It was told of everything up to a position. Nothing when somebody else has it by now."""


@query("""
    update webhook set status = 'failing', reason = $3, attempts = attempts + 1, next_try = $4,
        failing_since = coalesce(failing_since, $5), claim = null, claimed_until = null
    where id = $1 and claim = $2
    """)
async def retry(
    db: Queries, webhook_id: int, claimant: UUID, reason: str, at: datetime, now: datetime
) -> None: ...


@query("""
    update webhook set status = 'disabled', reason = $3, claim = null, claimed_until = null
    where id = $1 and claim = $2 returning true
    """)
async def give_up(db: Queries, webhook_id: int, claimant: UUID, reason: str) -> bool:
    """False when somebody else has it by now."""


@query("""
    update webhook set next_try = $3, claim = null, claimed_until = null
    where id = $1 and claim = $2
    """)
async def release(db: Queries, webhook_id: int, claimant: UUID, at: datetime) -> None:
    """Not tried; again from then on."""


@query("""
    insert into webhook_delivery (webhook_id, created, status, attempt, events, first_event,
        last_event, code, reason, duration)
    select id, $2, $3, $4, $5, $6, $7, $8, $9, $10 from webhook where id = $1
    """)
async def add_delivery(
    db: Queries,
    webhook_id: int,
    now: datetime,
    status: str,
    attempt: int,
    events: int,
    first_event: int,
    last_event: int,
    code: int | None,
    reason: str | None,
    duration: float,
) -> None:
    """Nothing when the webhook is gone."""
