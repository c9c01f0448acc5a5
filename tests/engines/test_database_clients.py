"""Clients of managed databases, and programs of ours, that go in the middle of their work."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pymysql
import pytest
import pytest_asyncio
from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, open_mariadb
from tests.support.client import until

pytestmark = pytest.mark.mariadb

_ROWS = 2000
_BIG = "select repeat('x', 1000000) as big from notes.seq_1_to_20000"


@pytest_asyncio.fixture(scope="module")
async def mariadb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path_factory.mktemp("clients"))
    yield harness
    await harness.close()


@pytest_asyncio.fixture(scope="module")
async def spec(mariadb: MariadbHarness) -> AsyncIterator[DatabaseSpec]:
    spec = mariadb.spec(next(ids))
    yield spec
    await mariadb.engine.delete(spec.id)


@pytest_asyncio.fixture(scope="module")
async def access(mariadb: MariadbHarness, spec: DatabaseSpec) -> Access:
    access = await mariadb.engine.create(spec)
    table = "create table notes.rows (id bigint primary key) engine = innodb"
    await mariadb.ask(access, spec, "create database notes", table)
    return access


async def test_an_import_whose_client_goes_is_undone(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    """What it held is free for the next one."""

    def begin() -> None:
        connection = mariadb.connect(access, spec)
        connection.begin()
        with connection.cursor() as cursor:
            rows = [(number,) for number in range(_ROWS)]
            cursor.executemany("insert into notes.rows values (%s)", rows)
        connection._force_close()  # type: ignore[attr-defined]

    await asyncio.to_thread(begin)
    await mariadb.ask(access, spec, f"insert into notes.rows values ({_ROWS - 1})")
    assert await mariadb.ask(access, spec, "select count(*) from notes.rows") == ((1,),)


async def test_a_dump_whose_client_goes_ends(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    def begin() -> None:
        connection = mariadb.connect(access, spec)
        cursor = connection.cursor(pymysql.cursors.SSCursor)
        cursor.execute(_BIG)
        cursor.fetchone()
        connection._force_close()  # type: ignore[attr-defined]

    await asyncio.to_thread(begin)
    running = "select count(*) from information_schema.processlist where info like '%seq_1_to_%'"

    async def others() -> int:
        [(count,)] = await mariadb.ask(access, spec, f"{running} and id <> connection_id()")
        assert isinstance(count, int)
        return count

    await until(others, lambda count: count == 0)


async def test_who_goes_without_a_word_is_missed_in_two_minutes(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    """As the kernel then ends the connection, the server undoes what it had begun."""
    names = ("time", "interval", "probes")
    asked = ", ".join(f"@@global.tcp_keepalive_{name}" for name in names)
    [(idle, between, probes)] = await mariadb.ask(access, spec, f"select {asked}")
    assert all(isinstance(each, int) and each > 0 for each in (idle, between, probes))
    assert int(str(idle)) + int(str(between)) * int(str(probes)) <= 120


async def test_a_backup_whose_program_is_killed(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    work = asyncio.create_task(mariadb.engine.back_up(spec.id, 1, replica=False))

    async def kill() -> bool:
        for pid in _ours("mariadb-backup"):
            os.kill(pid, signal.SIGKILL)
        return work.done()

    await until(kill, bool)
    with pytest.raises(EngineError, match=r"The backup could not be made: .*SIGKILL"):
        await work
    assert list(Folder.of(mariadb.root, spec.id).backups.glob("*.part")) == []
    state = await mariadb.engine.inspect(spec.id)
    assert state is not None
    assert (state.running, state.backups) == (True, ())
    await mariadb.engine.back_up(spec.id, 1, replica=False)
    await mariadb.ask(access, spec, "create table notes.others (id int)")


async def test_a_statement_of_ours_whose_program_is_killed(
    mariadb: MariadbHarness, spec: DatabaseSpec, access: Access
) -> None:
    server = Server(Folder.of(mariadb.root, spec.id))
    work = asyncio.create_task(server.execute("It could not be said", SecretStr("do sleep(20)")))

    async def kill() -> bool:
        for pid in _ours("--socket=socket"):
            os.kill(pid, signal.SIGKILL)
        return work.done()

    await until(kill, bool)
    with pytest.raises(EngineError, match=r"It could not be said: .*SIGKILL"):
        await work


def _ours(word: str) -> Iterator[int]:
    """Programs that this process has started, directly or not, with such a word in their command;
    not servers, which are nobody's children."""
    waiting = [os.getpid()]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            try:
                children = [int(pid) for pid in task.read_text().split()]
            except OSError:
                continue
            waiting += children
            for pid in children:
                try:
                    command = Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                if word.encode() in command and b"mariadbd" not in command:
                    yield pid
