"""What one database takes of its host ends with its plan, whatever its user asks, and whoever else
writes meanwhile."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest
import pytest_asyncio

from roost.engines.mariadb import host
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec, temporary_room
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, open_mariadb

pytestmark = pytest.mark.mariadb

_DISK = 2048
_ROOM = temporary_room(_DISK)
_SORT = (
    "select concat(repeat('x', 1500), seq) x from own.seq_1_to_3000000"
    " order by reverse(x) limit 99999999, 1"
)
"""4.5 GB of files without a name."""
_DISTINCT = (
    "select count(*) from"
    " (select distinct concat(repeat('x', 1500), seq) x from own.seq_1_to_3000000) d"
)
_KEPT = (
    "create temporary table own.kept"
    " select concat(repeat('x', 1500), seq) x from own.seq_1_to_999999"
)


@pytest_asyncio.fixture(scope="module")
async def mariadb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path_factory.mktemp("bounds"))
    yield harness
    await harness.close()


@asynccontextmanager
async def _small(mariadb: MariadbHarness) -> AsyncIterator[tuple[DatabaseSpec, Access]]:
    spec = replace(mariadb.spec(next(ids)), disk=_DISK)
    access = await mariadb.engine.create(spec)
    await mariadb.ask(access, spec, "create database own", "create table own.t (id int)")
    yield spec, access
    await mariadb.engine.delete(spec.id)


async def _temporary(mariadb: MariadbHarness, spec: DatabaseSpec) -> int:
    state = await mariadb.engine.inspect(spec.id)
    assert state is not None
    assert state.running
    return state.temporary


@pytest.mark.parametrize("query", [_SORT, _DISTINCT, _KEPT], ids=["sort", "distinct", "kept"])
async def test_a_query_that_finds_no_room_fails_alone(mariadb: MariadbHarness, query: str) -> None:
    """Its server and its neighbour go on writing, and its files are gone."""
    async with _small(mariadb) as (spec, access), _small(mariadb) as (other, beside):
        process = Server(Folder.of(mariadb.root, spec.id)).process()
        over, most, written = asyncio.Event(), 0, 0

        async def write(to: Access, of: DatabaseSpec) -> int:
            count = 0
            while not over.is_set():
                await mariadb.ask(to, of, "insert into own.t values (1)")
                count += 1
            return count

        writers = [asyncio.create_task(write(*each)) for each in ((access, spec), (beside, other))]
        asking = asyncio.create_task(_asked(mariadb, access, spec, query))
        while not asking.done():
            most = max(most, await _temporary(mariadb, spec))
            await asyncio.sleep(0.02)
        over.set()
        failed = await asking
        assert "No space left" in failed or "full" in failed or "corrupt" in failed
        for writer in writers:
            written += await writer
        assert most <= _ROOM
        assert most > 0 or query == _KEPT
        assert Server(Folder.of(mariadb.root, spec.id)).process() == process
        counts = [
            await mariadb.ask(to, of, "select count(*) from own.t")
            for to, of in ((access, spec), (beside, other))
        ]
        assert sum(int(str(count[0][0])) for count in counts) == written
        async with asyncio.timeout(120):
            while await _temporary(mariadb, spec) > _ROOM // 4:
                await asyncio.sleep(0.1)


async def test_a_client_that_leaves_takes_no_more(mariadb: MariadbHarness) -> None:
    """The server goes on with its query, within the bound, and ends alone."""
    async with _small(mariadb) as (spec, access):
        client = await asyncio.to_thread(mariadb.connect, access, spec)
        asking = asyncio.create_task(asyncio.to_thread(_send, client, _SORT))
        async with asyncio.timeout(60):
            while await _temporary(mariadb, spec) < _ROOM // 4:
                await asyncio.sleep(0.02)
        client._force_close()  # type: ignore[attr-defined]
        await asking
        async with asyncio.timeout(60):
            while (used := await _temporary(mariadb, spec)) > _ROOM // 4:
                assert used <= _ROOM
                await asyncio.sleep(0.05)


async def test_where_there_are_no_loop_devices_it_is_memory(
    mariadb: MariadbHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(node: Folder, disk: int, owner: tuple[int, int]) -> None:
        node.temporary_image.unlink(missing_ok=True)

    monkeypatch.setattr(host, "lay_out", none)
    async with _small(mariadb) as (spec, access):
        process = Server(Folder.of(mariadb.root, spec.id)).process()
        assert process is not None
        size = os.statvfs(f"/proc/{process.pid}/root/mnt/tmp")
        assert size.f_blocks * size.f_frsize == _ROOM << 20
        assert "No space left" in await _asked(mariadb, access, spec, _SORT)
        assert await _temporary(mariadb, spec) == 0
        assert Server(Folder.of(mariadb.root, spec.id)).process() == process


async def test_a_larger_plan_has_more_room(mariadb: MariadbHarness) -> None:
    async with _small(mariadb) as (spec, _):
        await mariadb.engine.restart(replace(spec, disk=2 * _DISK))
        image = Folder.of(mariadb.root, spec.id).temporary_image
        assert image.stat().st_size == 2 * _ROOM << 20


async def test_whose_server_it_is_can_be_seen(mariadb: MariadbHarness) -> None:
    async with _small(mariadb) as (spec, _):
        folder = Folder.of(mariadb.root, spec.id)
        process = Server(folder).process()
        assert process is not None
        arguments = _arguments(process.pid)
        assert f"--defaults-group-suffix={folder.path}" in arguments


def _arguments(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def test_files_count_for_their_inodes_too(tmp_path: Path) -> None:
    """Else a million views would cost nothing, and the host its last inode."""
    folder = Folder.of(tmp_path, 100001)
    folder.data.mkdir(parents=True)
    for number in range(640):
        (folder.data / f"{number}.frm").touch()
    assert folder.used() == 10


async def _asked(mariadb: MariadbHarness, access: Access, spec: DatabaseSpec, query: str) -> str:
    """Why it fails."""

    def ask() -> str:
        client = mariadb.connect(access, spec)
        client._read_timeout = 300  # type: ignore[attr-defined]
        with client, pytest.raises(pymysql.Error) as failed:
            client.query(query)
        return str(failed.value)

    return await asyncio.to_thread(ask)


def _send(client: "pymysql.Connection[pymysql.cursors.Cursor]", query: str) -> None:
    with pytest.raises((pymysql.Error, OSError, ValueError, AttributeError)):
        client.query(query)
