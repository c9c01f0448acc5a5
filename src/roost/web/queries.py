"""SQL of the HTTP edge: answers kept for `Idempotency-Key`."""

from datetime import datetime, timedelta

from typing_extensions import TypedDict

from roost.store import Queries
from roost.store.query import query

KEPT = timedelta(hours=24)


class KeptAnswer(TypedDict):
    fingerprint: bytes
    body: bytes | None
    """Sealed; None while the answer is being made."""


async def claim_key(
    db: Queries, account_id: int, key: str, fingerprint: bytes, now: datetime
) -> KeptAnswer | None:
    """Take the key for this transaction, or return what it was used for in the last 24 h.

    Waits while another transaction holds the same key.
    """
    await db.execute(
        "delete from idempotency where account_id = $1 and key = $2 and created <= $3",
        account_id,
        key,
        now - KEPT,
    )
    claimed = await db.fetchval(
        """
        insert into idempotency (account_id, key, fingerprint, created) values ($1, $2, $3, $4)
        on conflict do nothing returning true
        """,
        account_id,
        key,
        fingerprint,
        now,
    )
    if claimed:
        return None
    row = await db.fetchrow(
        "select fingerprint, body from idempotency where account_id = $1 and key = $2",
        account_id,
        key,
    )
    if row is None:
        return None
    return {"fingerprint": row["fingerprint"], "body": row["body"]}


@query("select pg_advisory_xact_lock(hashtextextended('path ' || $1::bigint || $2::text, 0))")
async def lock_path(db: Queries, account_id: int, path: str) -> None:
    """Requests of an account that are about one version come one after another, to the
    transaction's end."""


async def keep_answer(db: Queries, account_id: int, key: str, body: bytes) -> None:
    await db.execute(
        "update idempotency set body = $3 where account_id = $1 and key = $2",
        account_id,
        key,
        body,
    )


async def delete_old_answers(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` answers of all accounts; how many it were."""
    deleted: int = await db.fetchval(
        """
        with old as (
            delete from idempotency where (account_id, key) in (
                select account_id, key from idempotency where created <= $1 limit $2)
            returning key)
        select count(*) from old
        """,
        before,
        limit,
    )
    return deleted
