"""SQL of backups."""

from roost.store import Queries


async def ids_of(db: Queries, compute_id: int) -> list[int]:
    """The backups of an instance."""
    rows = await db.fetch("select id from compute_backup where compute_id = $1", compute_id)
    return [row["id"] for row in rows]
