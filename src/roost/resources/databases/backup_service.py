"""Taking, restoring and removing backups of managed databases (spec A databases)."""

from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.databases import backup_queries, jobs, queries, rules
from roost.resources.databases.backup_queries import BackupFacts
from roost.resources.databases.bodies import TakeDatabaseSnapshot
from roost.resources.databases.engine import KindName
from roost.resources.databases.queries import DatabaseFacts, entity_of, resource_of
from roost.resources.databases.service import find, lock
from roost.resources.databases.steps import DatabaseBackupArgs, RestoreDatabaseArgs, SaveArgs
from roost.store import Queries


async def check_backups(context: Context, kind: KindName, database_id: int) -> DatabaseFacts:
    """404 unless the account has the database; 400 while it has no backups yet."""
    database = await find(context, kind, database_id)
    if database.status == "provisioning":
        raise invalid("Database is provisioning; it has no backups yet.")
    return database


async def take_snapshot(
    context: Context, kind: KindName, database_id: int, body: TakeDatabaseSnapshot
) -> None:
    database = await lock(context, kind, database_id, "active")
    if await backup_queries.count_snapshots(context.db, database.id) >= rules.MOST_SNAPSHOTS:
        raise invalid(f"Database cannot have more than {rules.MOST_SNAPSHOTS} snapshots.")
    now = context.clock.now()
    backup_id = await backup_queries.insert(context.db, database.id, body.label, "snapshot", now)
    if backup_id is None:
        raise invalid("Label must be unique among the backups of the database", "label")
    replica = body.target == "secondary"
    args = SaveArgs(database_id=database.id, backup_id=backup_id, replica=replica)
    await log.start(context, jobs.SAVE, args, entity_of(database))


async def restore(context: Context, kind: KindName, database_id: int, backup_id: int) -> None:
    database = await lock(context, kind, database_id, "active", "degraded", "failed")
    backup = await _lock_backup(context, database, backup_id)
    args = RestoreDatabaseArgs(database_id=database.id, backup_id=backup.id, former=database.status)
    await log.start(context, jobs.RESTORE, args, entity_of(database))


async def delete(context: Context, kind: KindName, database_id: int, backup_id: int) -> None:
    database = await check_backups(context, kind, database_id)
    backup = await _lock_backup(context, database, backup_id)
    args = DatabaseBackupArgs(database_id=database.id, backup_id=backup.id)
    await log.start(context, jobs.DISCARD, args, entity_of(database))


async def _lock_backup(context: Context, database: DatabaseFacts, backup_id: int) -> BackupFacts:
    backup = await backup_queries.lock_whole(context.db, database.id, backup_id)
    if backup is None:
        raise not_found()
    return backup


async def give_way(
    db: Queries, queue: JobQueue, database_id: int, reason: str
) -> DatabaseFacts | None:
    """A database that something has to be done with at once: backups that are being made are
    cancelled, and made another time. None when it is gone, or other work is done with it."""
    database = await queries.lock_any(db, database_id)
    if database is None or database.deleting or not database.made:
        return None
    waiting = await queue.unfinished(db, resource_of(database.id))
    if any(job.kind != jobs.SAVE.name for job in waiting):
        return None
    for job in waiting:
        await queue.cancel(db, job.id, reason)
    return database
