"""What the API offers: backups of managed databases (spec A databases)."""

from roost.resources.databases import backup_service, endpoints
from roost.resources.databases.backup_queries import BACKUPS
from roost.resources.databases.bodies import TakeDatabaseSnapshot
from roost.resources.databases.engine import KindName
from roost.resources.databases.records import DatabaseBackupRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Page, endpoint

_KIND: KindName = "mysql"
_SCOPES = ("databases:read_write",)
"""Reading needs them too (spec A auth 3 databases)."""
_ALL = "/databases/mysql/instances/{instanceId:int}/backups"
_ONE = f"{_ALL}/{{backupId:int}}"
_MAY_READ = Read("database", of="instanceId")
_MAY_WRITE = Write("database", of="instanceId")


@endpoint(
    "GET",
    _ALL,
    scopes=_SCOPES,
    grant=_MAY_READ,
    returns=Page(DatabaseBackupRow),
    filters=BACKUPS.columns,
)
async def list_database_backups(call: Call) -> bytes:
    """List the backups of a managed MySQL database.

    Those that are whole. Not while the database is `provisioning`.
    """
    database = await backup_service.check_backups(call, _KIND, call.number("instanceId"))
    return await call.collection(BACKUPS, database.id)


@endpoint("GET", _ONE, scopes=_SCOPES, grant=_MAY_READ, returns=DatabaseBackupRow)
async def view_database_backup(call: Call) -> bytes:
    """View a backup of a managed MySQL database.

    Not while the database is `provisioning`.
    """
    database = await backup_service.check_backups(call, _KIND, call.number("instanceId"))
    return await fetch_record(call.db, BACKUPS, (database.id,), call.number("backupId"))


@endpoint(
    "POST",
    _ALL,
    scopes=_SCOPES,
    grant=_MAY_WRITE,
    body=TakeDatabaseSnapshot,
    of=endpoints.view_mysql_database,
    events=("database_backup_create",),
)
async def take_database_snapshot(call: Call, body: TakeDatabaseSnapshot) -> None:
    """Take a snapshot of a managed MySQL database.

    It must be `active`; clients work on meanwhile. A database has at most 3 snapshots.
    """
    await backup_service.take_snapshot(call, _KIND, call.number("instanceId"), body)


@endpoint("DELETE", _ONE, scopes=_SCOPES, grant=_MAY_WRITE, events=("database_backup_delete",))
async def delete_database_backup(call: Call) -> None:
    """Delete a backup of a managed MySQL database.

    Not while the database is `provisioning`.
    """
    await backup_service.delete(call, _KIND, call.number("instanceId"), call.number("backupId"))


@endpoint(
    "POST",
    f"{_ONE}/restore",
    scopes=_SCOPES,
    grant=_MAY_WRITE,
    events=("database_backup_restore",),
)
async def restore_database_backup(call: Call) -> None:
    """Restore a backup of a managed MySQL database.

    Its data take the place of those at hand, which are lost. Credentials and settings stay. The
    database must be `active`, `degraded` or `failed`.
    """
    await backup_service.restore(call, _KIND, call.number("instanceId"), call.number("backupId"))
