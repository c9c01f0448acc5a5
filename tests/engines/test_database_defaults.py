"""How applications find a new server: what they take for granted is there, and what would part the
API from the server is refused."""

from collections.abc import AsyncIterator

import pymysql
import pytest
import pytest_asyncio
from pydantic import SecretStr

from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, open_mariadb

pytestmark = pytest.mark.mariadb

_BERLIN = "select convert_tz('2026-01-01 12:00:00', 'UTC', 'Europe/Berlin') = '2026-01-01 13:00:00'"


@pytest_asyncio.fixture(scope="module")
async def mariadb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path_factory.mktemp("defaults"))
    yield harness
    await harness.close()


@pytest_asyncio.fixture(scope="module")
async def spec(mariadb: MariadbHarness) -> DatabaseSpec:
    return mariadb.spec(next(ids))


@pytest_asyncio.fixture(scope="module")
async def access(mariadb: MariadbHarness, spec: DatabaseSpec) -> Access:
    access = await mariadb.engine.create(spec)
    await mariadb.ask(access, spec, "create database own")
    return access


@pytest.fixture
def server(mariadb: MariadbHarness, spec: DatabaseSpec, access: Access) -> Server:
    return Server(Folder.of(mariadb.root, spec.id))


async def test_time_zones_have_names(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    assert await mariadb.ask(access, spec, "set time_zone = 'Europe/Berlin'", _BERLIN) == ((1,),)


async def test_a_server_of_an_earlier_release_gets_them(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access, server: Server
) -> None:
    await server.execute("empty", SecretStr("truncate table mysql.time_zone_name"))
    await mariadb.engine.restart(spec)
    assert await mariadb.ask(access, spec, _BERLIN) == ((1,),)


async def test_all_characters_fit(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    """A schema that was made before keeps what it had."""
    await mariadb.ask(
        access,
        spec,
        "create database old character set latin1",
        "create table own.words (word varchar(255) unique)",
        "create table old.words (word text)",
    )
    await mariadb.engine.restart(spec)
    assert await mariadb.ask(
        access, spec, "insert into own.words values ('🐓')", "select word from own.words"
    ) == (("🐓",),)
    with pytest.raises(pymysql.Error):
        await mariadb.ask(access, spec, "insert into old.words values ('🐓')")


async def test_rows_of_dumps_fit(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    large = "x" * (60 << 20)
    await mariadb.ask(access, spec, "create table own.files (content longblob)")
    stored = await mariadb.ask(
        access,
        spec,
        f"insert into own.files values ('{large}')",
        "select length(content) from own.files",
    )
    assert stored == ((60 << 20,),)


async def test_events_run(mariadb: MariadbHarness, spec: DatabaseSpec, access: Access) -> None:
    await mariadb.ask(
        access,
        spec,
        "create table own.ticks (id int)",
        "create event own.tick on schedule at now() do insert into own.ticks values (1)",
    )
    ticks: tuple[tuple[object, ...], ...] = ()
    while not ticks:
        ticks = await mariadb.ask(access, spec, "select id from own.ticks")


@pytest.mark.parametrize(
    "statement",
    [
        "set password = password('hunter2hunter2')",
        "set password = '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'",
        "set password = ''",
        "alter user current_user() identified by 'hunter2hunter2'",
        "alter user current_user() account lock",
        "grant select on own.* to current_user()",
        "grant select on own.* to current_user() identified via unix_socket",
        "grant select on own.* to current_user() require x509",
        "grant usage on own.* to current_user() identified by 'hunter2hunter2'",
    ],
)
async def test_nobody_parts_the_user_from_what_the_api_says(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access, statement: str
) -> None:
    with pytest.raises(pymysql.Error):
        await mariadb.ask(access, spec, statement)
    assert await mariadb.ask(access, spec, "create or replace table own.probe (id int)") == ()


async def test_what_a_user_of_an_earlier_release_took_from_itself_it_has_again(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access, server: Server
) -> None:
    await server.execute(
        "as before",
        SecretStr(
            "grant select on `%`.* to roostadmin@'%' with grant option;"
            "grant select on own.* to roostadmin@'%' with grant option;"
        ),
    )
    with pytest.raises(pymysql.Error):
        await mariadb.ask(access, spec, "create table own.more (id int)")
    await mariadb.engine.set_password(spec)
    await mariadb.ask(access, spec, "create table own.more (id int)")
    with pytest.raises(pymysql.Error):
        await mariadb.ask(access, spec, "grant select on own.* to current_user()")
