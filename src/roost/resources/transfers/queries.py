"""SQL of transfers."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from roost.core.entities.kind import EntityKind
from roost.core.lists import listing_of
from roost.resources.transfers.records import TransferRow, TransferStatus
from roost.store import Queries
from roost.store.paging import Column
from roost.store.query import query

TRANSFER = EntityKind(name="entity_transfer", path="/account/service-transfers/{id}")

TRANSFERS = listing_of(
    TransferRow,
    source="entity_transfer t",
    scope="(t.account_id = $1 or t.receiver_id = $1)",
    key="t.token",
    sql={
        "is_sender": "t.account_id = $1",
        "entities": "(select row_to_json(entities) from (select t.computes) entities)",
    },
    columns={
        "is_sender": Column("(t.account_id = $1)", "bool"),
    },
)
"""Those of an account, on either side."""

KNOWN = replace(TRANSFERS, scope=f"({TRANSFERS.scope} or t.status = 'pending')")
"""Of those that can be accepted the token is all that one has to know."""


KEPT = timedelta(days=90)
"""Since they ended."""


@dataclass(frozen=True, slots=True)
class TransferFacts:
    token: str
    account_id: int
    receiver_id: int | None
    status: TransferStatus
    expiry: datetime
    computes: list[int]


async def insert(
    db: Queries,
    token: str,
    account_id: int,
    computes: Collection[int],
    now: datetime,
    expiry: datetime,
) -> None:
    """It is `pending`."""
    await db.execute(
        """
        insert into entity_transfer (token, account_id, status, created, updated, expiry, computes)
        values ($1, $2, 'pending', $4, $4, $5, $3)
        """,
        token,
        account_id,
        sorted(set(computes)),
        now,
        expiry,
    )


@query("""
    select token, account_id, receiver_id, status, expiry, computes from entity_transfer
    where token = $1 for update
    """)
async def lock(db: Queries, token: str) -> TransferFacts | None: ...


@query("""
    update entity_transfer
    set status = $2, updated = $3, receiver_id = coalesce($4, receiver_id) where token = $1
    """)
async def set_status(
    db: Queries,
    token: str,
    status: TransferStatus,
    now: datetime,
    receiver_id: int | None = None,
) -> None: ...


@query("""
    select distinct c.id from entity_transfer t, unnest(t.computes) as c (id)
    where t.account_id = $1 and t.status = 'pending' and c.id = any($2::bigint[]) order by c.id
    """)
async def offered(db: Queries, account_id: int, computes: Collection[int]) -> list[int]:
    """Those of the instances that a pending transfer of the account is about."""


@query("""
    update entity_transfer set status = 'stale', updated = $1
    where status = 'pending' and expiry <= $1
    returning token, account_id, receiver_id, status, expiry, computes
    """)
async def expire(db: Queries, now: datetime) -> list[TransferFacts]:
    """What nobody has accepted in time is `stale` from now on (UTC)."""


@query("""
    with old as (
        delete from entity_transfer where token in (
            select token from entity_transfer
            where status <> 'pending' and updated <= $1 order by updated limit $2)
        returning token)
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` transfers that ended before a time (UTC); how many it were."""


HELD = """
    select token as id, account_id, false as waits from entity_transfer where status = 'pending'
    """
"""What ends with accounts."""
