"""SQL of what buckets hold and send."""

from datetime import date, datetime

import orjson

from roost.core.billing import ledger
from roost.resources.object_storage.engine import Share
from roost.resources.object_storage.limits import STORED
from roost.resources.object_storage.queries import CHARGED, FACTS, BucketFacts
from roost.store import Queries
from roost.store.query import query

_COUNTED_EACH_MINUTE = 100_000
"""Objects, which take some seconds to count."""
_WITHIN_REACH = 10**12
"""Bytes that nobody stores between two counts."""


@query(f"""
    {FACTS} where region = $1 and applied > 0 and not deleting
        and $2 % greatest(1, objects / {_COUNTED_EACH_MINUTE}) = 0
    order by objects, id
    """)
async def smallest_first(db: Queries, region: str, minute: int) -> list[BucketFacts]:
    """Those that the engine of a region holds, and that are counted in this minute: every bucket in
    each, but one with 200,000 objects in every second one, and so on."""


async def set_usage(db: Queries, bucket_id: int, objects: int, size: int, now: datetime) -> None:
    """Bytes, which are charged for from now on."""
    changed = await db.fetchval(
        """
        update object_bucket set objects = $2, size = $3
        where id = $1 and (objects, size) <> ($2, $3) returning true
        """,
        bucket_id,
        objects,
        size,
    )
    if changed:
        await ledger.record(db, CHARGED, bucket_id, now)


async def shares(db: Queries, region: str, most: int | None) -> list[Share]:
    """Those of accounts that may soon have as much as their limit, or `most` (GB; None: without)
    where they have none of their own."""
    rows = await db.fetch(
        f"""
        select array_agg(b.label order by b.label) as buckets, (l.most * 1000000000 - (
            select sum(o.size) from object_bucket o
            where o.account_id = a.id and not o.deleting))::bigint as free
        from object_bucket b join account a on a.id = b.account_id cross join lateral (
            select case when a.limits ? '{STORED.name}' then (a.limits ->> '{STORED.name}')::numeric
                else $2::numeric end as most) l
        where b.region = $1 and b.applied > 0 and not b.deleting and l.most is not null
        group by a.id, l.most order by a.id
        """,  # noqa: S608 - constants
        region,
        most,
    )
    return [
        Share(tuple(row["buckets"]), row["free"]) for row in rows if row["free"] < _WITHIN_REACH
    ]


async def add_sent(db: Queries, region: str, since: str, sent: dict[str, int], month: date) -> None:
    """Add what a server has sent more than is known; all of it, when it has started anew."""
    rows = await db.fetch(
        """
        select b.id, b.account_id, b.label, (s.value::bigint)
            - case when b.counted_since = $2 then b.counted else 0 end as more
        from object_bucket b join json_each_text($3) s on s.key = b.label
        where b.region = $1 order by b.id for no key update of b
        """,
        region,
        since,
        orjson.dumps(sent).decode(),
    )
    for row in rows:
        await db.execute(
            "update object_bucket set counted_since = $2, counted = $3 where id = $1",
            row["id"],
            since,
            sent[row["label"]],
        )
        if row["more"] > 0:
            await db.execute(
                """
                insert into object_transfer as t (account_id, month, sent) values ($1, $2, $3)
                on conflict (account_id, month) do update set sent = t.sent + excluded.sent
                """,
                row["account_id"],
                month,
                row["more"],
            )


@query("update object_bucket set counted_since = $2, counted = $3 where id = $1")
async def set_first(db: Queries, bucket_id: int, since: str, counted: int) -> None:
    """So much a server had sent of one that had the name before."""


async def sent_in(db: Queries, account_id: int, month: date) -> int:
    """Bytes"""
    sql = "select sent from object_transfer where account_id = $1 and month = $2"
    return int(await db.fetchval(sql, account_id, month) or 0)


@query("select account_id from object_transfer where month = $1")
async def senders(db: Queries, month: date) -> list[int]:
    """Accounts from whose buckets anything was got in a month."""
