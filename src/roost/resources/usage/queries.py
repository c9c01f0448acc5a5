"""SQL of what instances use."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date, datetime, timedelta

from roost.resources.usage.rules import HOUR, STEP, Amounts, Reading, Seen, bucket
from roost.store import Queries
from roost.store.query import query

KEPT_STEPS = timedelta(hours=25)
KEPT_HOURS = timedelta(days=400)

_AMOUNTS = tuple(field.name for field in fields(Amounts))
_COLUMNS = ", ".join(_AMOUNTS)
_TYPES = ("float8", *("bigint",) * (len(_AMOUNTS) - 1))
_TYPED = tuple(zip(_AMOUNTS, _TYPES, strict=True))


@dataclass(frozen=True, slots=True)
class Used:
    """What one guest has used since the reading before."""

    compute_id: int
    account_id: int
    region: str
    reading: Reading
    amounts: Amounts
    seen: Seen | None


async def lock_readings(db: Queries, compute_ids: Iterable[int]) -> dict[int, Reading]:
    """The last ones, which nobody else changes until the end of the transaction."""
    rows = await db.fetch(
        f"""
        select compute_id, read_at, run, epoch, {_COLUMNS} from usage_reading
        where compute_id = any($1) order by compute_id for update
        """,
        list(compute_ids),
    )
    return {
        row["compute_id"]: Reading(
            row["read_at"],
            row["run"],
            row["epoch"],
            Amounts(*(row[name] for name in _AMOUNTS)),
        )
        for row in rows
    }


async def write(db: Queries, used: Sequence[Used], now: datetime) -> None:
    """Readings, and what they add to the amounts and to the traffic of the month."""
    await _write_readings(db, used)
    drawn = [(each.compute_id, each.seen) for each in used if each.seen is not None]
    for step in (STEP, HOUR):
        await _add_amounts(db, step, bucket(now, step), drawn)
    await _add_traffic(db, bucket(now, STEP).date().replace(day=1), used)


async def _write_readings(db: Queries, used: Sequence[Used]) -> None:
    types = ("bigint", "timestamp", "text", "text", *_TYPES)
    await db.execute(
        f"""
        insert into usage_reading (compute_id, read_at, run, epoch, {_COLUMNS})
        select * from unnest({_arrays(1, types)})
        on conflict (compute_id) do update set read_at = excluded.read_at, run = excluded.run,
            epoch = excluded.epoch, {", ".join(f"{name} = excluded.{name}" for name in _AMOUNTS)}
        """,
        *_transposed(
            len(types),
            [
                (
                    each.compute_id,
                    each.reading.read_at,
                    each.reading.run,
                    each.reading.epoch,
                    *astuple(each.reading.totals),
                )
                for each in used
            ],
        ),
    )


async def _add_amounts(
    db: Queries, step: int, at: datetime, drawn: Sequence[tuple[int, Seen]]
) -> None:
    types = ("bigint", "float8", *_TYPES)
    names = ("seconds", *_AMOUNTS)
    await db.execute(
        f"""
        insert into usage_amount as u (step, at, compute_id, seconds, {_COLUMNS})
        select $1, $2, * from unnest({_arrays(3, types)})
        on conflict (compute_id, step, at) do update
        set {", ".join(f"{name} = u.{name} + excluded.{name}" for name in names)}
        """,
        step,
        at,
        *_transposed(
            len(types),
            [(compute_id, seen.seconds, *astuple(seen.amounts)) for compute_id, seen in drawn],
        ),
    )


async def _add_traffic(db: Queries, month: date, used: Sequence[Used]) -> None:
    await db.execute(
        """
        insert into usage_month as m (month, account_id, compute_id, region, bytes_in, bytes_out)
        select $1, * from unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[])
        on conflict (account_id, month, compute_id, region) do update
        set bytes_in = m.bytes_in + excluded.bytes_in,
            bytes_out = m.bytes_out + excluded.bytes_out
        """,
        month,
        [each.account_id for each in used],
        [each.compute_id for each in used],
        [each.region for each in used],
        [each.amounts.public_in for each in used],
        [each.amounts.public_out for each in used],
    )


async def used_since(
    db: Queries, compute_ids: Sequence[int], since: datetime
) -> dict[int, Amounts]:
    """What instances have used from a time on, of the last day."""
    rows = await db.fetch(
        f"""
        select compute_id, {", ".join(f"sum({n})::{t} as {n}" for n, t in _TYPED)}
        from usage_amount where compute_id = any($1) and step = $2 and at >= $3 group by compute_id
        """,
        compute_ids,
        STEP,
        since,
    )
    return {row["compute_id"]: Amounts(*(row[name] for name in _AMOUNTS)) for row in rows}


@dataclass(frozen=True, slots=True)
class Sent:
    """Bytes of public traffic."""

    bytes_in: int
    bytes_out: int


@query("""
    select coalesce(sum(bytes_in), 0)::bigint as bytes_in,
        coalesce(sum(bytes_out), 0)::bigint as bytes_out
    from usage_month where account_id = $1 and month = $3 and compute_id = $2
    """)
async def sent_by(db: Queries, account_id: int, compute_id: int, month: date) -> Sent:
    """What an instance sent and received in a month, for as long as it was the account's."""


