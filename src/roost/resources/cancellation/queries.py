"""SQL of accounts that are canceled."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class CancelFacts:
    """What cancelling an account depends on."""

    id: int
    euuid: str
    is_child: bool
    has_children: bool
    """That are not canceled themselves."""
    canceled: datetime | None
    """Up to when it is charged (UTC)."""
    canceled_by: str | None


_FACTS = """
    select id, euuid::text as euuid, parent_id is not null as is_child, canceled, canceled_by,
        exists (select from account c where c.parent_id = a.id and c.canceled is null)
            as has_children
    from account a where id = $1
    """


@query(_FACTS)
async def find(db: Queries, account_id: int) -> CancelFacts | None: ...


@query(f"{_FACTS} for update")
async def lock(db: Queries, account_id: int) -> CancelFacts:
    """The account, of which nobody writes anything until the end of the transaction."""


@query("update account set canceled = $2, canceled_by = $3, cancel_comments = $4 where id = $1")
async def cancel(
    db: Queries, account_id: int, until: datetime, username: str, comments: str
) -> None:
    """It is charged until then (UTC), and nobody acts for it any more."""


@query("update account set closed = $2 where id = $1")
async def set_closed(db: Queries, account_id: int, now: datetime) -> None:
    """All that it had has ended (UTC)."""


@query("select id from account where canceled is not null and closed is null order by id")
async def unclosed(db: Queries) -> list[int]:
    """Canceled accounts that may have something."""


@dataclass(frozen=True, slots=True)
class CanceledAccount:
    """What an operator wants to know."""

    id: int
    canceled: datetime
    canceled_by: str
    comments: str
    closed: datetime | None
    erased: datetime | None
    balance: Decimal


@query("""
    select id, canceled, canceled_by, cancel_comments as comments, closed, erased, balance
    from account where canceled is not null order by id
    """)
async def all_canceled(db: Queries) -> list[CanceledAccount]: ...


@query("""
    select id from account
    where canceled <= $1 and erased is null and closed is not null order by canceled limit $2
    """)
async def expired(db: Queries, before: datetime, limit: int) -> list[int]:
    """Accounts that were canceled before a time (UTC), of which nothing else is left to end."""


async def erase(db: Queries, account_id: int, now: datetime) -> None:
    """Delete its users with all that is theirs, its contact data and its logins (UTC).

    The books stay: invoices, payments, the ledger.
    """
    await db.execute("delete from login where account_id = $1", account_id)
    await db.execute("delete from api_user where account_id = $1", account_id)
    await db.execute(
        """
        update account set erased = $2, canceled_by = '', cancel_comments = '', company = '',
            address_1 = '', address_2 = '', city = '', email = '', first_name = '',
            last_name = '', phone = '', zip = '', card_last_four = null, card_expiry = null
        where id = $1
        """,
        account_id,
        now,
    )
