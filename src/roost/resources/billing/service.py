"""Invoices: made once for each account and month, and computed again to be compared."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from roost.core.billing import promotion_queries
from roost.core.billing.charges import Tax, month_start, next_month
from roost.core.billing.ledger import Billables, record_all
from roost.core.billing.metered import AllMetered, meter
from roost.core.billing.queries import all_until, since
from roost.core.catalog import Catalog
from roost.resources.billing import mail_jobs, queries, rules
from roost.resources.billing.queries import Payer, WrittenInvoice
from roost.resources.billing.rules import Month
from roost.services import Services
from roost.store import Store
from roost.threads import COMPUTING

_PAGE = 100


async def note_prices(store: Store, services: Services, now: datetime) -> None:
    """What the catalogue changed of prices holds from now on (UTC)."""
    for billable in services.get(Billables).by_service.values():
        async with store.transaction() as db:
            await record_all(db, billable, now)


def nouns(services: Services) -> dict[str, str]:
    """What items are called by, for each service."""
    hourly = {each.service: each.noun for each in services.get(Billables).by_service.values()}
    return hourly | {each.service: each.noun for each in services.get(AllMetered).metered}


async def note_use(store: Store, services: Services, now: datetime) -> None:
    """What was used up at once in this month before a moment (UTC)."""
    month = month_start(now - timedelta(seconds=1))
    for metered in services.get(AllMetered).metered:
        for account_id in await metered.users(store, month):
            async with store.transaction() as db:
                await meter(db, services, metered, account_id, now)


async def _note_use_of(store: Store, services: Services, account_id: int, until: datetime) -> None:
    for metered in services.get(AllMetered).metered:
        async with store.transaction() as db:
            await meter(db, services, metered, account_id, until)


async def invoice_all(store: Store, services: Services, before: datetime) -> None:
    """All months of all accounts that ended by then (UTC) and have not been invoiced."""
    month, after = month_start(before), 0
    while payers := await queries.due(store, month, after, _PAGE):
        for payer in payers:
            await _invoice(store, services, payer, month)
        after = payers[-1].id


async def _invoice(store: Store, services: Services, payer: Payer, until: datetime) -> None:
    """One invoice for each month, the oldest first."""
    ends = next_month(payer.invoiced_until)
    while ends <= until:
        await _note_use_of(store, services, payer.id, ends)
        await _invoice_month(store, services, payer, Month(payer.invoiced_until, ends))
        found = await queries.find_payer(store, payer.id)
        if found is None:
            return
        payer, ends = found, next_month(found.invoiced_until)


async def _invoice_month(store: Store, services: Services, payer: Payer, month: Month) -> None:
    """It is drawn up before the transaction: what it is about has passed and does not change."""
    rows = await since(store, payer.id, month.starts, month.ends)
    taxes = rules.taxes_for(services.get(Catalog).entries.taxes, payer)
    promotions = await promotion_queries.before(store, payer.id, month.starts)
    new = rules.draw_up(payer, month, rules.bill(rows, month, taxes, promotions, nouns(services)))
    opening = rules.open_rows(rows)
    async with store.transaction() as db:
        found = await queries.lock_payer(db, payer.id)
        if found is None or found.invoiced_until != payer.invoiced_until:
            return  # Another worker was faster.
        if new is not None:
            invoice_id = await queries.insert(db, new)
            await mail_jobs.write(db, services, payer.id, invoice_id)
        await queries.set_invoiced(db, payer.id, month.ends, opening)


@dataclass(frozen=True, slots=True)
class Due:
    """What an account would be invoiced for since its last invoice."""

    since: datetime
    promotions: int
    """How many the account had."""
    total: Decimal
    """US dollars, with taxes, without what promotions pay."""


async def due_until(store: Store, services: Services, account_id: int, until: datetime) -> Due:
    """As `invoice_last` would do it (UTC)."""
    await _note_use_of(store, services, account_id, until)
    payer = await queries.find_payer(store, account_id)
    assert payer is not None
    rows = await since(store, payer.id, payer.invoiced_until, until)
    taxes = rules.taxes_for(services.get(Catalog).entries.taxes, payer)
    promotions = await promotion_queries.before(store, payer.id, payer.invoiced_until)
    months = list(_months(payer.invoiced_until, until))
    owed = await COMPUTING.run(rules.total, rows, months, taxes, promotions)
    return Due(payer.invoiced_until, len(promotions), owed)


async def invoice_last(store: Store, services: Services, account_id: int, until: datetime) -> None:
    """All that an account owes until it was canceled (UTC), also the part of a month."""
    async with store.transaction() as db:
        await queries.await_ledger(db, account_id)
    payer = await queries.find_payer(store, account_id)
    while payer is not None and payer.invoiced_until < until:
        await _invoice_month(store, services, payer, next(_months(payer.invoiced_until, until)))
        payer = await queries.find_payer(store, account_id)


def _months(start: datetime, until: datetime) -> Iterator[Month]:
    while start < until:
        month = Month(start, min(next_month(month_start(start)), until))
        yield month
        start = month.ends


async def differences(store: Store) -> AsyncIterator[str]:
    """Every invoice that is not what the ledger comes to, and every balance that is not the sum."""
    after = 0
    while found := await queries.written(store, after, _PAGE):
        for invoice in found:
            if (difference := await _difference(store, invoice)) is not None:
                yield difference
        after = found[-1].id
    for each in await queries.imbalances(store):
        yield f"account {each.account_id}: its balance is {each.balance}, it owes {each.owed}"


async def _difference(store: Store, invoice: WrittenInvoice) -> str | None:
    rows = await all_until(store, invoice.account_id, invoice.ends)
    taxes = [Tax(name, Decimal(rate)) for name, rate in invoice.taxes.items()]
    promotions = await promotion_queries.before(store, invoice.account_id, invoice.starts)
    made = rules.bill(rows, Month(invoice.starts, invoice.ends), taxes, promotions, {})
    name = f"invoice {invoice.id} of account {invoice.account_id}"
    if await queries.items_of(store, invoice.id) != [line.key for line in made.lines]:
        return f"{name}: its items are not what the ledger says"
    if (invoice.subtotal, invoice.tax, invoice.total) != (made.subtotal, made.tax, made.total):
        return f"{name}: it says {invoice.total}, the ledger {made.total}"
    if invoice.posted != invoice.total:
        return f"{name}: it says {invoice.total}, the balance has {invoice.posted} of it"
    return None
