"""What operators have to know of managed databases."""

from roost.core.conditions import MOST, Condition, Watch
from roost.core.context import Context
from roost.resources.databases import backup_queries, queries


async def unrestorable(context: Context) -> list[Condition]:
    """Backups that are of no use, until they are deleted, or a later verification goes well."""
    return [
        Condition(
            "backup_unrestorable",
            f"database {row['database_id']}, backup {row['id']}",
            "critical",
            f"Backup {row['id']} of the managed database {row['database_id']} in the region"
            f" {row['region']} could not be restored when it was verified at"
            f" {row['verified']:%Y-%m-%d %H:%M} UTC. The log says why.",
        )
        for row in await backup_queries.unrestorable(context.db, MOST)
    ]


async def full(context: Context) -> list[Condition]:
    """Databases that nobody can write to, until there is room."""
    return [
        Condition(
            "database_full",
            f"database {row['id']}",
            "warning",
            f"The data of the managed database {row['id']} in the region {row['region']} take all"
            f" of its {row['disk'] // 1024} GB of disk. Its user may only read and remove until"
            " something is removed, or it has a larger plan.",
        )
        for row in await queries.full(context.db, MOST)
    ]


WATCHES = (
    Watch(("backup_unrestorable",), unrestorable),
    Watch(("database_full",), full),
)
