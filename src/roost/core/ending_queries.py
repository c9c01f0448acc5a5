"""SQL over what accounts have of a kind, for its select (`Ending.held`), a constant of a group."""

# ruff: noqa: S608  (statements are put together from constants)

from roost.store import Queries


async def due(db: Queries, held: str, account_id: int, limit: int) -> list[str]:
    """Ids of what waits for nothing."""
    rows = await db.fetch(
        f"""
        select h.id from ({held}) h where h.account_id = $1 and not h.waits order by h.id limit $2
        """,
        account_id,
        limit,
    )
    return [row["id"] for row in rows]


async def holds(db: Queries, held: str, account_id: int) -> bool:
    found: bool = await db.fetchval(
        f"select exists (select from ({held}) h where h.account_id = $1)", account_id
    )
    return found


async def of_suspended(db: Queries, held: str, suspended: bool) -> list[int]:
    """Accounts that are suspended, or that are neither suspended nor canceled, and have any."""
    rows = await db.fetch(
        f"""
        select distinct h.account_id from ({held}) h
        where h.account_id in (
            select id from account where (suspended is not null) = $1 and canceled is null)
        """,
        suspended,
    )
    return [row["account_id"] for row in rows]


async def of_canceled(db: Queries, held: str) -> list[tuple[int, int]]:
    """Canceled accounts, and how many each has."""
    rows = await db.fetch(
        f"""
        select h.account_id, count(*) as count from ({held}) h
        where h.account_id in (select id from account where canceled is not null)
        group by h.account_id order by h.account_id
        """
    )
    return [(row["account_id"], row["count"]) for row in rows]
