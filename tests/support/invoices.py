"""Invoices for tests: a past that an account was charged for."""

from datetime import datetime, timedelta
from decimal import Decimal

from roost.app.roost import Roost
from roost.core.billing.charges import month_start
from roost.core.billing.queries import post
from roost.resources.billing.service import differences, invoice_all
from roost.store import Store

INVOICES = "/account/invoices"


async def charged_last_month(roost: Roost, account_id: int, days: int = 1) -> None:
    """A volume of 20 GiB that ended before this month, in an account that is older.

    Its id is none that a volume of somebody else may get.
    """
    ended = month_start(roost.clock.now()) - timedelta(days=1)
    await roost.store.execute(
        "update account set created = $2 where id = $1",
        account_id,
        ended - timedelta(days=2 + days),
    )
    for at, hourly, monthly in (
        (ended - timedelta(days=days), "0.00015", "0.1"),
        (ended, None, None),
    ):
        await roost.store.execute(
            """
            insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity,
                hourly, monthly, tags)
            values ($1, 'blockstorage', -$1::bigint, $2, 'data', '', 'us-lake', 20,
                $3::text::numeric, $4::text::numeric, '{blue}')
            """,
            account_id,
            at,
            hourly,
            monthly,
        )


async def invoiced(roost: Roost, account_id: int) -> int:
    """The id of an invoice of the account."""
    await charged_last_month(roost, account_id)
    await invoice_all(roost.store, roost.services, roost.clock.now())
    found: int = await roost.store.fetchval(
        "select max(id) from invoice where account_id = $1", account_id
    )
    return found


async def owed(store: Store, account_id: int, usd: Decimal, date: datetime) -> int:
    """The id of an invoice of that date, without items."""
    invoice_id: int = await store.fetchval(
        """
        insert into invoice (account_id, date, starts, ends, subtotal, tax, total, tax_summary,
            taxes, billing_source, customer)
        values ($1, $2, $2, $2, $3, 0, $3, '[]', '{}', 'platform', '{}') returning id
        """,
        account_id,
        date,
        usd,
    )
    await post(store, account_id, "invoice", invoice_id, usd, date)
    return invoice_id


async def wrong_books(store: Store, account_id: int) -> list[str]:
    """What is wrong with an account's invoices and its balance.

    Ledger and postings are never taken away, and others' may be what no job has made.
    """
    return [text async for text in differences(store) if f"account {account_id}:" in text]
