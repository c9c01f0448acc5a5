"""SQL of what NodeBalancers use."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from roost.store import Queries
from roost.store.query import query

KEPT = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class Reading:
    """What counters showed last; of what was never read, nothing."""

    nodebalancer_id: int
    account_id: int
    region: str
    read_at: datetime | None
    epoch: str | None
    connections: int
    bytes_in: int
    bytes_out: int


@query("""
    select b.id as nodebalancer_id, b.account_id, b.region, r.read_at, r.epoch,
        coalesce(r.connections, 0) as connections, coalesce(r.bytes_in, 0) as bytes_in,
        coalesce(r.bytes_out, 0) as bytes_out
    from nodebalancer b
    left join nodebalancer_reading r on r.nodebalancer_id = b.id and r.host = $2
    where b.id = any($1::bigint[]) and $2 = case when $3 then b.left_host else b.host end
    order by b.id for no key update of b
    """)
async def lock_readings(db: Queries, ids: Collection[int], host: str, left: bool) -> list[Reading]:
    """Of a host's counters, for those that are there or, with `left`, are to be dropped there,
    which nobody else reads until the end of the transaction."""


@query("""
    insert into nodebalancer_reading
        (nodebalancer_id, host, read_at, epoch, connections, bytes_in, bytes_out)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (nodebalancer_id, host) do update set read_at = excluded.read_at,
        epoch = excluded.epoch, connections = excluded.connections,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out
    """)
async def set_reading(
    db: Queries,
    nodebalancer_id: int,
    host: str,
    read_at: datetime,
    epoch: str,
    connections: int,
    bytes_in: int,
    bytes_out: int,
) -> None: ...


@query("delete from nodebalancer_reading where nodebalancer_id = $1 and host = $2")
async def forget_reading(db: Queries, nodebalancer_id: int, host: str) -> None:
    """A host counts nothing of it any more, and begins anew if it comes back."""


@query("""
    insert into nodebalancer_amount as u values ($1, $2, $3, $4, $5, $6)
    on conflict (nodebalancer_id, at) do update set seconds = u.seconds + excluded.seconds,
        connections = u.connections + excluded.connections,
        bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out
    """)
async def add_amount(
    db: Queries,
    nodebalancer_id: int,
    at: datetime,
    seconds: float,
    connections: int,
    bytes_in: int,
    bytes_out: int,
) -> None: ...


@query("""
    with counted as (
        insert into nodebalancer_month as m
        select $2, b.account_id, b.id, b.region, $3, $4 from nodebalancer b where b.id = $1
        on conflict (account_id, month, nodebalancer_id) do update
        set bytes_in = m.bytes_in + excluded.bytes_in, bytes_out = m.bytes_out + excluded.bytes_out
        returning bytes_in, bytes_out)
    update nodebalancer b set month = $2, bytes_in = c.bytes_in, bytes_out = c.bytes_out
    from counted c where b.id = $1
    """)
async def add_month(
    db: Queries, nodebalancer_id: int, month: date, bytes_in: int, bytes_out: int
) -> None:
    """To what it sent and got in the month that begins so."""


@query("""
    select region, sum(bytes_out)::bigint as sent from nodebalancer_month
    where account_id = $1 and month = $2 group by region
    """)
async def sent_from(db: Queries, account_id: int, month: date) -> dict[str, int]:
    """Bytes that NodeBalancers of an account sent from each region, those too that are gone."""


@query("select distinct account_id from nodebalancer_month where month = $1 and bytes_out > 0")
async def senders(db: Queries, month: date) -> list[int]:
    """Accounts whose NodeBalancers sent anything in a month."""


def _series(amount: str) -> str:
    return f"json_agg(json_build_array(ms, round(({amount} / seconds)::numeric, 2)) order by ms)"


@query(f"""
    with points as (
        select extract(epoch from at)::bigint * 1000 as ms, u.* from nodebalancer_amount u
        where nodebalancer_id = $1 and at >= $2 and seconds > 0)
    select json_build_object('title', $3::text, 'data', json_build_object(
        'connections', {_series("connections")},
        'traffic', json_build_object(
            'in', {_series("bytes_in * 8")}, 'out', {_series("bytes_out * 8")})))::text
    from points having count(*) > 0
    """)
async def stats(db: Queries, nodebalancer_id: int, since: datetime, title: str) -> str | None:
    """The record; None where nothing was read."""


@query("""
    with old as (
        delete from nodebalancer_amount where ctid = any(array(
            select ctid from nodebalancer_amount where at <= $1 order by at limit $2))
        returning 1)
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """How many it were."""
