"""What the API offers: backups of managed databases (spec A databases)."""

from roost.resources.databases import backup_service, instance_endpoints
from roost.resources.databases.backup_queries import BACKUPS
from roost.resources.databases.bodies import TakeDatabaseSnapshot
from roost.resources.databases.instance_endpoints import MYSQL, POSTGRESQL, Kind
from roost.resources.databases.records import DatabaseBackupRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Endpoint, Page, endpoint

_SCOPES = ("databases:read_write",)
"""Reading needs them too (spec A auth 3 databases)."""
_MAY_READ = Read("database", of="instanceId")
_MAY_WRITE = Write("database", of="instanceId")


def _declare(kind: Kind, database: Endpoint) -> tuple[Endpoint, ...]:
    every = f"{kind.path}/{{instanceId:int}}/backups"
    one = f"{every}/{{backupId:int}}"

    @endpoint(
        "GET",
        every,
        scopes=_SCOPES,
        grant=_MAY_READ,
        returns=Page(DatabaseBackupRow),
        filters=BACKUPS.columns,
    )
    async def list_all(call: Call) -> bytes:
        """List the backups of a managed database.

        Those that are whole. Not while the database is `provisioning`.
        """
        database = await backup_service.check_backups(call, kind.name, call.number("instanceId"))
        return await call.collection(BACKUPS, database.id)

    @endpoint("GET", one, scopes=_SCOPES, grant=_MAY_READ, returns=DatabaseBackupRow)
    async def view(call: Call) -> bytes:
        """View a backup of a managed database.

        Not while the database is `provisioning`.
        """
        database = await backup_service.check_backups(call, kind.name, call.number("instanceId"))
        return await fetch_record(call.db, BACKUPS, (database.id,), call.number("backupId"))

    @endpoint(
        "POST",
        every,
        scopes=_SCOPES,
        grant=_MAY_WRITE,
        body=TakeDatabaseSnapshot,
        of=database,
        events=("database_backup_create",),
    )
    async def take(call: Call, body: TakeDatabaseSnapshot) -> None:
        """Take a snapshot of a managed database.

        It must be `active`; clients work on meanwhile. A database has at most 3 snapshots.
        """
        await backup_service.take_snapshot(call, kind.name, call.number("instanceId"), body)

    @endpoint("DELETE", one, scopes=_SCOPES, grant=_MAY_WRITE, events=("database_backup_delete",))
    async def delete(call: Call) -> None:
        """Delete a backup of a managed database.

        Not while the database is `provisioning`.
        """
        await backup_service.delete(
            call, kind.name, call.number("instanceId"), call.number("backupId")
        )

    @endpoint(
        "POST",
        f"{one}/restore",
        scopes=_SCOPES,
        grant=_MAY_WRITE,
        events=("database_backup_restore",),
    )
    async def restore(call: Call) -> None:
        """Restore a backup of a managed database.

        Its data take the place of those at hand, which are lost. Credentials and settings stay. The
        database must be `active`, `degraded` or `failed`.
        """
        await backup_service.restore(
            call, kind.name, call.number("instanceId"), call.number("backupId")
        )

    return (
        kind.called(list_all, f"list_{kind.noun}_backups"),
        kind.called(view, f"view_{kind.noun}_backup"),
        kind.called(take, f"take_{kind.noun}_snapshot"),
        kind.called(delete, f"delete_{kind.noun}_backup"),
        kind.called(restore, f"restore_{kind.noun}_backup"),
    )


(
    list_database_backups,
    view_database_backup,
    take_database_snapshot,
    delete_database_backup,
    restore_database_backup,
) = _declare(MYSQL, instance_endpoints.view_mysql_database)
(
    list_postgresql_backups,
    view_postgresql_backup,
    take_postgresql_snapshot,
    delete_postgresql_backup,
    restore_postgresql_backup,
) = _declare(POSTGRESQL, instance_endpoints.view_postgresql_database)
