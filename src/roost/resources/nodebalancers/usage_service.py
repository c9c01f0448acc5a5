"""What becomes of the counters of NodeBalancers, and what is shown of them."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from roost.core.context import Context
from roost.errors import invalid, not_found
from roost.resources.nodebalancers import queries, usage_queries
from roost.resources.nodebalancers.engine import BalancerTraffic
from roost.resources.nodebalancers.usage_queries import Reading
from roost.store import Queries, Store

STEP = timedelta(minutes=5)
_DAY = timedelta(days=1)
_AT_ONCE = 500
"""NodeBalancers whose readings are written in one transaction."""


async def note(
    store: Store,
    host: str,
    seen: Mapping[int, BalancerTraffic],
    now: datetime,
    *,
    left: bool = False,
) -> None:
    """Write down what was used on a host since the last time (UTC), of what is there by now or,
    with `left`, is to be dropped there: who reads the one does not write down the other too."""
    ids = sorted(seen)
    for first in range(0, len(ids), _AT_ONCE):
        async with store.transaction() as db:
            some = ids[first : first + _AT_ONCE]
            for last in await usage_queries.lock_readings(db, some, host, left):
                await _note(db, host, last, seen[last.nodebalancer_id], now)


async def _note(
    db: Queries, host: str, last: Reading, seen: BalancerTraffic, now: datetime
) -> None:
    used = since(last, seen)
    await usage_queries.set_reading(
        db,
        last.nodebalancer_id,
        host,
        now,
        seen.epoch,
        seen.connections,
        seen.bytes_in,
        seen.bytes_out,
    )
    month = (now - STEP / 2).date().replace(day=1)
    await usage_queries.add_month(db, last.nodebalancer_id, month, used.bytes_in, used.bytes_out)
    if last.read_at is not None and last.read_at < now:
        seconds = (now - last.read_at).total_seconds()
        amounts = used.connections, used.bytes_in, used.bytes_out
        await usage_queries.add_amount(db, last.nodebalancer_id, _bucket(now), seconds, *amounts)


def since(last: Reading, seen: BalancerTraffic) -> BalancerTraffic:
    """Counters that began anew have counted all that they show since the reading before."""
    same = last.epoch == seen.epoch
    return BalancerTraffic(
        seen.epoch,
        _grown(last.connections, seen.connections, same),
        _grown(last.bytes_in, seen.bytes_in, same),
        _grown(last.bytes_out, seen.bytes_out, same),
    )


def _grown(before: int, now: int, same: bool) -> int:
    """One that shows less than before has begun anew, as after a time of not being served."""
    return now - before if same and now >= before else now


def _bucket(now: datetime) -> datetime:
    """The five minutes to which what was read belongs: those before."""
    middle = now - STEP / 2
    midnight = middle.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (middle - midnight) // STEP * STEP


async def view_stats(context: Context, nodebalancer_id: int) -> str:
    """Of the last 24 hours; 400 before the second reading."""
    label = await queries.label_of(context.db, context.account_id, nodebalancer_id)
    if label is None:
        raise not_found()
    begin, title = context.clock.now() - _DAY, f"{label} - day (5 min avg)"
    found = await usage_queries.stats(context.db, nodebalancer_id, begin, title)
    if found is None:
        raise invalid("Stats are unavailable at this time.")
    return found


async def sent_from(db: Queries, account_id: int, month: date) -> dict[str, int]:
    """Bytes that an account's NodeBalancers sent from each region in a month."""
    return await usage_queries.sent_from(db, account_id, month)


async def senders(db: Queries, month: date) -> list[int]:
    """Accounts whose NodeBalancers sent anything in a month."""
    return await usage_queries.senders(db, month)
