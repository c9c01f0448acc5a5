"""What the API offers: engines, plans, and databases of all engines (spec A databases)."""

from roost.resources.databases.queries import (
    DATABASES,
    ENGINES,
    EVERY_ENGINE,
    EVERY_TYPE,
    TYPES,
)
from roost.resources.databases.records import (
    AnyDatabaseRow,
    DatabaseEngineRow,
    DatabaseTypeRow,
)
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Listed
from roost.web.registry import Page, endpoint

_CACHE_SECONDS = 60
_READ = ("databases:read_only",)


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
