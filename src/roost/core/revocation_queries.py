"""SQL of revocation: which processes remember identities, and how far each knows of changes."""

from uuid import UUID

from roost.store import Queries
from roost.store.query import query

CHANNEL = "roost_token"
"""Tokens or users have changed."""


@query("insert into identity_reader (id, seen) values ($1, 0)")
async def register(db: Queries, reader: UUID) -> None:
    """Remember identities from now on; whoever changes one waits for this process."""


@query("delete from identity_reader where id = $1")
async def unregister(db: Queries, reader: UUID) -> None: ...


async def look(db: Queries, reader: UUID) -> tuple[int, bool]:
    """The number of the last change, and whether the process is registered."""
    row = await db.fetchrow(
        """
        select epoch, exists (select from identity_reader where id = $1) as registered
        from identity_epoch
        """,
        reader,
    )
    assert row is not None
    return row["epoch"], row["registered"]


@query("update identity_reader set seen = greatest(seen, $2) where id = $1 returning true")
async def acknowledge(db: Queries, reader: UUID, epoch: int) -> bool:
    """Note that the process remembers nothing from before the change; False when not registered."""


async def announce(db: Queries) -> int:
    """Tell all processes of a change that is committed; its number."""
    epoch: int = await db.fetchval(
        """
        with bumped as (update identity_epoch set epoch = epoch + 1 returning epoch)
        select epoch from bumped, pg_notify($1, '')
        """,
        CHANNEL,
    )
    return epoch


@query("select exists (select from identity_reader where seen < $1)")
async def is_awaited(db: Queries, epoch: int) -> bool:
    """Whether a process may still go by what was before the change."""


@query("delete from identity_reader where seen < $1")
async def drop_late(db: Queries, epoch: int) -> None:
    """Processes that have not heard of the change; one that lives registers again."""


@query("delete from token where made_by = $1")
async def delete_proxy_tokens(db: Queries, user_id: int) -> None:
    """The proxy users' tokens that a user of the parent made."""
