"""Managed databases from the API down to a real server, and over a restart of Roost."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pymysql
import pytest

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.resources.databases.engine import DATABASE_PLANE
from roost.settings import Settings
from tests.engines.database_harness import connect_to, kill
from tests.support.client import Client, Contract, Json, until
from tests.support.database import DatabaseServer
from tests.support.databases import DATABASES, at_rest, database_body, made_backup, made_database
from tests.support.resolving import answers, where
from tests.support.server import running_roost, simulated

CATALOG = Path(__file__).parents[2] / "src/roost/core/catalog/default.toml"
REGION = "us-lake"

pytestmark = [
    pytest.mark.mariadb,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root runs database servers"),
]


@asynccontextmanager
async def opened(settings: Settings, token: str = "") -> AsyncIterator[tuple[Roost, Client, str]]:
    async with running_roost(settings) as running, aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        token = token or running.token
        yield running.roost, Client(session, contract, running.url).as_user(token), token


async def ask(
    roost: Roost, client: Client, row: Json, folder: Path, source: str, *statements: str
) -> tuple[tuple[object, ...], ...]:
    """What the last statement answers by the name of the primary. Raises pymysql.Error."""
    path = f"{DATABASES}/{row['id']}"
    login = await client.get(f"{path}/credentials")
    authority = folder / "ca.pem"
    certificate = (await client.get(f"{path}/ssl"))["ca_certificate"]
    authority.write_bytes(base64.b64decode(certificate))

    (address,) = await answers(where(roost), row["hosts"]["primary"], "A")
    connection = pymysql.connect(
        host=row["hosts"]["primary"],
        user=login["username"],
        password=login["password"],
        ssl_ca=str(authority),
        ssl_verify_identity=True,
        autocommit=True,
        defer_connect=True,
    )

    def work() -> tuple[tuple[object, ...], ...]:
        connect_to(connection, address, row["port"], source)
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return tuple(cursor.fetchall())

    return await asyncio.to_thread(work)


@pytest.fixture
async def settings(database_server: DatabaseServer, tmp_path: Path) -> AsyncIterator[Settings]:
    """One region has real database servers."""
    catalog = tmp_path / "catalog.toml"
    text = CATALOG.read_text()
    own = f'id = "{REGION}"\n'
    catalog.write_text(text.replace(own, f'{own}engines = {{ databases = "mariadb" }}\n', 1))
    async with database_server.database() as url:
        state = tmp_path / "state"
        yield simulated(state, url, catalog=catalog, engines="auto", dns_engine="simulated")


async def test_from_the_api_to_the_server_and_back(settings: Settings, tmp_path: Path) -> None:
    simulated_only = database_body(region=REGION)
    async with opened(settings) as (roost, client, token):
        engine = roost.services.get(Engines).of(DATABASE_PLANE, REGION)
        assert isinstance(engine, MariadbDatabases)
        try:
            answer = await client.send("POST", DATABASES, simulated_only)
            assert [field for field, _ in answer.problems] == ["engine"]
            row = await made_database(
                client, engine="mysql/10.11", region=REGION, allow_list=["127.0.0.2"]
            )
            assert (row["status"], row["version"]) == ("active", "10.11")
            statements = (
                "create database shop",
                "create table shop.orders (id int primary key)",
                "insert into shop.orders values (1)",
            )
            await ask(roost, client, row, tmp_path, "127.0.0.2", *statements)
            backup = await made_backup(client, row["id"])
            with pytest.raises(pymysql.Error):
                await ask(roost, client, row, tmp_path, "127.0.0.3", "select 1")
            path = f"{DATABASES}/{row['id']}"
            await client.put(path, {"allow_list": ["127.0.0.3/32"]})
            await at_rest(client, row["id"])
            await ask(
                roost, client, row, tmp_path, "127.0.0.3", "insert into shop.orders values (2)"
            )
        except BaseException:
            await engine.shut_down()
            raise
    async with opened(settings, token) as (roost, client, _):
        engine = roost.services.get(Engines).of(DATABASE_PLANE, REGION)
        try:
            select = "select id from shop.orders"
            assert await ask(roost, client, row, tmp_path, "127.0.0.3", select) == ((1,), (2,))
            await client.post(f"{path}/credentials/reset")
            await at_rest(client, row["id"])
            await client.post(f"{path}/backups/{backup['id']}/restore")
            await at_rest(client, row["id"])
            assert await ask(roost, client, row, tmp_path, "127.0.0.3", select) == ((1,),)
            lines: list[str] = []
            await check_all(roost, False, lines.append)
            assert [line for line in lines if "database " in line] == []
            assert await client.delete(path) == {}
            async with asyncio.timeout(120):
                while await engine.inspect(row["id"]) is not None:
                    await asyncio.sleep(0.05)
        finally:
            await engine.shut_down()


@pytest.mark.story
async def test_a_cluster_fails_over_by_itself(settings: Settings, tmp_path: Path) -> None:
    """The port stays; the account is told, and that all is well again."""
    try:
        async with opened(settings) as (roost, client, _):
            engine = roost.services.get(Engines).of(DATABASE_PLANE, REGION)
            assert isinstance(engine, MariadbDatabases)
            row = await made_database(
                client,
                engine="mysql/10.11",
                region=REGION,
                cluster_size=3,
                replication_type="semi_synch",
                allow_list=["127.0.0.2"],
            )
            names = row["hosts"]
            for host, address in (("primary", "127.0.0.1"), ("secondary", "127.0.0.2")):
                assert await answers(where(roost), names[host], "A") == [address]
            statements = (
                "create database shop",
                "create table shop.orders (id int primary key)",
                "insert into shop.orders values (1)",
            )
            await ask(roost, client, row, tmp_path, "127.0.0.2", *statements)
            folder = Folder.of(settings.state / "mariadb" / REGION, row["id"])
            former = Cluster(engine._host, folder).primary
            await kill(former)
            await until(lambda: told(client, row), lambda found: "database_degraded" in found)
            await at_rest(client, row["id"])
            assert Cluster(engine._host, folder).primary != former
            select = "select id from shop.orders"
            assert await ask(roost, client, row, tmp_path, "127.0.0.2", select) == ((1,),)
            state = await engine.inspect(row["id"])
            assert state is not None
            assert state.running
            lines: list[str] = []
            await check_all(roost, False, lines.append)
            assert [line for line in lines if "database " in line] == []
    finally:
        # No watch starts again what ends here.
        await engine.shut_down()


async def told(client: Client, row: Json) -> list[str]:
    wanted = {"entity.id": row["id"], "entity.type": "database"}
    page = await client.get("/account/events", filter=wanted)
    return [event["action"] for event in page["data"] if event["status"] == "finished"]
