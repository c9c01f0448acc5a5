"""Managed PostgreSQL databases from the API down to a real server, and over a restart of Roost."""

import asyncio
import base64
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import pytest
import structlog

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.postgresql import releases
from roost.engines.postgresql.cluster import Cluster
from roost.engines.postgresql.databases import PostgresqlDatabases
from roost.engines.postgresql.folder import Folder
from roost.resources.databases.engine import POSTGRESQL_PLANE
from roost.settings import Settings
from tests.api.test_database_servers import CATALOG, REGION, opened, told
from tests.engines.database_harness import kill, postgresql_client
from tests.engines.postgresql_writers import TABLE, Writers
from tests.support.client import Client, Json, until
from tests.support.database import DatabaseServer
from tests.support.databases import POSTGRESQL, at_rest, made_backup, made_postgresql, tick
from tests.support.postgresql_operations import Noting, documented
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


Connect = Callable[[], Awaitable["asyncpg.Connection[asyncpg.Record]"]]


async def connecting(roost: Roost, client: Client, row: Json, source: str) -> Connect:
    """How clients connect by the name of the primary, one after the other, as they patch the
    loop."""
    path = f"{POSTGRESQL}/{row['id']}"
    login = await client.get(f"{path}/credentials")
    certificate = base64.b64decode((await client.get(f"{path}/ssl"))["ca_certificate"])
    (address,) = await answers(where(roost), row["hosts"]["primary"], "A")
    turn = asyncio.Lock()

    async def connect() -> "asyncpg.Connection[asyncpg.Record]":
        async with turn:
            return await postgresql_client(
                (address, row["port"]),
                source,
                server_hostname=row["hosts"]["primary"],
                ssl=ssl.create_default_context(cadata=certificate.decode()),
                user=login["username"],
                password=login["password"],
            )

    return connect


async def ask(
    roost: Roost, client: Client, row: Json, source: str, *statements: str
) -> list[tuple[object, ...]]:
    """What the last statement answers."""
    connect = await connecting(roost, client, row, source)
    connection = await connect()
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        return [tuple(each) for each in await connection.fetch(statements[-1])]
    finally:
        await connection.close()


async def test_from_the_api_to_the_server_and_back(settings: Settings) -> None:
    """By every operation that there is."""
    friend, other = "127.0.0.2", "127.0.0.3"
    async with opened(settings) as (roost, plain, token):
        client = Noting(plain)
        engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
        assert isinstance(engine, PostgresqlDatabases)
        try:
            body = {"label": "none", "region": REGION, "type": "g1-nano-1", "encrypted": True}
            answer = await client.send("POST", POSTGRESQL, {**body, "engine": "postgresql/15"})
            assert [problem[0] for problem in answer.problems] == ["encrypted"]
            row = await made_postgresql(client, region=REGION, allow_list=[friend])
            assert (row["status"], row["version"]) == ("active", "15")
            assert [each["id"] for each in (await client.get(POSTGRESQL))["data"]] == [row["id"]]
            made = "create table orders (id int primary key)"
            await ask(roost, client, row, friend, made, "insert into orders values (1)")
            backup = await made_backup(client, row["id"], databases=POSTGRESQL)
            with pytest.raises(ConnectionError):
                await ask(roost, client, row, other, "select 1")
            path = f"{POSTGRESQL}/{row['id']}"
            await client.put(path, {"allow_list": [f"{other}/32"]})
            await at_rest(client, row["id"], POSTGRESQL)
            await ask(roost, client, row, other, "insert into orders values (2)")
            done = client.done
        except BaseException:
            await engine.shut_down()
            raise
    async with opened(settings, token) as (roost, plain, _):
        client = Noting(plain)
        engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
        try:
            select = "select id from orders order by id"
            assert await ask(roost, client, row, other, select) == [(1,), (2,)]
            for change in ("credentials/reset", "patch"):
                await client.post(f"{path}/{change}")
                await at_rest(client, row["id"], POSTGRESQL)
            kept = f"{path}/backups/{backup['id']}"
            assert (await client.get(kept))["id"] == backup["id"]
            await client.post(f"{kept}/restore")
            await at_rest(client, row["id"], POSTGRESQL)
            assert await ask(roost, client, row, other, select) == [(1,)]
            lines: list[str] = []
            await check_all(roost, False, lines.append)
            assert [line for line in lines if "database " in line] == []
            await client.delete(kept)
            await at_rest(client, row["id"], POSTGRESQL)
            assert await client.delete(path) == {}
            async with asyncio.timeout(120):
                while await engine.inspect(row["id"]) is not None:
                    await asyncio.sleep(0.05)
            assert documented(plain) == done | client.done
        finally:
            await engine.shut_down()


