"""Every migration from an empty database and from release 0.1.0; many processes at once."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from roost.store import migrate
from roost.store.connection import Connection
from roost.store.pool import connect
from tests.support.database import DatabaseServer, programs
from tests.support.former import export, has_history
from tests.support.schema import describe

_BEFORE_RELEASE = "8c52d183"
"""The commit before the revisions until release 0.1.0 became one."""
_MIGRATE = """
import asyncio
import sys

from roost.store import migrate

asyncio.run(migrate.upgrade(*sys.argv[1:]))
"""


@pytest.fixture
async def empty_url(database_server: DatabaseServer) -> AsyncIterator[str]:
    async with database_server.database("template0") as url:
        yield url


@pytest.fixture
async def connection(empty_url: str) -> AsyncIterator[Connection]:
    connection = await connect(empty_url)
    yield connection
    await connection.close()


def add_revisions(folder: Path, monkeypatch: pytest.MonkeyPatch, **sql: str) -> None:
    """The program knows these too, by names such as `_9998_title`."""
    known = migrate.revisions()
    for name, statements in sql.items():
        (folder / f"{name[1:]}.sql").write_text(statements)
        known.append(folder / f"{name[1:]}.sql")
    monkeypatch.setattr(migrate, "revisions", lambda: known)


def dump(url: str) -> list[str]:
    """Tables, functions, triggers, comments and rows, without the key of one dump."""
    done = subprocess.run(
        [programs() / "pg_dump", "--inserts", "--no-owner", url],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    return [line for line in lines if not line.startswith(("\\restrict", "\\unrestrict"))]


@pytest.mark.skipif(not has_history(), reason="the checkout has no history")
async def test_the_first_revision_is_what_those_before_it_made(
    database_server: DatabaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a database of theirs goes on without a step."""
    source = export(_BEFORE_RELEASE, tmp_path)
    async with (
        database_server.database("template0") as url,
        database_server.database("template0") as former_url,
    ):
        await migrate_by(source, former_url, migrate.first())
        with monkeypatch.context() as patch:
            first = migrate.revisions()[:1]
            patch.setattr(migrate, "revisions", lambda: first)
            await migrate.upgrade(url)
        assert dump(url) == dump(former_url)

        await migrate.upgrade(former_url)
        await migrate.upgrade(url)
        assert dump(url) == dump(former_url)


async def migrate_by(source: Path, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _MIGRATE, *arguments, env=os.environ | {"PYTHONPATH": str(source)}
    )
    assert await process.wait() == 0


@pytest.mark.skipif(not has_history(), reason="the checkout has no history")
async def test_an_older_database_is_refused(empty_url: str, tmp_path: Path) -> None:
    """It is told with which commit it gets there; with that it does."""
    source = export(_BEFORE_RELEASE, tmp_path)
    await migrate_by(source, empty_url, "0062")
    before = await describe(empty_url)
    with pytest.raises(migrate.RevisionError) as refused:
        await migrate.upgrade(empty_url)
    assert str(refused.value) == (
        f"the database is at revision 0062, older than {migrate.first()}, the first that this"
        f" program upgrades: use commit {_BEFORE_RELEASE} of Roost, from before release 0.1.0, on"
        " it first"
    )
    assert await describe(empty_url) == before
    await migrate_by(source, empty_url)
    await migrate.upgrade(empty_url)


async def test_a_revision_that_is_missing_is_run(
    empty_url: str, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate.upgrade(empty_url)
    add_revisions(tmp_path, monkeypatch, _9998_mine="create table mine (); create table more ()")
    await migrate.upgrade(empty_url)
    assert await migrate.current(connection) == "9998"
    assert await connection.fetchval("select count(*) from mine, more") == 0


async def test_files_of_a_revision_run_by_name(
    empty_url: str, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = tmp_path / "9998_mine"
    revision.mkdir()
    (revision / "02_row.sql").write_text("insert into mine values (1);")
    (revision / "01_table.sql").write_text("create table mine (n int);")
    monkeypatch.setattr(migrate, "revisions", lambda: [revision])
    await migrate.upgrade(empty_url)
    assert await connection.fetchval("select n from mine") == 1


async def test_a_revision_that_fails_changes_nothing(
    empty_url: str, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate.upgrade(empty_url)
    before, newest = await describe(empty_url), migrate.head()
    add_revisions(
        tmp_path, monkeypatch, _9998_first="create table mine ()", _9999_second="select 1 / 0"
    )
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate.upgrade(empty_url)
    assert await describe(empty_url) == before
    assert await migrate.current(connection) == newest


async def test_processes_may_migrate_at_once(empty_url: str, connection: Connection) -> None:
    runs = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _MIGRATE, empty_url)
        for _ in range(3)
    ]
    assert [await run.wait() for run in runs] == [0, 0, 0]
    assert await migrate.current(connection) == migrate.head()


async def test_a_newer_database_is_refused(database_url: str) -> None:
    connection = await connect(database_url)
    await connection.execute("update alembic_version set version_num = '9999'")
    await connection.close()
    with pytest.raises(migrate.RevisionError, match="newer than this program"):
        await migrate.upgrade(database_url)
