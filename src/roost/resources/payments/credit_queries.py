"""SQL of the credits that operators give to accounts."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.core.billing.queries import post
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Credit:
    """What an account owes less; US dollars, UTC."""

    id: int
    account_id: int
    usd: Decimal
    """Less than 0: it owes more."""
    reason: str
    created: datetime


_CREDIT = "select id, account_id, usd, reason, created from account_credit"


async def give(
    db: Queries, account_id: int, usd: Decimal, reason: str, key: str | None, now: datetime
) -> int | None:
    """The id of a new credit, which the balance has from now on; None when the key was used."""
    credit_id: int | None = await db.fetchval(
        """
        insert into account_credit (account_id, usd, reason, key, created)
        values ($1, $2, $3, $4, $5) on conflict (key) do nothing returning id
        """,
        account_id,
        usd,
        reason,
        key,
        now,
    )
    if credit_id is not None:
        await post(db, account_id, "credit", credit_id, -usd, now)
    return credit_id


@query(f"{_CREDIT} where key = $1")
async def find_by_key(db: Queries, key: str) -> Credit: ...


@query(f"{_CREDIT} where account_id = $1 order by id desc")
async def of_account(db: Queries, account_id: int) -> list[Credit]:
    """The newest first."""
