"""What the API offers: managed databases of each engine, which differ in what they are made with
(spec A databases; reference: PostgreSQL)."""

from dataclasses import dataclass, replace

from roost.resources.databases import credential_service, service
from roost.resources.databases.bodies import (
    CreateDatabase,
    CreatePostgresqlDatabase,
    UpdateDatabase,
)
from roost.resources.databases.engine import KindName
from roost.resources.databases.queries import LISTINGS
from roost.resources.databases.records import (
    CredentialsRow,
    DatabaseRow,
    MysqlDatabaseRow,
    PostgresqlDatabaseRow,
    SslRow,
)
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Unrestricted, Write
from roost.web.registry import DryRun, Endpoint, Page, endpoint

_READ = ("databases:read_only",)
_WRITE = ("databases:read_write",)
_MAY_READ = Read("database", of="instanceId")
_MAY_WRITE = Write("database", of="instanceId")


@dataclass(frozen=True, slots=True)
class Kind:
    """Databases of one engine."""

    name: KindName
    title: str
    """For people."""
    noun: str
    """What the names of operations on parts of one call it."""
    body: type[CreateDatabase]
    row: type[DatabaseRow]

    @property
    def path(self) -> str:
        """That of the list of all."""
        return f"/databases/{self.name}/instances"

    def called(self, declared: Endpoint, name: str) -> Endpoint:
        """The operation by the name that it has for these databases."""
        summary = declared.summary.replace("managed database", f"managed {self.title} database")
        return replace(declared, name=name, summary=summary)


MYSQL = Kind("mysql", "MySQL", "database", CreateDatabase, MysqlDatabaseRow)
POSTGRESQL = Kind(
    "postgresql", "PostgreSQL", "postgresql", CreatePostgresqlDatabase, PostgresqlDatabaseRow
)


def _declare(kind: Kind) -> tuple[Endpoint, ...]:
    one, listing = f"{kind.path}/{{instanceId:int}}", LISTINGS[kind.name]

    async def record(call: Call) -> bytes:
        return await call.record(call.number("instanceId"), listing, call.account_id)

    @endpoint(
        "GET",
        kind.path,
        scopes=_READ,
        grant=Listed("database"),
        returns=Page(kind.row),
        filters=listing.columns,
    )
    async def list_all(call: Call) -> bytes:
        """List managed databases.

        Those of the account; restricted users see those that are granted to them.
        """
        return await call.collection(listing, call.account_id)

    @endpoint(
        "POST",
        kind.path,
        scopes=_WRITE,
        grant=Global("add_databases"),
        body=kind.body,
        returns=kind.row,
        events=("database_create",),
        dry_run=DryRun(),
    )
    async def create(call: Call, body: CreateDatabase) -> str:
        """Create a managed database.

        It is `active` once clients can use it; then `hosts`, `port`, credentials and the
        certificate are known.
        """
        return await service.create(call, body)

    @endpoint("GET", one, scopes=_READ, grant=_MAY_READ, returns=kind.row)
    async def view(call: Call) -> bytes:
        """View a managed database.

        Its `status` says whether something is being done with it.
        """
        return await record(call)

    @endpoint(
        "PUT",
        one,
        scopes=_WRITE,
        grant=_MAY_WRITE,
        body=UpdateDatabase,
        of=view,
        returns=kind.row,
        events=("database_update", "database_resize"),
        dry_run=DryRun(),
    )
    async def update(call: Call, body: UpdateDatabase) -> bytes:
        """Update a managed database.

        It must be `active`. An `allow_list` replaces the whole one and is in force once the
        database is `active` again, on open connections too. A `type` with more disk resizes the
        nodes, which are down for a moment.
        """
        await service.update(call, kind.name, call.number("instanceId"), body)
        return await record(call)

    @endpoint(
        "DELETE",
        one,
        scopes=_WRITE,
        grant=Unrestricted(),
        events=("database_delete",),
        dry_run=DryRun(),
    )
    async def delete(call: Call) -> None:
        """Delete a managed database.

        All data and backups are lost. It must be `active`, `failed` or `degraded`.
        """
        await service.delete(call, kind.name, call.number("instanceId"))

    return (
        kind.called(list_all, f"list_{kind.name}_databases"),
        kind.called(create, f"create_{kind.name}_database"),
        kind.called(view, f"view_{kind.name}_database"),
        kind.called(update, f"update_{kind.name}_database"),
        kind.called(delete, f"delete_{kind.name}_database"),
    )


def _declare_parts(kind: Kind) -> tuple[Endpoint, ...]:
    one = f"{kind.path}/{{instanceId:int}}"

    @endpoint("GET", f"{one}/credentials", scopes=_READ, grant=_MAY_READ, returns=CredentialsRow)
    async def view_credentials(call: Call) -> CredentialsRow:
        """View the credentials of a managed database.

        Its admin user, while it is `active`.
        """
        return await credential_service.credentials(call, kind.name, call.number("instanceId"))

    @endpoint(
        "POST",
        f"{one}/credentials/reset",
        scopes=_WRITE,
        grant=Unrestricted(),
        events=("database_credentials_reset",),
    )
    async def reset_credentials(call: Call) -> None:
        """Reset the credentials of a managed database.

        The admin user gets a new random password. It must be `active`.
        """
        await service.reset_credentials(call, kind.name, call.number("instanceId"))

    @endpoint("GET", f"{one}/ssl", scopes=_READ, grant=_MAY_READ, returns=SslRow)
    async def view_ssl(call: Call) -> SslRow:
        """View the CA certificate of a managed database.

        By which clients know its servers; while it is `active`.
        """
        return await credential_service.certificate(call, kind.name, call.number("instanceId"))

    @endpoint("POST", f"{one}/patch", scopes=_WRITE, grant=_MAY_WRITE, events=("database_update",))
    async def patch(call: Call) -> None:
        """Apply updates of the software to a managed database now.

        It must be `active`; a single node is down for a moment. Otherwise this is done in the
        window of maintenance.
        """
        await service.patch(call, kind.name, call.number("instanceId"))

    return (
        kind.called(view_credentials, f"view_{kind.noun}_credentials"),
        kind.called(reset_credentials, f"reset_{kind.noun}_credentials"),
        kind.called(view_ssl, f"view_{kind.noun}_ssl"),
        kind.called(patch, f"patch_{kind.name}_database"),
    )


(
    list_mysql_databases,
    create_mysql_database,
    view_mysql_database,
    update_mysql_database,
    delete_mysql_database,
) = _declare(MYSQL)
(
    view_database_credentials,
    reset_database_credentials,
    view_database_ssl,
    patch_mysql_database,
) = _declare_parts(MYSQL)
(
    list_postgresql_databases,
    create_postgresql_database,
    view_postgresql_database,
    update_postgresql_database,
    delete_postgresql_database,
) = _declare(POSTGRESQL)
(
    view_postgresql_credentials,
    reset_postgresql_credentials,
    view_postgresql_ssl,
    patch_postgresql_database,
) = _declare_parts(POSTGRESQL)