@query("""
    select compute_id, sum(bytes_out)::bigint as bytes_out from usage_month
    where account_id = $1 and month = $2 group by compute_id
    """)
async def sent_in(db: Queries, account_id: int, month: date) -> dict[int, int]:
    """Bytes that each of its instances sent in a month."""


@query("""
    select region, sum(bytes_out)::bigint as bytes_out from usage_month
    where account_id = $1 and month = $2 group by region
    """)
async def sent_from(db: Queries, account_id: int, month: date) -> dict[str, int]:
    """Bytes that its instances sent from each region, those too that are gone or have moved."""


async def senders(db: Queries, month: date) -> list[int]:
    """Accounts whose instances sent anything in a month."""
    sql = "select distinct account_id from usage_month where month = $1 and bytes_out > 0"
    return [row["account_id"] for row in await db.fetch(sql, month)]


async def stats(
    db: Queries, compute_id: int, title: str, step: int, begin: datetime, end: datetime
) -> str | None:
    """The record, from a time up to before another; None where nothing was read."""
    found: str | None = await db.fetchval(
        f"""
        with points as (
            select extract(epoch from at)::bigint * 1000 as ms, u.*
            from usage_amount u
            where compute_id = $1 and step = $2 and at >= $3 and at < $4 and seconds > 0
            order by at)
        select json_build_object(
            'title', $5::text,
            'cpu', {_series("cpu * 100")},
            'io', json_build_object(
                'io', {_series("io / 4096.0")},
                'swap', {_series("swap / 4096.0")}),
            'netv4', json_build_object(
                'in', {_series("ipv4_in * 8")},
                'out', {_series("ipv4_out * 8")},
                'private_in', {_series("private_in * 8")},
                'private_out', {_series("private_out * 8")}),
            'netv6', json_build_object(
                'in', {_series("ipv6_in * 8")},
                'out', {_series("ipv6_out * 8")},
                'private_in', {_series("0")},
                'private_out', {_series("0")}))::text
        from points having count(*) > 0
        """,
        compute_id,
        step,
        begin,
        end,
        title,
    )
    return found


async def delete_old_steps(db: Queries, before: datetime, limit: int) -> int:
    """Amounts of five minutes; how many it were."""
    return await _delete_old(db, STEP, before, limit)


async def delete_old_hours(db: Queries, before: datetime, limit: int) -> int:
    """Amounts of hours; how many it were."""
    return await _delete_old(db, HOUR, before, limit)


@query("""
    with old as (
        delete from usage_amount where ctid = any(array(
            select ctid from usage_amount where step = $1 and at <= $2
            order by at limit $3))
        returning 1)
    select count(*) from old
    """)
async def _delete_old(db: Queries, step: int, before: datetime, limit: int) -> int: ...


def _series(amount: str) -> str:
    return f"json_agg(json_build_array(ms, round(({amount} / seconds)::numeric, 2)) order by ms)"


def _arrays(first: int, types: Sequence[str]) -> str:
    return ", ".join(f"${number}::{each}[]" for number, each in enumerate(types, first))


def _transposed(width: int, rows: Sequence[tuple[object, ...]]) -> list[list[object]]:
    """A column each, also of no rows."""
    return [[row[index] for row in rows] for index in range(width)]


@query("""
    select account_id, sum(bytes_out)::bigint as sent from usage_month
    where month = $1 group by 1
    """)
async def traffic_by_account(db: Queries, month: date) -> dict[int, int]:
    """Bytes that the instances of accounts sent by public addresses in the month that begins so."""
