"""Samples of managed databases."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value, standing
from tests.support.client import Client
from tests.support.databases import (
    DATABASES,
    POSTGRESQL,
    made_backup,
    made_database,
    made_postgresql,
)


async def _database(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await made_database(client, label=f"d{new_uuid()[:8]}"))["id"])


async def _backup(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """Of the database of that path."""
    path, _, database_id = parent.rpartition("/")
    databases = POSTGRESQL if path.endswith(POSTGRESQL) else DATABASES
    return int((await made_backup(client, int(database_id), databases=databases))["id"])


async def _postgresql(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await made_postgresql(client, label=f"p{new_uuid()[:8]}"))["id"])


SAMPLES = Samples(
    {
        "view_database_engine": standing("mysql/8.0.30", "mysql/none"),
        "view_database_type": standing("g1-nano-1", "none"),
        "view_mysql_database": Sample(_database),
        "view_database_backup": Sample(_backup),
        "view_postgresql_database": Sample(_postgresql),
        "view_postgresql_backup": Sample(_backup),
    },
    rows={"list_databases": _database, "list_postgresql_databases": _postgresql},
)
