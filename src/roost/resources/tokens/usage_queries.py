"""SQL of what tokens are used for."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from roost.store import Queries

KEPT = timedelta(days=30)
"""As far back as `roost token suggest` looks."""


async def add_uses(db: Queries, uses: Iterable[tuple[int, str]], day: date) -> None:
    """That tokens were used for operations on a day; those that are gone are left out."""
    token_ids, operations = zip(*uses, strict=True)
    await db.execute(
        """
        insert into token_use (token_id, operation, day)
        select t.id, used.operation, $3
        from unnest($1::bigint[], $2::text[]) as used (token_id, operation)
            join token t on t.id = used.token_id
        on conflict do nothing
        """,
        token_ids,
        operations,
        day,
    )


async def touch(db: Queries, token_ids: Iterable[int], now: datetime) -> dict[int, int]:
    """Note that tokens were used; the user of each that never was before."""
    rows = await db.fetch(
        """
        with former as (
            select id, last_used from token where id = any($1::bigint[]) order by id for update)
        update token t set last_used = $2 from former where t.id = former.id
        returning t.id, t.user_id, former.last_used is null as first
        """,
        list(token_ids),
        now,
    )
    return {row["id"]: row["user_id"] for row in rows if row["first"]}


async def find_uses(db: Queries, token_id: int, since: date) -> list[str] | None:
    """The operations that a token was used for; None when there is no such token."""
    operations: list[str] | None = await db.fetchval(
        """
        select array(select distinct u.operation from token_use u
            where u.token_id = t.id and u.day >= $2 order by 1)
        from token t where t.id = $1
        """,
        token_id,
        since,
    )
    return operations


async def delete_old_uses(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` uses of all tokens; how many it were."""
    deleted: int = await db.fetchval(
        """
        with old as (
            delete from token_use where ctid = any(array(
                select ctid from token_use where day < $1 limit $2))
            returning token_id)
        select count(*) from old
        """,
        before.date(),
        limit,
    )
    return deleted
