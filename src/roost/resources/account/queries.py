"""SQL of accounts and their users."""

from datetime import datetime

from roost.store import Queries


async def create_account(db: Queries, euuid: str, now: datetime) -> int:
    account_id: int = await db.fetchval(
        "insert into account (euuid, created) values ($1, $2) returning id", euuid, now
    )
    return account_id


async def create_user(
    db: Queries, account_id: int, username: str, restricted: bool, now: datetime
) -> int:
    user_id: int = await db.fetchval(
        """
        insert into api_user (account_id, username, restricted, created)
        values ($1, $2, $3, $4) returning id
        """,
        account_id,
        username,
        restricted,
        now,
    )
    return user_id


async def find_user(db: Queries, username: str) -> int | None:
    user_id: int | None = await db.fetchval("select id from api_user where username = $1", username)
    return user_id


async def has_account(db: Queries) -> bool:
    return bool(await db.fetchval("select exists (select from account)"))


async def lock_first_start(db: Queries) -> None:
    """Held until the transaction ends, so that of many first starts one makes the account."""
    await db.execute("select pg_advisory_xact_lock(hashtext('roost first start'))")
