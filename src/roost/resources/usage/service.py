"""What becomes of counters, and what is shown of them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from roost.core import instance_queries
from roost.core.context import Context
from roost.errors import invalid, not_found
from roost.resources.compute import totals_queries as totals
from roost.resources.compute.engine import Counters
from roost.resources.usage import pool_service, queries
from roost.resources.usage.pool_rules import SHARED, Pool
from roost.resources.usage.queries import Used
from roost.resources.usage.records import (
    AccountTransferRow,
    InstanceTransferRow,
    MonthTransferRow,
)
from roost.resources.usage.rules import HOUR, STEP, billable, reading, seen, used
from roost.store import Queries, Store

_AT_ONCE = 500
"""Instances whose readings are written in one transaction."""
_GB = 10**9
_DAY = timedelta(days=1)
_FIRST_YEAR, _LAST_YEAR, _DECEMBER = 2000, 2037, 12


async def note(store: Store, counters: Mapping[int, Counters], now: datetime) -> None:
    """Write down what guests have used since the last time."""
    ids = sorted(counters)
    for first in range(0, len(ids), _AT_ONCE):
        async with store.transaction() as db:
            await _note(db, ids[first : first + _AT_ONCE], counters, now)


async def _note(
    db: Queries, ids: Sequence[int], counters: Mapping[int, Counters], now: datetime
) -> None:
    owners = await totals.measured(db, ids)
    before = await queries.lock_readings(db, owners)
    found = list[Used]()
    for compute_id, owner in owners.items():
        last = before.get(compute_id)
        read = reading(counters[compute_id], owner.swaps, now)
        amounts = used(last, read)
        found.append(
            Used(compute_id, owner.account_id, owner.region, read, amounts, seen(last, read))
        )
    if found:
        await queries.write(db, found, now)


async def view_stats(context: Context, compute_id: int) -> str:
    """The statistics of the last 24 hours; 400 before the first reading."""
    now = context.clock.now()
    return await _stats(context, compute_id, "day (5 min avg)", STEP, now - _DAY, now)


async def view_stats_of_month(context: Context, compute_id: int, year: int, month: int) -> str:
    """The statistics of a month (UTC); 400 where nothing was read in it."""
    begin = _month(context, year, month)
    words = f"{begin:%B %Y} (1 hour avg)"
    return await _stats(context, compute_id, words, HOUR, begin, _following(begin))


async def view_transfer(context: Context, compute_id: int) -> InstanceTransferRow:
    """The transfer of this month (UTC)."""
    db, account_id, now = context.db, context.account_id, context.clock.now()
    await _label(context, compute_id)
    sent = await queries.sent_by(db, account_id, compute_id, _first_day(now))
    quota = await totals.quota(db, account_id, now, compute_id)
    pool = await _pool_of(context, compute_id)
    over = min(billable(sent.bytes_out // _GB, quota), pool.billable)
    return {"used": sent.bytes_out, "quota": quota, "billable": over}


async def view_transfer_of_month(
    context: Context, compute_id: int, year: int, month: int
) -> MonthTransferRow:
    """The transfer of a month (UTC)."""
    await _label(context, compute_id)
    first = _month(context, year, month).date()
    sent = await queries.sent_by(context.db, context.account_id, compute_id, first)
    total = sent.bytes_in + sent.bytes_out
    return {"bytes_in": sent.bytes_in, "bytes_out": sent.bytes_out, "bytes_total": total}


async def view_pool(context: Context) -> AccountTransferRow:
    """The pool of this month (UTC), and those of regions that have their own."""
    pools = await _pools(context)
    shared = pools[SHARED]
    return {
        "billable": shared.billable,
        "quota": shared.quota,
        "used": shared.used,
        "region_transfers": [
            {"id": region, "billable": pool.billable, "quota": pool.quota, "used": pool.used}
            for region, pool in sorted(pools.items())
            if region != SHARED
        ],
    }


async def _pool_of(context: Context, compute_id: int) -> Pool:
    """In which an instance sends."""
    facts = await instance_queries.find(context.db, compute_id)
    pools = await _pools(context)
    return pools.get(facts.region if facts else SHARED, pools[SHARED])


async def _pools(context: Context) -> dict[str, Pool]:
    now = context.clock.now()
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return await pool_service.pools_of(context.db, context.services, context.account_id, first, now)


async def _stats(
    context: Context, compute_id: int, words: str, step: int, begin: datetime, end: datetime
) -> str:
    title = f"{await _label(context, compute_id)} - {words}"
    found = await queries.stats(context.db, compute_id, title, step, begin, end)
    if found is None:
        raise invalid("Stats are unavailable at this time.")
    return found


async def _label(context: Context, compute_id: int) -> str:
    """The label of an instance of the account; else 404."""
    facts = await instance_queries.find(context.db, compute_id)
    if facts is None or facts.account_id != context.account_id:
        raise not_found()
    return facts.label


def _month(context: Context, year: int, month: int) -> datetime:
    """Its first moment; 404 for what is none, or in the future."""
    now = context.clock.now()
    if not (_FIRST_YEAR <= year <= _LAST_YEAR and 1 <= month <= _DECEMBER):
        raise not_found()
    if (year, month) > (now.year, now.month):
        raise not_found()
    return datetime(year, month, 1)


def _following(first: datetime) -> datetime:
    """The first moment of the month after it."""
    return (first + timedelta(days=31)).replace(day=1)


def _first_day(now: datetime) -> date:
    return now.date().replace(day=1)
