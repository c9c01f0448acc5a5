"""Managed PostgreSQL databases from the API down to a real server, and over a restart of Roost."""

import asyncio
import base64
import os
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.postgresql.databases import PostgresqlDatabases
from roost.resources.databases.engine import POSTGRESQL_PLANE
from roost.settings import Settings
from tests.api.test_database_servers import CATALOG, REGION, opened
from tests.engines.database_harness import postgresql_client
from tests.support.client import Client, Json
from tests.support.database import DatabaseServer
from tests.support.databases import POSTGRESQL, at_rest, made_backup, made_postgresql
from tests.support.resolving import answers, where
from tests.support.server import simulated

pytestmark = [
    pytest.mark.managed_postgresql,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root runs database servers"),
]


@pytest.fixture
async def settings(database_server: DatabaseServer, tmp_path: Path) -> AsyncIterator[Settings]:
    """One region has real PostgreSQL servers."""
    catalog = tmp_path / "catalog.toml"
    text, own = CATALOG.read_text(), f'id = "{REGION}"\n'
    bound = f'{own}engines = {{ postgresql = "postgresql" }}\n'
    catalog.write_text(text.replace(own, bound, 1))
    async with database_server.database() as url:
        state = tmp_path / "state"
        yield simulated(state, url, catalog=catalog, engines="auto", dns_engine="simulated")


async def ask(
    roost: Roost, client: Client, row: Json, source: str, *statements: str
) -> list[tuple[object, ...]]:
    """What the last statement answers by the name of the primary."""
    path = f"{POSTGRESQL}/{row['id']}"
    login = await client.get(f"{path}/credentials")
    certificate = base64.b64decode((await client.get(f"{path}/ssl"))["ca_certificate"])
    (address,) = await answers(where(roost), row["hosts"]["primary"], "A")
    connection = await postgresql_client(
        (address, row["port"]),
        source,
        server_hostname=row["hosts"]["primary"],
        ssl=ssl.create_default_context(cadata=certificate.decode()),
        user=login["username"],
        password=login["password"],
    )
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        return [tuple(each) for each in await connection.fetch(statements[-1])]
    finally:
        await connection.close()


async def test_from_the_api_to_the_server_and_back(settings: Settings) -> None:
    friend, other = "127.0.0.2", "127.0.0.3"
    async with opened(settings) as (roost, client, token):
        engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
        assert isinstance(engine, PostgresqlDatabases)
        try:
            for field, value in (("cluster_size", 3), ("encrypted", True)):
                body = {"label": "none", "region": REGION, "type": "g1-nano-1", field: value}
                answer = await client.send("POST", POSTGRESQL, {**body, "engine": "postgresql/15"})
                assert [problem[0] for problem in answer.problems] == [field]
            row = await made_postgresql(client, region=REGION, allow_list=[friend])
            assert (row["status"], row["version"]) == ("active", "15")
            made = "create table orders (id int primary key)"
            await ask(roost, client, row, friend, made, "insert into orders values (1)")
            backup = await made_backup(client, row["id"], databases=POSTGRESQL)
            with pytest.raises(ConnectionError):
                await ask(roost, client, row, other, "select 1")
            path = f"{POSTGRESQL}/{row['id']}"
            await client.put(path, {"allow_list": [f"{other}/32"]})
            await at_rest(client, row["id"], POSTGRESQL)
            await ask(roost, client, row, other, "insert into orders values (2)")
        except BaseException:
            await engine.shut_down()
            raise
    async with opened(settings, token) as (roost, client, _):
        engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
        try:
            select = "select id from orders order by id"
            assert await ask(roost, client, row, other, select) == [(1,), (2,)]
            await client.post(f"{path}/credentials/reset")
            await at_rest(client, row["id"], POSTGRESQL)
            await client.post(f"{path}/backups/{backup['id']}/restore")
            await at_rest(client, row["id"], POSTGRESQL)
            assert await ask(roost, client, row, other, select) == [(1,)]
            lines: list[str] = []
            await check_all(roost, False, lines.append)
            assert [line for line in lines if "database " in line] == []
            assert await client.delete(path) == {}
            async with asyncio.timeout(120):
                while await engine.inspect(row["id"]) is not None:
                    await asyncio.sleep(0.05)
        finally:
            await engine.shut_down()
