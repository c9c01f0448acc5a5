"""What the API offers: managed PostgreSQL databases (reference: PostgreSQL)."""

from roost.resources.databases import credential_service, service
from roost.resources.databases.bodies import CreatePostgresqlDatabase, UpdateDatabase
from roost.resources.databases.engine import KindName
from roost.resources.databases.queries import LISTINGS
from roost.resources.databases.records import (
    CredentialsRow,
    PostgresqlDatabaseRow,
    SslRow,
)
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Unrestricted, Write
from roost.web.registry import DryRun, Page, endpoint

_KIND: KindName = "postgresql"
_LISTING = LISTINGS[_KIND]
_READ = ("databases:read_only",)
_WRITE = ("databases:read_write",)
_ALL = "/databases/postgresql/instances"
_ONE = f"{_ALL}/{{instanceId:int}}"
_MAY_READ = Read("database", of="instanceId")
_MAY_WRITE = Write("database", of="instanceId")


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Listed("database"),
    returns=Page(PostgresqlDatabaseRow),
    filters=_LISTING.columns,
)
async def list_postgresql_databases(call: Call) -> bytes:
    """List managed PostgreSQL databases.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(_LISTING, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Global("add_databases"),
    body=CreatePostgresqlDatabase,
    returns=PostgresqlDatabaseRow,
    events=("database_create",),
    dry_run=DryRun(),
)
async def create_postgresql_database(call: Call, body: CreatePostgresqlDatabase) -> str:
    """Create a managed PostgreSQL database.

    It is `active` once clients can use it; then `hosts`, `port`, credentials and the certificate
    are known.
    """
    return await service.create(call, body)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=PostgresqlDatabaseRow)
async def view_postgresql_database(call: Call) -> bytes:
    """View a managed PostgreSQL database.

    Its `status` says whether something is being done with it.
    """
    return await _record(call)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UpdateDatabase,
    of=view_postgresql_database,
    returns=PostgresqlDatabaseRow,
    events=("database_update", "database_resize"),
    dry_run=DryRun(),
)
async def update_postgresql_database(call: Call, body: UpdateDatabase) -> bytes:
    """Update a managed PostgreSQL database.

    It must be `active`. An `allow_list` replaces the whole one and is in force once the database
    is `active` again, on open connections too. A `type` with more disk resizes the nodes, which
    are down for a moment.
    """
    await service.update(call, _KIND, call.number("instanceId"), body)
    return await _record(call)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("database_delete",),
    dry_run=DryRun(),
)
async def delete_postgresql_database(call: Call) -> None:
    """Delete a managed PostgreSQL database.

    All data and backups are lost. It must be `active`, `failed` or `degraded`.
    """
    await service.delete(call, _KIND, call.number("instanceId"))


@endpoint("GET", f"{_ONE}/credentials", scopes=_READ, grant=_MAY_READ, returns=CredentialsRow)
async def view_postgresql_credentials(call: Call) -> CredentialsRow:
    """View the credentials of a managed PostgreSQL database.

    Its admin user, while it is `active`.
    """
    return await credential_service.credentials(call, _KIND, call.number("instanceId"))


@endpoint(
    "POST",
    f"{_ONE}/credentials/reset",
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("database_credentials_reset",),
)
async def reset_postgresql_credentials(call: Call) -> None:
    """Reset the credentials of a managed PostgreSQL database.

    The admin user gets a new random password. It must be `active`.
    """
    await service.reset_credentials(call, _KIND, call.number("instanceId"))


@endpoint("GET", f"{_ONE}/ssl", scopes=_READ, grant=_MAY_READ, returns=SslRow)
async def view_postgresql_ssl(call: Call) -> SslRow:
    """View the CA certificate of a managed PostgreSQL database.

    By which clients know its servers; while it is `active`.
    """
    return await credential_service.certificate(call, _KIND, call.number("instanceId"))


@endpoint("POST", f"{_ONE}/patch", scopes=_WRITE, grant=_MAY_WRITE, events=("database_update",))
async def patch_postgresql_database(call: Call) -> None:
    """Apply updates of the software to a managed PostgreSQL database now.

    It must be `active`; a single node is down for a moment. Otherwise this is done in the window
    of maintenance.
    """
    await service.patch(call, _KIND, call.number("instanceId"))


async def _record(call: Call) -> bytes:
    return await call.record(call.number("instanceId"), _LISTING, call.account_id)
