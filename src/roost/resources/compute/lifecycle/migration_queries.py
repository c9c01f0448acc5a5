"""SQL of instances that go to another region."""

from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@query("update compute_instance set target_region = $2 where id = $1")
async def set_target(db: Queries, compute_id: int, region: str | None) -> None:
    """Where the instance is to be, which counts there already; None: where it is."""


async def set_region(db: Queries, compute_id: int, region: str, now: datetime) -> None:
    """The instance is there, and its backups; engines of the same names hold them."""
    await db.execute(
        "update compute_instance set region = $2, updated = $3 where id = $1",
        compute_id,
        region,
        now.replace(microsecond=0),
    )
    await db.execute(
        "update compute_backup set region = $2 where compute_id = $1", compute_id, region
    )
