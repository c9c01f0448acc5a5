"""SQL of ties: which account is whose child, and what its users are."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class LinkedAccount:
    id: int
    parent_id: int | None
    is_parent: bool
    canceled: bool


async def lock_pair(db: Queries, *account_ids: int) -> dict[int, LinkedAccount]:
    """Accounts by id, which nobody else changes until the end of the transaction."""
    rows = await db.fetch(
        """
        select id, parent_id, canceled is not null as canceled,
            exists (select from account c where c.parent_id = a.id) as is_parent
        from account a where id = any($1) order by id for update
        """,
        list(account_ids),
    )
    return {row["id"]: LinkedAccount(**row) for row in rows}


async def tie(db: Queries, child_id: int, parent_id: int) -> None:
    """Write the tie, and what its users are from now on."""
    await db.execute("update account set parent_id = $2 where id = $1", child_id, parent_id)
    await db.execute(
        """
        update api_user set user_type = case account_id when $1 then 'child' else 'parent' end
        where account_id in ($1, $2)
        """,
        child_id,
        parent_id,
    )


@query("""
    insert into api_user (account_id, username, created, email, user_type)
    select $1, $3, $4, p.email, 'proxy' from account p where p.id = $2
    """)
async def create_proxy(
    db: Queries, child_id: int, parent_id: int, username: str, now: datetime
) -> None:
    """An unrestricted user of the child with the parent's email address."""
