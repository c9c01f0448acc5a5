"""Databases on a host whose file system is full: what was acknowledged stays, and all goes on when
there is room again."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import pymysql
import pytest

from roost.core.engine import FullError
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, open_mariadb

pytestmark = pytest.mark.mariadb

_MB = 1 << 20
_SIZE = 900
"""MB of the file system."""
_LEFT = 24
"""MB that servers can still write."""
_ROW = 200_000


@asynccontextmanager
async def _opened(place: Path, nodes: int) -> AsyncIterator[MariadbHarness]:
    """On a file system of its own, in memory."""
    place.mkdir()  # noqa: ASYNC240
    options = ("-t", "tmpfs", "-o", f"size={_SIZE}m,mode=0711", "small")
    subprocess.run(("mount", *options, place), check=True)
    try:
        harness = await open_mariadb(place, nodes)
        yield harness
        await harness.close()
    finally:
        subprocess.run(("umount", "--lazy", place), check=True)


class Writer:
    """Writes row by row and notes what was acknowledged."""

    def __init__(self, mariadb: MariadbHarness, access: Access, spec: DatabaseSpec) -> None:
        self._mariadb, self._access, self.spec = mariadb, access, spec
        self.acknowledged: list[int] = []
        self.over = False

    def run(self) -> None:
        insert = f"insert into own.t values (%s, repeat('x', {_ROW}))"
        for number in count(1):
            if self.over:
                return
            with (
                suppress(pymysql.Error, OSError),
                self._mariadb.connect(self._access, self.spec) as client,
            ):
                with client.cursor() as cursor:
                    cursor.execute(insert, (number,))
                self.acknowledged.append(number)


async def test_servers_that_are_killed_meanwhile_have_all(tmp_path: Path) -> None:
    """Also where the primary's log ends in the middle of a write, so that replicas follow for a
    moment, and are copied then."""
    async with _opened(tmp_path / "small", 3) as mariadb, _full(mariadb) as writer:
        (mariadb.root / "ballast").unlink()
        for node in Folder.of(mariadb.root, writer.spec.id).nodes():
            await Server(node).kill()
        await mariadb.engine.ensure(writer.spec)
        writer.over = True  # Before the file system is full again.
        await mariadb.engine.rebuild(writer.spec)


@pytest.mark.timeout(900)
async def test_a_backup_gives_way_and_writers_wait_until_there_is_room(tmp_path: Path) -> None:
    """A server that finds no room for another binary log may end, or go on without logs. So nobody
    asks it to begin one. One node and three at once, as servers look for room each minute."""
    async with asyncio.TaskGroup() as both:
        for nodes in (1, 3):
            both.create_task(_gives_way(tmp_path / f"{nodes}-nodes", nodes))


async def _gives_way(place: Path, nodes: int) -> None:
    async with _opened(place, nodes) as mariadb, _full(mariadb) as writer:
        folders = Folder.of(mariadb.root, writer.spec.id).nodes()
        before = [Server(node).process() for node in folders]
        for _ in range(2):
            with pytest.raises(FullError):
                await mariadb.engine.back_up(writer.spec.id, 1, replica=True)
        await mariadb.engine.free(writer.spec.id)
        assert [Server(node).process() for node in folders] == before
        written = len(writer.acknowledged)
        (mariadb.root / "ballast").unlink()
        async with asyncio.timeout(300):
            while len(writer.acknowledged) < written + 20:
                await asyncio.sleep(0.2)
        writer.over = True  # Before the file system is full again.
        await mariadb.engine.back_up(writer.spec.id, 1, replica=True)


@asynccontextmanager
async def _full(mariadb: MariadbHarness) -> AsyncIterator[Writer]:
    """While somebody writes, until nothing can be written; all that was acknowledged is there at
    the end."""
    spec = mariadb.spec(next(ids))
    access = await mariadb.engine.create(spec)
    tables = ("create database own", "create table own.t (id int primary key, a longblob)")
    await mariadb.ask(access, spec, *tables)
    size = shutil.disk_usage(mariadb.root).free - _LEFT * _MB
    subprocess.run(("fallocate", "-l", str(size), mariadb.root / "ballast"), check=True)
    writer = Writer(mariadb, access, spec)
    writing = asyncio.create_task(asyncio.to_thread(writer.run))
    try:
        async with asyncio.timeout(240):
            while shutil.disk_usage(mariadb.root).free > _MB:
                await asyncio.sleep(0.1)
        assert writer.acknowledged
        yield writer
    finally:
        writer.over = True
        await writing
    rows = {row[0] for row in await mariadb.ask(access, spec, "select id from own.t")}
    assert rows >= set(writer.acknowledged)
    state = await mariadb.engine.inspect(spec.id)
    assert state is not None
    assert state.running
