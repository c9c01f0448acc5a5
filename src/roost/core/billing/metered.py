"""What accounts use up at once, and not by the hour: transfer beyond a pool.

The ledger has it as rows without an hourly price, each of what came since the row before it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from roost.core.billing.charges import month_start, next_month
from roost.core.billing.queries import lock, standing
from roost.services import Services
from roost.store import Queries

Beyond = Mapping[str, int]
"""By region how much of something an account has to pay for; of no region: by an empty text."""


@dataclass(frozen=True)
class Metered:
    """Something that accounts are charged for by what they used of it in a month."""

    service: str
    """Its word in invoices, and in the prices of what has no plans."""
    noun: str
    """What items are called by: `Transfer`."""
    label: str
    """What is charged for of it."""
    users: Callable[[Queries, datetime], Awaitable[list[int]]]
    """The accounts that used any of it in the month that begins then (UTC)."""
    beyond: Callable[[Queries, Services, int, datetime, datetime], Awaitable[Beyond]]
    """What an account has to pay for of the time between two moments of a month (UTC)."""


class AllMetered:
    """All that accounts are charged for in this way."""

    def __init__(self, *metered: Metered) -> None:
        self.metered = metered


async def meter(
    db: Queries, services: Services, metered: Metered, account_id: int, until: datetime
) -> None:
    """Bring the month's use before a moment (UTC) into the ledger, unless it is invoiced.

    What became less, as with another instance the pool has grown, is taken back."""
    start = month_start(until - timedelta(seconds=1))
    await lock(db, account_id)
    if (await standing(db, account_id)).invoiced_until > start:
        return
    beyond = await metered.beyond(db, services, account_id, start, until)
    await db.execute(
        """
        with known as (
            select region, sum(quantity) as quantity from ledger
            where account_id = $1 and at >= $2 and at < $3 and service = $4 group by region)
        insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity,
            hourly, monthly, tags)
        select $1, $4, $1, $5::timestamp(0) - interval '1 second', $6, '', region,
            coalesce(u.quantity, 0) - coalesce(k.quantity, 0), null,
            (coalesce((select r from json_array_elements(p.region_prices) r
                where r ->> 'id' = region limit 1), p.price) ->> 'monthly')::numeric, '{}'
        from unnest($7::text[], $8::bigint[]) as u (region, quantity)
            full join known k using (region)
            join unit_price p on p.service = $4
        where coalesce(u.quantity, 0) <> coalesce(k.quantity, 0)
        """,
        account_id,
        start,
        next_month(start),
        metered.service,
        until.replace(microsecond=0),
        metered.label,
        list(beyond),
        list(beyond.values()),
    )
