"""What an account may send in a month, what it has sent, and what is charged for of that."""

from collections import Counter
from datetime import datetime

from roost.core.billing.charges import next_month
from roost.core.billing.metered import Beyond, Metered
from roost.core.billing.queries import since, standing
from roost.core.catalog import Catalog
from roost.resources.compute import totals_queries as totals
from roost.resources.compute.billing_queries import CHARGED as INSTANCES
from roost.resources.nodebalancers import usage_service as balancers
from roost.resources.object_storage import usage_queries as objects
from roost.resources.object_storage.queries import has_object_storage
from roost.resources.usage import queries
from roost.resources.usage.pool_rules import Pool, pools
from roost.services import Services
from roost.store import Queries

OF_OBJECT_STORAGE = 1000
"""GB (spec A object storage 10)."""


async def pools_of(
    db: Queries, services: Services, account_id: int, first: datetime, until: datetime
) -> dict[str, Pool]:
    """The pools of the month that begins with `first`, as they are before `until` (UTC)."""
    start = (await standing(db, account_id)).invoiced_until
    rows = [
        row
        for row in await since(db, account_id, min(start, until), until)
        if row.service == INSTANCES.service
    ]
    own = [e.id for e in services.get(Catalog).entries.regions if e.transfer_pool == "own"]
    sent = Counter(await queries.sent_from(db, account_id, first.date()))
    sent.update(await balancers.sent_from(db, account_id, first.date()))
    extra = OF_OBJECT_STORAGE if await has_object_storage(db, account_id) else 0
    got = await objects.sent_in(db, account_id, first.date())
    month = (first, next_month(first))
    return pools(rows, sent, await totals.transfers(db), own, month, (extra, got))


async def _users(db: Queries, month: datetime) -> list[int]:
    sent = await queries.senders(db, month.date())
    balanced = await balancers.senders(db, month.date())
    return sorted({*sent, *balanced, *await objects.senders(db, month.date())})


async def _beyond(
    db: Queries, services: Services, account_id: int, first: datetime, until: datetime
) -> Beyond:
    found = await pools_of(db, services, account_id, first, until)
    return {region: pool.billable for region, pool in found.items() if pool.billable}


TRANSFER = Metered("transfer", "Transfer", "GB beyond the pool", _users, _beyond)
