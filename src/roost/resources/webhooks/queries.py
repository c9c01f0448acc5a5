"""SQL of webhooks as their accounts see them."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass
from datetime import datetime

from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.webhooks.records import WebhookDeliveryRow, WebhookRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected

WEBHOOKS = listing_of(
    WebhookRow,
    source="webhook w",
    scope="w.account_id = $1",
    key="w.id",
    sql={"secret": "'<REDACTED>'"},
)
DELIVERIES = listing_of(
    WebhookDeliveryRow,
    source="webhook_delivery d",
    scope="d.webhook_id = $1",
    key="d.id",
    descending=True,
)
LIMIT = LimitGroup.of(
    "webhook where account_id = $1",
    LimitKind("webhooks", "webhooks", 10, service=False),
)
HELD = "select id::text, account_id, false as waits from webhook"
"""What ends with accounts."""


@dataclass(frozen=True, slots=True)
class WebhookFacts:
    id: int
    label: str
    secret: bytes


@query("""
    insert into webhook (account_id, label, url, actions, entity_types, secret, position, next_try,
        created, updated, revision)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8, $9) returning id
    """)
async def insert(
    db: Queries,
    account_id: int,
    label: str,
    url: str,
    actions: list[str],
    entity_types: list[str],
    secret: bytes,
    position: int,
    now: datetime,
    revision: str,
) -> int:
    """Told of what has a position after `position`."""


@query(f"""
    select {selected(WebhookFacts)} from webhook where account_id = $1 and id = $2
    for no key update
    """)
async def lock(db: Queries, account_id: int, webhook_id: int) -> WebhookFacts | None:
    """One of the account's, which nobody else changes until the end of the transaction."""


@query("""
    update webhook set label = coalesce($2::text, label), url = coalesce($3::text, url),
        actions = coalesce($4::text[], actions),
        entity_types = coalesce($5::text[], entity_types),
        revision = coalesce($6::text, revision), updated = $7
    where id = $1
    """)
async def update(
    db: Queries,
    webhook_id: int,
    label: str | None,
    url: str | None,
    actions: list[str] | None,
    entity_types: list[str] | None,
    revision: str | None,
    now: datetime,
) -> None:
    """What is None stays."""


@query("""
    update webhook set status = 'active', reason = null, failing_since = null, attempts = 0,
        next_try = $2, claim = null, claimed_until = null
    where id = $1
    """)
async def enable(db: Queries, webhook_id: int, now: datetime) -> None:
    """As if nothing had failed."""


@query("""
    update webhook set status = 'disabled', reason = $2, claim = null, claimed_until = null
    where id = $1
    """)
async def disable(db: Queries, webhook_id: int, reason: str) -> None:
    """Whoever hands over a message has lost it."""


@query("""
    update webhook set former_secret = secret, former_until = $3, secret = $2, updated = $4
    where id = $1
    """)
async def rotate(
    db: Queries, webhook_id: int, secret: bytes, until: datetime, now: datetime
) -> None:
    """The former secret is used, too, until then."""


@query("""
    select min(position) from event_change where account_id = $1 and event_id = $2
        and position is not null
    """)
async def position_of(db: Queries, account_id: int, event_id: int) -> int | None:
    """Where an event of the account came first."""


@query("update webhook set position = $2, updated = $3 where id = $1")
async def go_back(db: Queries, webhook_id: int, position: int, now: datetime) -> None: ...


@query("delete from webhook where id = $1")
async def delete(db: Queries, webhook_id: int) -> None:
    """With its deliveries."""


@query("select label from webhook where account_id = $1 and status = 'disabled' order by id")
async def disabled(db: Queries, account_id: int) -> list[str]:
    """The labels of those that are told of nothing."""


@query("""
    with old as (
        delete from webhook_delivery where id in (
            select id from webhook_delivery where created <= $1 order by id limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` deliveries of all accounts; how many it were."""
