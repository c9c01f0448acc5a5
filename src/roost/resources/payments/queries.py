"""SQL of payment methods and payments."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from roost.core.lists import listing_of
from roost.resources.payments.records import MethodRow, PaymentRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, inserted

METHODS = listing_of(
    MethodRow,
    source="payment_method m",
    scope="m.account_id = $1 and m.removed is null",
    key="m.id",
    sql={
        "type": "'credit_card'",
        "data": """
            (select row_to_json(data) from (
                select m.card_type, m.last_four, to_char(m.expiry, 'MM/YYYY') as expiry) data)
            """,
    },
)

PAYMENTS = listing_of(
    PaymentRow,
    source="payment p",
    scope="p.account_id = $1 and p.status <> 'declined'",
    key="p.id",
)
"""What is on its way is shown too; what was declined never happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMethod:
    """A row to insert."""

    account_id: int
    is_default: bool
    now: datetime
    card_type: str
    last_four: str
    expiry: datetime
    """The first of the last month in which it can be used."""
    token: bytes
    """The gateway's, sealed."""


@dataclass(frozen=True, slots=True)
class MethodFacts:
    id: int
    is_default: bool
    last_four: str
    expiry: datetime


@dataclass(frozen=True, slots=True)
class Counts:
    active: int
    added: int
    """Since yesterday, also what was removed again."""


_NEW = inserted(NewMethod, created=":now")
_INSERT_METHOD = Statement(f"insert into payment_method {_NEW} returning id")


async def insert_method(db: Queries, new: NewMethod) -> int:
    method_id: int = await db.fetchval(*_INSERT_METHOD.of(new))
    return method_id


async def count_methods(db: Queries, account_id: int, now: datetime) -> Counts:
    row = await db.fetchrow(
        """
        select count(*) filter (where removed is null) as active,
            count(*) filter (where created > $2) as added
        from payment_method where account_id = $1
        """,
        account_id,
        now - timedelta(days=1),
    )
    assert row is not None
    return Counts(**row)


@query("""
    select id, is_default, last_four, expiry from payment_method
    where account_id = $1 and removed is null
        and case when $2::bigint is null then is_default else id = $2 end
    """)
async def find_method(db: Queries, account_id: int, method_id: int | None) -> MethodFacts | None:
    """One that the account has, by default the default one."""


@query("""
    select id, last_four from payment_method
    where account_id = $1 and removed is null and id = any($2::bigint[])
    """)
async def last_fours(db: Queries, account_id: int, ids: Collection[int]) -> dict[int, str]:
    """The last digits of those that the account has."""


async def make_default(db: Queries, account_id: int, method_id: int) -> None:
    """Instead of the one before."""
    await clear_default(db, account_id)
    await db.execute("update payment_method set is_default = true where id = $1", method_id)


@query("update payment_method set is_default = false where account_id = $1 and is_default")
async def clear_default(db: Queries, account_id: int) -> None: ...


async def remove_methods(db: Queries, account_id: int, now: datetime) -> list[int]:
    """All of an account: payments name them, but nobody can charge them any more (UTC). Those of
    which the gateway's token is still known."""
    rows = await db.fetch(
        """
        with removed as (
            update payment_method set removed = coalesce(removed, $2), is_default = false
            where account_id = $1 returning id, token)
        select id from removed where token <> '' order by id
        """,
        account_id,
        now,
    )
    return [row["id"] for row in rows]


@query("update payment_method set removed = $2 where id = $1")
async def remove_method(db: Queries, method_id: int, now: datetime) -> None:
    """It is still known that it was added, and what it is to the gateway (UTC)."""


async def token_of(db: Queries, method_id: int) -> bytes:
    """The gateway's, sealed; empty when it is forgotten."""
    token: bytes | None = await db.fetchval(
        "select token from payment_method where id = $1", method_id
    )
    return token or b""


@query("update payment_method set token = '' where id = $1")
async def forget_token(db: Queries, method_id: int) -> None: ...


Status = Literal["pending", "accepted", "declined"]


@dataclass(frozen=True, slots=True)
class PaymentFacts:
    id: int
    account_id: int
    usd: Decimal
    status: Status
    token: bytes | None
    """The sealed token of what pays; None: the operator recorded it."""


async def insert_payment(
    db: Queries,
    account_id: int,
    usd: Decimal,
    now: datetime,
    method_id: int | None = None,
) -> int:
    """It is `pending`."""
    payment_id: int = await db.fetchval(
        """
        insert into payment (account_id, date, usd, method_id, status)
        values ($1, $2, $3, $4, 'pending') returning id
        """,
        account_id,
        now,
        usd,
        method_id,
    )
    return payment_id


@query("""
    select p.id, p.account_id, p.usd, p.status, m.token
    from payment p left join payment_method m on m.id = p.method_id where p.id = $1
    """)
async def find_payment(db: Queries, payment_id: int) -> PaymentFacts | None: ...


@query("update payment set status = $2 where id = $1 and status = 'pending' returning true")
async def end_payment(
    db: Queries, payment_id: int, status: Literal["accepted", "declined"]
) -> bool:
    """False when it has ended already."""


@query("""
    select p.id, p.account_id, p.usd, p.status, m.token
    from payment p left join payment_method m on m.id = p.method_id
    where p.status = 'pending' order by p.id
    """)
async def all_pending(db: Queries) -> list[PaymentFacts]:
    """Those of all accounts."""


@query("select coalesce(sum(usd), 0) from payment where account_id = $1 and status = 'pending'")
async def pending(db: Queries, account_id: int) -> Decimal:
    """US dollars that are on their way."""


@query("""
    select p.id from payment p
    left join posting b on b.kind = 'payment' and b.reference = p.id
    where (p.status = 'accepted') <> (b.id is not null) or b.amount <> - p.usd order by p.id
    """)
async def unbooked(db: Queries) -> list[int]:
    """Payments whose state is not what the account's balance says."""


@query("""
    select a.balance > greatest(0, (
        select coalesce(sum(i.total), 0) from posting p join invoice i on i.id = p.reference
        where p.account_id = a.id and p.kind = 'invoice' and i.date > $2))
    from account a where a.id = $1
    """)
async def owes_since(db: Queries, account_id: int, before: datetime) -> bool:
    """Whether an account owes something beside the invoices since `before` (UTC)."""


async def overdue(db: Queries, before: datetime, limit: int) -> list[tuple[int, Decimal]]:
    """Accounts with what they owe beside the invoices since `before`, in US dollars."""
    rows = await db.fetch(
        """
        select a.id, a.balance - n.total as owed
        from account a cross join lateral (
            select coalesce(sum(i.total), 0) as total
            from posting p join invoice i on i.id = p.reference
            where p.account_id = a.id and p.kind = 'invoice' and i.date > $1
        ) as n
        where a.balance > 0 and a.balance > n.total order by a.id limit $2
        """,
        before,
        limit,
    )
    return [(row["id"], row["owed"]) for row in rows]


@query("update account set card_last_four = $2, card_expiry = $3 where id = $1")
async def set_card(db: Queries, account_id: int, last_four: str, expiry: str) -> None:
    """Show another card on file; `expiry` is MM/YYYY."""
