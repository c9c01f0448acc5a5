"""SQL of what is charged without being asked, and of what became of it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Debtor:
    """An account that is to be charged by itself."""

    id: int
    invoice_id: int
    """The last one."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How an account was charged by itself until now."""

    invoice_id: int
    """The last invoice for which it was."""
    count: int
    again: datetime | None
    """UTC"""


@dataclass(frozen=True, slots=True)
class Declined:
    """An account whose card was declined, of which it has not been told."""

    id: int
    owed: Decimal
    """US dollars."""
    tries: int
    again: datetime | None
    """When it is charged again (UTC)."""


async def debtors(db: Queries, now: datetime, after: int, limit: int) -> list[Debtor]:
    """Accounts, by id, that this cloud bills itself, with a card on file: those that owe an invoice
    that nobody has tried to charge, and those that it is time to charge again (UTC)."""
    rows = await db.fetch(
        """
        select a.id, i.id as invoice_id
        from account a
        cross join lateral (
            select max(reference) as id from posting where account_id = a.id and kind = 'invoice') i
        where a.id > $1 and a.parent_id is null and a.canceled is null
            and a.balance > 0 and (i.id > a.charged_for or a.charge_again <= $3)
            and exists (select from payment_method m
                where m.account_id = a.id and m.is_default and m.removed is null)
        order by a.id limit $2
        """,
        after,
        limit,
        now,
    )
    return [Debtor(**row) for row in rows]


@query("""
    select charged_for as invoice_id, charge_tries as count, charge_again as again
    from account where id = $1
    """)
async def tries_of(db: Queries, account_id: int) -> Tries: ...


async def set_tries(db: Queries, account_id: int, tries: Tries) -> None:
    await db.execute(
        """
        update account set charged_for = $2, charge_tries = $3::smallint, charge_again = $4,
            charge_told = least(charge_told, $3::smallint - 1)
        where id = $1
        """,
        account_id,
        tries.invoice_id,
        tries.count,
        tries.again,
    )


@query("""
    select a.id, a.balance as owed, a.charge_tries as tries, a.charge_again as again
    from account a
    where a.charge_tries > a.charge_told and a.canceled is null and a.balance > 0
        and 'declined' = (
            select p.status from payment p where p.account_id = a.id order by p.id desc limit 1)
    order by a.id limit $1
    """)
async def declined(db: Queries, limit: int) -> list[Declined]:
    """Those whose last payment was declined, after they were charged by themselves."""


@query("""
    update account set charge_told = $2
    where id = $1 and charge_tries = $2 and charge_told < $2 returning true
    """)
async def set_told(db: Queries, account_id: int, tries: int) -> bool:
    """False when somebody else has told the account of this try."""
