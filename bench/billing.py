"""How long a month's invoices take, and what an account owes that has a long history."""

import time
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from bench.results import Result
from roost.app.groups import GROUPS
from roost.core.billing.charges import month_start
from roost.core.billing.ledger import Billables
from roost.core.billing.metered import AllMetered
from roost.core.billing.queries import uninvoiced
from roost.core.catalog import load
from roost.ids import new_uuid
from roost.resources.account.queries import create_account
from roost.resources.billing.service import invoice_all
from roost.resources.support.engine import SupportRules
from roost.services import Services
from roost.store import Store

_RESOURCES = 10_000
_ACCOUNTS, _EACH = 1000, 10
_MONTHS = 60
_READS = 50
_NOW = datetime(2030, 2, 1, 12)
_LAST_MONTH = datetime(2030, 1, 1)


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    services = Services(
        load(None),
        Billables(*GROUPS.billables),
        AllMetered(*GROUPS.metered),
        SupportRules(None, 0),
    )
    await _used(store, [await _account(store)], _RESOURCES)
    name = "invoice of 10,000 resources of one account"
    yield Result(name, await _invoice(store, services), "s", 2)
    await _used(store, [await _account(store) for _ in range(_ACCOUNTS)], _EACH)
    name = "invoices of 1,000 accounts with 10 resources each"
    yield Result(name, await _invoice(store, services), "s", 20)
    yield await _flat(store, services)


async def _flat(store: Store, services: Services) -> Result:
    """One account that begins this month, and one that has had the same for years."""
    fresh, old = await _account(store, month_start(_NOW)), await _account(store, _past(_MONTHS))
    await _used(store, [fresh], _EACH, month_start(_NOW))
    for month in range(_MONTHS, -1, -1):
        await _used(store, [old], _EACH, _past(month))
    await invoice_all(store, services, _NOW)
    ratio = await _read(store, old) / await _read(store, fresh)
    return Result("what an account of five years owes", ratio, "x of one of a day", 1.5)


def _past(months: int) -> datetime:
    """About so many months ago, in the first hours of the month."""
    return month_start(_NOW - timedelta(days=months * 30.5))


async def _account(store: Store, created: datetime = _LAST_MONTH) -> int:
    return await create_account(store, new_uuid(), created)


async def _used(
    store: Store, accounts: list[int], resources: int, at: datetime = _LAST_MONTH
) -> None:
    """From then on, each account has so many volumes, or they cost something else."""
    await store.execute(
        """
        insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity,
            hourly, monthly, tags)
        select a, 'blockstorage', a * 100000 + n, $3, 'data', '', 'us-lake', 20, 0.00015 + n * 1e-9,
            0.1, '{}'
        from unnest($1::bigint[]) as a, generate_series(1, $2) as n
        """,
        accounts,
        resources,
        at,
    )


async def _invoice(store: Store, services: Services) -> float:
    began = time.monotonic()
    await invoice_all(store, services, _NOW)
    return time.monotonic() - began


async def _read(store: Store, account_id: int) -> float:
    times = []
    for _ in range(_READS):
        began = time.monotonic()
        await uninvoiced(store, account_id, _NOW)
        times.append(time.monotonic() - began)
    return median(times)
