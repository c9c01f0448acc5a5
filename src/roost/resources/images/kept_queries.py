"""SQL of images that are kept of deleted instances, until they expire."""

from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@query("""
    select count(*) from image
    where account_id = $1 and type = 'automatic' and not deleting
    """)
async def count(db: Queries, account_id: int) -> int: ...


async def capabilities(db: Queries, image_id: str | None) -> list[str]:
    """Of the image that a disk began as; none when that is gone."""
    found: list[str] | None = await db.fetchval(
        "select capabilities from image where id = $1", image_id
    )
    return found or []


@query("""
    select number from image
    where expiry <= $1 and number is not null and status = 'available' and not deleting
    order by expiry limit $2
    """)
async def due(db: Queries, now: datetime, limit: int) -> list[int]:
    """Numbers of those that have expired."""


@query("select exists (select from image where number = $1 and expiry <= $2)")
async def is_due(db: Queries, number: int, now: datetime) -> bool: ...
