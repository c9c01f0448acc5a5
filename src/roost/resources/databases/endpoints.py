"""What the API offers: engines, plans and managed databases (spec A databases)."""

from roost.resources.databases import credential_service, service
from roost.resources.databases.bodies import CreateDatabase, UpdateDatabase
from roost.resources.databases.engine import KindName
from roost.resources.databases.queries import (
    DATABASES,
    ENGINES,
    EVERY_ENGINE,
    EVERY_TYPE,
    LISTINGS,
    TYPES,
)
from roost.resources.databases.records import (
    AnyDatabaseRow,
    CredentialsRow,
    DatabaseEngineRow,
    DatabaseTypeRow,
    MysqlDatabaseRow,
    SslRow,
)
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Unrestricted, Write
from roost.web.registry import DryRun, Page, endpoint

_CACHE_SECONDS = 60
_KIND: KindName = "mysql"
_LISTING = LISTINGS[_KIND]
_READ = ("databases:read_only",)
_WRITE = ("databases:read_write",)
_ALL = "/databases/mysql/instances"
_ONE = f"{_ALL}/{{instanceId:int}}"
_MAY_READ = Read("database", of="instanceId")
_MAY_WRITE = Write("database", of="instanceId")


@endpoint(
    "GET",
    "/databases/engines",
    public=True,
    returns=Page(DatabaseEngineRow),
    filters=ENGINES.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_database_engines(call: Call) -> bytes:
    """List database engines.

    What databases can be made with; a region may offer some of them only.
    """
    return await call.collection(ENGINES)


@endpoint(
    "GET",
    "/databases/engines/{engineId:path}",
    public=True,
    returns=DatabaseEngineRow,
    cache_seconds=_CACHE_SECONDS,
)
async def view_database_engine(call: Call) -> bytes:
    """View a database engine.

    Its id is `<engine>/<version>`.
    """
    return await fetch_record(call.db, EVERY_ENGINE, (), call.text("engineId"))


@endpoint(
    "GET",
    "/databases/types",
    public=True,
    returns=Page(DatabaseTypeRow),
    filters=TYPES.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_database_types(call: Call) -> bytes:
    """List the plans of database nodes with their prices.

    Prices are those of all nodes of a cluster.
    """
    return await call.collection(TYPES)


@endpoint(
    "GET",
    "/databases/types/{typeId}",
    public=True,
    returns=DatabaseTypeRow,
    cache_seconds=_CACHE_SECONDS,
)
async def view_database_type(call: Call) -> bytes:
    """View a plan of database nodes.

    Memory, disk, processors and prices.
    """
    return await fetch_record(call.db, EVERY_TYPE, (), call.text("typeId"))


@endpoint(
    "GET",
    "/databases/instances",
    scopes=_READ,
    grant=Listed("database"),
    returns=Page(AnyDatabaseRow),
    filters=DATABASES.columns,
)
async def list_databases(call: Call) -> bytes:
    """List managed databases of all engines.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(DATABASES, call.account_id)


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Listed("database"),
    returns=Page(MysqlDatabaseRow),
    filters=_LISTING.columns,
)
async def list_mysql_databases(call: Call) -> bytes:
    """List managed MySQL databases.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(_LISTING, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Global("add_databases"),
    body=CreateDatabase,
    returns=MysqlDatabaseRow,
    events=("database_create",),
    dry_run=DryRun(),
)
async def create_mysql_database(call: Call, body: CreateDatabase) -> str:
    """Create a managed MySQL database.

    It is `active` once clients can use it; then `hosts`, `port`, credentials and the certificate
    are known.
    """
    return await service.create(call, body)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=MysqlDatabaseRow)
async def view_mysql_database(call: Call) -> bytes:
    """View a managed MySQL database.

    Its `status` says whether something is being done with it.
    """
    return await _record(call)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UpdateDatabase,
    of=view_mysql_database,
    returns=MysqlDatabaseRow,
    events=("database_update", "database_resize"),
    dry_run=DryRun(),
)
async def update_mysql_database(call: Call, body: UpdateDatabase) -> bytes:
    """Update a managed MySQL database.

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
async def delete_mysql_database(call: Call) -> None:
    """Delete a managed MySQL database.

    All data and backups are lost. It must be `active`, `failed` or `degraded`.
    """
    await service.delete(call, _KIND, call.number("instanceId"))


@endpoint("GET", f"{_ONE}/credentials", scopes=_READ, grant=_MAY_READ, returns=CredentialsRow)
async def view_database_credentials(call: Call) -> CredentialsRow:
    """View the credentials of a managed MySQL database.

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
async def reset_database_credentials(call: Call) -> None:
    """Reset the credentials of a managed MySQL database.

    The admin user gets a new random password. It must be `active`.
    """
    await service.reset_credentials(call, _KIND, call.number("instanceId"))


@endpoint("GET", f"{_ONE}/ssl", scopes=_READ, grant=_MAY_READ, returns=SslRow)
async def view_database_ssl(call: Call) -> SslRow:
    """View the CA certificate of a managed MySQL database.

    By which clients know its servers; while it is `active`.
    """
    return await credential_service.certificate(call, _KIND, call.number("instanceId"))


@endpoint("POST", f"{_ONE}/patch", scopes=_WRITE, grant=_MAY_WRITE, events=("database_update",))
async def patch_mysql_database(call: Call) -> None:
    """Apply updates of the software to a managed MySQL database now.

    It must be `active`; a single node is down for a moment. Otherwise this is done in the window
    of maintenance.
    """
    await service.patch(call, _KIND, call.number("instanceId"))


async def _record(call: Call) -> bytes:
    return await call.record(call.number("instanceId"), _LISTING, call.account_id)