async def test_a_cluster_fails_over_by_itself(settings: Settings) -> None:
    """The port stays; the account is told, and that all is well again."""
    friend, engine = "127.0.0.2", None
    try:
        async with opened(settings) as (roost, client, _):
            engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
            assert isinstance(engine, PostgresqlDatabases)
            row = await made_postgresql(
                client,
                region=REGION,
                cluster_size=3,
                replication_commit_type="on",
                allow_list=[friend],
            )
            for host, address in (("primary", "127.0.0.1"), ("secondary", "127.0.0.2")):
                assert await answers(where(roost), row["hosts"][host], "A") == [address]
            made = "create table orders (id int primary key)"
            await ask(roost, client, row, friend, made, "insert into orders values (1)")
            folder = Folder.of(settings.state / "postgresql" / REGION, row["id"])
            former = Cluster(engine._host, folder).primary
            await kill(former)
            await until(lambda: told(client, row), lambda found: "database_degraded" in found)
            await at_rest(client, row["id"], POSTGRESQL)
            assert Cluster(engine._host, folder).primary != former
            assert await ask(roost, client, row, friend, "select id from orders") == [(1,)]
            state = await engine.inspect(row["id"])
            assert state is not None
            assert state.running
            lines: list[str] = []
            await check_all(roost, False, lines.append)
            assert [line for line in lines if "database " in line] == []
    finally:
        # No watch starts again what ends here.
        if engine is not None:
            await engine.shut_down()


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed programs by links of our own, as packages may replace them; where the servers'
    user reaches them."""
    with TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        for program in releases.servers()[0].parent.iterdir():
            link = Path(name) / program.parent.parent.name / "bin" / program.name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(program)
        monkeypatch.setattr(releases, "_ROOT", Path(name))
        yield Path(name)


def release(programs: Path, version: str) -> None:
    """Put another minor release in the place of the one that is there, as a package does."""
    (link,) = programs.glob("*/bin/postgres")
    program, draft = link.resolve(), link.with_suffix(".new")
    says = f'[ "$1" = --version ] && exec echo "postgres (PostgreSQL) {version}"'
    draft.write_text(f'#!/bin/sh\n{says}\nexec {program} "$@"\n')
    draft.chmod(0o755)
    draft.replace(link)


async def test_a_newer_release_comes_in_the_window(settings: Settings, programs: Path) -> None:
    """Replicas first, then one of them leads, and the former primary is the last. Clients that
    connect anew lose nothing."""
    friend, engine = "127.0.0.2", None
    try:
        async with opened(settings) as (roost, client, _):
            engine = roost.services.get(Engines).of(POSTGRESQL_PLANE, REGION)
            assert isinstance(engine, PostgresqlDatabases)
            row = await made_postgresql(
                client,
                region=REGION,
                cluster_size=3,
                replication_commit_type="on",
                allow_list=[friend],
            )

            await ask(roost, client, row, friend, TABLE, "select 1")
            folder = Folder.of(settings.state / "postgresql" / REGION, row["id"])
            former = Cluster(engine._host, folder).primary
            data = [node.data.stat().st_ino for node in folder.nodes()]
            newer = f"{former.major}.99"
            writers = Writers(await connecting(roost, client, row, friend))
            await _open_window(client, row, roost.clock.now() + timedelta(hours=5))
            release(programs, newer)
            await tick(roost)
            state = await engine.inspect(row["id"])
            assert state is not None
            assert state.outdated
            assert newer not in await _versions(folder)
            async with writers.writing(4):
                await writers.written_again()
                await _open_window(client, row, roost.clock.now())
                await tick(roost)
                await until(partial(_versions, folder), lambda found: found == {newer})
                await at_rest(client, row["id"], POSTGRESQL)
                await writers.written_again()
            others = [node for node in folder.nodes() if node != former]
            assert await _versions(folder) == {newer}
            assert Cluster(engine._host, folder).primary in others
            assert [node.data.stat().st_ino for node in folder.nodes()] == data
            last = max(node.configuration.stat().st_mtime_ns for node in others)
            assert former.configuration.stat().st_mtime_ns > last
            found = await ask(roost, client, row, friend, "select id from rows")
            assert {each[0] for each in found} >= set(writers.acknowledged)
            state = await engine.inspect(row["id"])
            assert state is not None
            assert (state.running, state.outdated) == (True, False)
            structlog.get_logger().info("patched", rows=len(found), gap=writers.gaps[0])
    finally:
        # No watch starts again what ends here.
        if engine is not None:
            await engine.shut_down()


async def _versions(folder: Folder) -> set[str]:
    return {node.version for node in folder.nodes()}


async def _open_window(client: Client, row: Json, opens: datetime) -> None:
    window = {"duration": 2, "hour_of_day": opens.hour, "day_of_week": opens.isoweekday()}
    await client.put(f"{POSTGRESQL}/{row['id']}", {"updates": window})
