"""SQL of what narrowed tokens have made that costs something, each for its own budgets."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Raised:
    """A thing that a transaction makes dearer."""

    service: str
    resource_id: int
    base: Decimal
    """US dollars of a month that it cost before."""


@query("""
    with mine as (
        select service, resource_id, min(id) as first, max(id) as last from ledger
        where id > $2 and account_id = $1 and xmin = pg_current_xact_id()::xid
        group by service, resource_id)
    select m.service, m.resource_id, coalesce(b.monthly, 0) as base
    from mine m join ledger l on l.id = m.last
    left join lateral (
        select e.monthly * e.quantity as monthly from ledger e
        where e.service = m.service and e.resource_id = m.resource_id and e.id < m.first
        order by e.id desc limit 1) b on true
    where coalesce(l.monthly * l.quantity, 0) > coalesce(b.monthly, 0)
    """)
async def raised(db: Queries, account_id: int, after: int) -> list[Raised]:
    """What this transaction has made dearer by what it wrote to the ledger behind that row."""


async def add(db: Queries, budget: bytes, token_id: int, things: Collection[Raised]) -> None:
    """Note that things were made, or made dearer; what they cost before the first time stays."""
    await db.execute(
        """
        insert into token_spending (budget, token_id, service, resource_id, base)
        select $1, $2, * from unnest($3::text[], $4::bigint[], $5::numeric[])
        on conflict do nothing
        """,
        budget,
        token_id,
        [each.service for each in things],
        [each.resource_id for each in things],
        [each.base for each in things],
    )


@query("""
    with done as (
        select s.budget, s.service, s.resource_id from token_spending s
        where coalesce((
            select l.at < date_trunc('month', $1::timestamp)
                and coalesce(l.monthly * l.quantity, 0) = 0
            from ledger l where l.service = s.service and l.resource_id = s.resource_id
            order by l.id desc limit 1), true)
        limit $2
    ), old as (
        delete from token_spending s using done d
        where (s.budget, s.service, s.resource_id) = (d.budget, d.service, d.resource_id)
        returning 1
    )
    select count(*) from old
    """)
async def delete_old(db: Queries, now: datetime, limit: int) -> int:
    """At most `limit` things that have cost nothing since the month began, and add nothing to what
    any budget has spent; how many it were."""


@query("""
    select coalesce(sum(greatest(0, (
        select max(price) from (
            (select coalesce(l.monthly * l.quantity, 0) as price from ledger l
                where l.service = s.service and l.resource_id = s.resource_id and l.at < $2
                order by l.id desc limit 1)
            union all
            select l.monthly * l.quantity from ledger l
            where l.service = s.service and l.resource_id = s.resource_id and l.at >= $2) had)
        - s.base)), 0)
    from token_spending s where s.budget = $1
    """)
async def spent(db: Queries, budget: bytes, month: datetime) -> Decimal:
    """US dollars at most that all things of a budget cost in the month that begins then: each at
    the dearest price that it has had in it, without what it cost before."""
