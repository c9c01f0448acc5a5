"""SQL that reads the ledger of an account."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from roost.core.billing.charges import LedgerRow, charges, month_start, next_month
from roost.core.billing.promotion_queries import before
from roost.core.billing.promotions import after, discounts
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Standing:
    """Up to when an account has been invoiced (UTC), and what it owes (US dollars)."""

    invoiced_until: datetime
    balance: Decimal


async def standing(db: Queries, account_id: int) -> Standing:
    row = await db.fetchrow(
        """
        select coalesce(invoiced_until, date_trunc('month', created)) as invoiced_until, balance
        from account where id = $1
        """,
        account_id,
    )
    assert row is not None
    return Standing(row["invoiced_until"], row["balance"])


@query("select from account where id = $1 for no key update")
async def lock(db: Queries, account_id: int) -> None:
    """Nobody else charges the account for what it used, until the end of the transaction."""


@query("""
    select id, service, resource_id, at, label, plan, region, quantity, hourly, monthly, tags
    from ledger where account_id = $1 and at >= $2 and at < $3
    union all
    select l.id, l.service, l.resource_id, l.at, l.label, l.plan, l.region, l.quantity,
        l.hourly, l.monthly, l.tags
    from ledger_opening o join ledger l on l.id = o.ledger_id
    where o.account_id = $1 and l.at < $2
    """)
async def since(db: Queries, account_id: int, start: datetime, end: datetime) -> list[LedgerRow]:
    """The rows of a time, and those that were open as it began (UTC).

    What was open at the end of the last invoice has been noted then, so that nobody reads a whole
    history; `start` must be that end.
    """


@query("""
    select id, service, resource_id, at, label, plan, region, quantity, hourly, monthly, tags
    from ledger where account_id = $1 and at < $2
    """)
async def all_until(db: Queries, account_id: int, end: datetime) -> list[LedgerRow]:
    """The whole history before a time (UTC), which `roost billing verify` computes from."""


async def post(
    db: Queries,
    account_id: int,
    kind: Literal["invoice", "payment", "credit"],
    reference: int | None,
    usd: Decimal,
    at: datetime,
) -> None:
    """The account owes so much more from now on (UTC); less, when `usd` is negative.

    The balance is the sum of all that is posted.
    """
    await db.execute(
        """
        with posted as (
            insert into posting (account_id, at, kind, reference, amount)
            values ($1, $2, $3, $4, $5) returning account_id, amount)
        update account a set balance = a.balance + p.amount from posted p where a.id = p.account_id
        """,
        account_id,
        at,
        kind,
        reference,
        usd,
    )


async def uninvoiced(db: Queries, account_id: int, now: datetime) -> Decimal:
    """What the account has used since its last invoice and no promotion pays, without tax, in US
    dollars."""
    start, total = (await standing(db, account_id)).invoiced_until, Decimal("0.00")
    rows = await since(db, account_id, start, now)
    promotions = await before(db, account_id, start) if rows else []
    while rows and start < now:
        end = min(next_month(month_start(start)), now)
        found = charges(rows, start, end)
        given = discounts(found, promotions)
        total += sum((charge.amount for charge in found), Decimal(0))
        total -= sum((discount.amount for discount in given), Decimal(0))
        start, promotions = end, after(promotions, given)
    return total
