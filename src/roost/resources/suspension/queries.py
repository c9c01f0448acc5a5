"""SQL of accounts that are suspended."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from roost.store import Queries
from roost.store.query import query

Cause = Literal["debt", "operator"]


@dataclass(frozen=True, slots=True)
class SuspensionFacts:
    """How an account stands."""

    id: int
    euuid: str
    cause: Cause | None
    """None: it is not suspended."""
    reason: str
    warned: datetime | None
    """When it was told that it is going to be (UTC)."""
    canceled: bool

    @property
    def suspended(self) -> bool:
        return self.cause is not None


_FACTS = """
    select id, euuid::text as euuid, suspended_for as cause, suspension_reason as reason,
        suspension_warned as warned, canceled is not null as canceled
    from account
    """


@query(f"{_FACTS} where id = $1")
async def find(db: Queries, account_id: int) -> SuspensionFacts | None: ...


@query(f"{_FACTS} where id = $1 for no key update")
async def lock(db: Queries, account_id: int) -> SuspensionFacts | None:
    """The account, to which nobody else writes until the end of the transaction."""


async def suspend(db: Queries, account_id: int, cause: Cause, reason: str, now: datetime) -> None:
    await db.execute(
        """
        update account set suspended = $2, suspended_for = $3, suspension_reason = $4 where id = $1
        """,
        account_id,
        now,
        cause,
        reason,
    )


@query("""
    update account set suspended = null, suspended_for = null, suspension_reason = '',
        suspension_warned = null
    where id = $1
    """)
async def resume(db: Queries, account_id: int) -> None: ...


@query("update account set suspension_warned = $2 where id = $1")
async def set_warned(db: Queries, account_id: int, now: datetime | None) -> None: ...


_LATE = """
    a.balance > (
        select coalesce(sum(greatest(i.total, 0)), 0)
        from posting p join invoice i on i.id = p.reference
        where p.account_id = a.id and p.kind = 'invoice' and i.date > $1)
    """
"""Whether an account owes for invoices of before $1 (UTC)."""


@query(f"""
    select a.id from account a
    where a.id > $2 and a.parent_id is null and a.canceled is null and a.suspended is null
        and a.balance > 0 and {_LATE} order by a.id limit $3
    """)
async def late(db: Queries, before: datetime, after: int, limit: int) -> list[int]:
    """Accounts, by id, that are billed themselves, not suspended, and owe for older invoices."""


async def is_late(db: Queries, account_id: int, before: datetime) -> bool:
    late: bool = await db.fetchval(
        f"select {_LATE} from account a where a.id = $2", before, account_id
    )
    return late


@query(f"""
    select a.id from account a
    where (a.suspended_for = 'debt' or a.suspension_warned is not null) and not ({_LATE})
    order by a.id
    """)
async def paid(db: Queries, before: datetime) -> list[int]:
    """Accounts that are suspended for a debt, or were warned of it, and have paid."""
