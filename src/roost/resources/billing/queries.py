"""SQL of invoices and their items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

import orjson

from roost.core.billing.queries import post
from roost.core.lists import listing_of
from roost.resources.billing.records import InvoiceRow
from roost.store import Queries
from roost.store.paging import Listing
from roost.store.query import query

INVOICES = listing_of(
    InvoiceRow,
    source="invoice i",
    scope="i.account_id = $1",
    key="i.id",
    sql={
        "label": "'Invoice #' || i.id",
    },
)

_PROMOTION = "t.service = 'promotion'"
_MISC = "t.service in ('promotion', 'transfer')"

ITEMS = Listing(
    record=f"""
        t.label, case when {_MISC} then 'misc' else 'hourly' end as type,
        case when not {_PROMOTION} then t.quantity end as quantity,
        case when not {_PROMOTION} then t.unit_price::text end as unit_price, t."from", t."to",
        nullif(t.region, '') as region, t.amount, t.tax, t.amount + t.tax as total
        """,
    source="invoice_item t join invoice i on i.id = t.invoice_id",
    scope="i.account_id = $1 and i.id = $2",
    key="t.id",
    columns={},
)


@dataclass(frozen=True, slots=True)
class Payer:
    """An account for which a month has to be invoiced."""

    id: int
    invoiced_until: datetime
    country: str
    state: str
    tax_id: str
    billing_source: str
    debtor_id: int
    """Itself, or the parent that pays for it."""


_PAYER = """
    select id, coalesce(invoiced_until, date_trunc('month', created)::timestamp(0))
        as invoiced_until, country, state, tax_id,
        case when parent_id is null then 'platform' else 'external' end as billing_source,
        case when parent_pays then coalesce(parent_id, id) else id end as debtor_id
    from account
    """


@query(f"""
    {_PAYER} where coalesce(invoiced_until, date_trunc('month', created)) < $1 and id > $2
        and canceled is null
    order by id limit $3
    """)
async def due(db: Queries, month: datetime, after: int, limit: int) -> list[Payer]:
    """The next accounts, by id, that have not been invoiced up to the start of a month (UTC).

    The last invoice of a canceled one is not by the month."""


@query(f"{_PAYER} where id = $1")
async def find_payer(db: Queries, account_id: int) -> Payer | None: ...


@query(f"{_PAYER} where id = $1 for no key update")
async def lock_payer(db: Queries, account_id: int) -> Payer | None:
    """The account, which nobody else invoices until the end of the transaction."""


@query("select from account where id = $1 for update")
async def await_ledger(db: Queries, account_id: int) -> None:
    """Wait until all that is being written to the account's ledger is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvoice:
    """A row to insert, and its items as JSON."""

    account_id: int
    starts: datetime
    ends: datetime
    subtotal: Decimal
    tax: Decimal
    tax_summary: str
    taxes: str
    """JSON: names and exact rates."""
    billing_source: str
    debtor_id: int
    """The account that owes it."""
    items: str


async def insert(db: Queries, new: NewInvoice) -> int:
    """With its items and whom it is for; the account owes it from now on, or its parent."""
    invoice_id: int = await db.fetchval(
        """
        insert into invoice (account_id, date, starts, ends, subtotal, tax, total, tax_summary,
            taxes, billing_source, customer)
        select $1, $3, $2, $3, $4, $5, $4::numeric + $5::numeric, $6, $7, $8,
            json_build_object('company', company, 'first_name', first_name,
                'last_name', last_name, 'address_1', address_1, 'address_2', address_2,
                'city', city, 'state', state, 'zip', zip, 'country', country, 'tax_id', tax_id)
        from account where id = $1 returning id
        """,
        new.account_id,
        new.starts,
        new.ends,
        new.subtotal,
        new.tax,
        new.tax_summary,
        new.taxes,
        new.billing_source,
    )
    await db.execute(
        """
        insert into invoice_item (invoice_id, service, resource_id, label, plan, region, tags,
            "from", "to", quantity, unit_price, amount, tax)
        select $1, service, resource_id, label, plan, region, tags, "from", "to", quantity,
            unit_price, amount, tax
        from json_populate_recordset(null::invoice_item, $2)
        """,
        invoice_id,
        new.items,
    )
    total = new.subtotal + new.tax
    await post(db, new.debtor_id, "invoice", invoice_id, total, new.ends)
    return invoice_id


async def set_invoiced(
    db: Queries, account_id: int, until: datetime, opening: Sequence[int]
) -> None:
    """Up to then (UTC), when these rows of the ledger were open."""
    await db.execute("update account set invoiced_until = $2 where id = $1", account_id, until)
    await db.execute("delete from ledger_opening where account_id = $1", account_id)
    await db.execute(
        "insert into ledger_opening (account_id, ledger_id) select $1, unnest($2::bigint[])",
        account_id,
        list(opening),
    )


@dataclass(frozen=True, slots=True)
class WrittenInvoice:
    """An invoice as it was made, with the sums of its items."""

    id: int
    account_id: int
    starts: datetime
    ends: datetime
    subtotal: Decimal
    tax: Decimal
    total: Decimal
    taxes: Mapping[str, str]
    posted: Decimal | None
    """What the account's balance has of it."""


async def written(db: Queries, after: int, limit: int) -> list[WrittenInvoice]:
    """The next invoices of all accounts, by id."""
    rows = await db.fetch(
        """
        select i.id, i.account_id, i.starts, i.ends, i.subtotal, i.tax, i.total, i.taxes,
            p.amount as posted
        from invoice i left join posting p on p.kind = 'invoice' and p.reference = i.id
        where i.id > $1 order by i.id limit $2
        """,
        after,
        limit,
    )
    return [WrittenInvoice(**{**row, "taxes": orjson.loads(row["taxes"])}) for row in rows]


class ItemKey(NamedTuple):
    """What counts of an item; amounts in US dollars."""

    service: str
    resource_id: int
    start: datetime
    end: datetime
    quantity: int
    """Hours; 1 for a promotion."""
    unit_price: Decimal
    amount: Decimal
    tax: Decimal


async def items_of(db: Queries, invoice_id: int) -> list[ItemKey]:
    rows = await db.fetch(
        """
        select service, resource_id, "from", "to", quantity, unit_price, amount, tax
        from invoice_item where invoice_id = $1 order by id
        """,
        invoice_id,
    )
    return [ItemKey(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Imbalance:
    """An account whose balance is not the sum of what was posted."""

    account_id: int
    balance: Decimal
    owed: Decimal


@query("""
    select a.id as account_id, a.balance, coalesce(p.total, 0) as owed
    from account a
    left join (select account_id, sum(amount) as total from posting group by account_id) p
        on p.account_id = a.id
    where a.balance <> coalesce(p.total, 0) order by a.id
    """)
async def imbalances(db: Queries) -> list[Imbalance]: ...
