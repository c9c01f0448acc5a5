"""SQL of invoices as files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import orjson

from roost.resources.billing.queries import ITEMS
from roost.resources.billing.records import TaxSummary
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Customer:
    """Whom an invoice is for, as the account said when it was made."""

    company: str
    first_name: str
    last_name: str
    address_1: str
    address_2: str
    city: str
    state: str
    zip: str
    country: str
    tax_id: str


@dataclass(frozen=True, slots=True)
class InvoiceFacts:
    """An invoice without its items; amounts in US dollars, times in UTC."""

    id: int
    account_id: int
    date: datetime
    starts: datetime
    ends: datetime
    subtotal: Decimal
    total: Decimal
    taxes: Sequence[TaxSummary]
    items: int
    """How many there are."""
    customer: Customer


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """An item with what the API shows of it; times in UTC, amounts in US dollars."""

    id: int
    label: str
    type: str
    quantity: int | None
    unit_price: str | None
    start: datetime | None
    end: datetime | None
    region: str | None
    amount: Decimal
    tax: Decimal
    total: Decimal


async def find_invoice(db: Queries, account_id: int, invoice_id: int) -> InvoiceFacts | None:
    row = await db.fetchrow(
        """
        select i.id, i.account_id, i.date, i.starts, i.ends, i.subtotal, i.total,
            i.tax_summary as taxes, i.customer,
            (select count(*) from invoice_item t where t.invoice_id = i.id) as items
        from invoice i where i.id = $2 and i.account_id = $1
        """,
        account_id,
        invoice_id,
    )
    if row is None:
        return None
    customer = Customer(**orjson.loads(row["customer"]))
    taxes = orjson.loads(row["taxes"])
    return InvoiceFacts(**{**row, "taxes": taxes, "customer": customer})


_ITEMS_AFTER = f"""
    select id, label, type, quantity, unit_price, "from" as start, "to" as "end", region, amount,
        tax, total
    from (
        select {ITEMS.key} as id, {ITEMS.record} from {ITEMS.source}
        where {ITEMS.scope} and {ITEMS.key} > $3) item
    order by id limit $4
    """  # noqa: S608 - constants


async def items_after(
    db: Queries, invoice: InvoiceFacts, after: int, limit: int
) -> list[ItemFacts]:
    """The next items of an invoice, in the order of the API's list."""
    rows = await db.fetch(_ITEMS_AFTER, invoice.account_id, invoice.id, after, limit)
    return [ItemFacts(**row) for row in rows]
