"""Backups, restores and forks of MariaDB under load, against what the binary logs say.

`ROOST_TEST_ROUNDS=20` has as many rounds as a release needs.
"""

import asyncio
import os
import random
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.mariadb.backups import position_of
from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.folder import Folder
from roost.resources.databases.engine import Access, DatabaseSpec, Fork
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, kill, open_mariadb
from tests.support.databases import next_second

pytestmark = pytest.mark.mariadb

ROUNDS = int(os.environ.get("ROOST_TEST_ROUNDS", "1"))
WRITERS = 4
FIRST, SECOND = 1, 2
"""Backups: the one before all rows, and one in the midst of writing."""

Rows = dict[int, tuple[int, int]]
"""By id: who wrote it last, and how often it was written."""


CLUSTERS, BOTH = (
    pytest.mark.parametrize("mariadb", nodes, indirect=True, ids=lambda each: f"{each} nodes")
    for nodes in ([3], [1, 3])
)


@pytest_asyncio.fixture(scope="module")
async def mariadb(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[MariadbHarness]:
    """Of single nodes, where a test does not ask for others."""
    nodes: int = getattr(request, "param", 1)
    harness = await open_mariadb(tmp_path_factory.mktemp("forks"), nodes)
    yield harness
    await harness.close()


@dataclass
class Database:
    mariadb: MariadbHarness
    spec: DatabaseSpec
    access: Access

    @classmethod
    async def of(
        cls, mariadb: MariadbHarness, fork: Fork | None = None, *, encrypted: bool = False
    ) -> "Database":
        spec = mariadb.spec(next(ids))
        spec = replace(spec, shape=replace(spec.shape, encrypted=encrypted))
        return cls(mariadb, spec, await mariadb.engine.create(spec, fork))

    @property
    def folder(self) -> Folder:
        return Folder.of(self.mariadb.root, self.spec.id)

    @property
    def primary(self) -> Folder:
        if not self.folder.clustered:
            return self.folder
        return Cluster(self.mariadb.engine._host, self.folder).primary

    async def ask(self, *statements: str) -> tuple[tuple[object, ...], ...]:
        return await self.mariadb.ask(self.access, self.spec, *statements)

    async def prepare(self) -> None:
        await self.ask(
            "create database notes",
            "create table notes.entry (id int primary key, writer int, version int)",
        )

    async def rows(self) -> Rows:
        found = await self.ask("select id, writer, version from notes.entry")
        return {int(str(a)): (int(str(b)), int(str(c))) for a, b, c in found}

    async def back_up(self, backup_id: int) -> None:
        await self.mariadb.engine.back_up(self.spec.id, backup_id, replica=True)

    @asynccontextmanager
    async def written_to(self) -> AsyncIterator[None]:
        """While the block runs, writers insert, change and delete rows, each its own."""
        stop = asyncio.Event()

        def write(writer: int) -> None:
            chance = random.Random(writer)
            number = writer
            with self.mariadb.connect(self.access, self.spec) as client, client.cursor() as cursor:
                while not stop.is_set():
                    number += WRITERS
                    former = chance.randrange(writer, number, WRITERS)
                    cursor.execute(f"insert into notes.entry values ({number}, {writer}, 1)")
                    cursor.execute(
                        f"update notes.entry set version = version + 1 where id = {former}"
                    )
                    if chance.random() < 0.2:
                        cursor.execute(f"delete from notes.entry where id = {former}")

        tasks = [asyncio.create_task(asyncio.to_thread(write, each)) for each in range(WRITERS)]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*tasks)


def logged(database: Database, *options: str) -> Rows:
    """What is in the table after all that the kept logs say, read by MariaDB's own tool alone."""
    place = database.mariadb.root / f"read-{database.spec.id}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    kept = sorted(
        (database.folder.backups / "logs").glob("*.zst"),
        key=lambda path: int(path.name.partition("-")[0]),
    )
    logs = [place / f"log.{number:06}" for number, _ in enumerate(kept, 1)]
    for packed, log in zip(kept, logs, strict=True):
        subprocess.run(("zstd", "-q", "-d", "-o", log, packed), check=True)
    told = subprocess.run(
        ("mariadb-binlog", "--no-defaults", "--base64-output=decode-rows", "-v", *options, *logs),
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TZ": "UTC"},
    ).stdout
    return _replayed(told)


_CHANGE = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `notes`\.`entry`")
_VALUE = re.compile(r"###   @(\d)=(-?\d+)")


def _replayed(told: str) -> Rows:
    rows: Rows = {}
    change, values = "", list[int]()

    def finish() -> None:
        if change == "INSERT INTO":
            rows[values[0]] = values[1], values[2]
        elif change == "UPDATE":
            assert rows.pop(values[0]) == (values[1], values[2])
            rows[values[3]] = values[4], values[5]
        elif change == "DELETE FROM":
            assert rows.pop(values[0]) == (values[1], values[2])

    for line in told.splitlines():
        if found := _CHANGE.match(line):
            finish()
            change, values = found[1], []
        elif found := _VALUE.match(line):
            values.append(int(found[2]))
        elif not line.startswith("###"):
            finish()
            change = ""
    return rows


def backed_up_to(database: Database, backup_id: int) -> str:
    """The position of a backup, as MariaDB's tool wrote it into it."""
    place = database.mariadb.root / f"backup-{database.spec.id}"
    place.mkdir()
    packed = database.folder.backup(backup_id)
    unpacked = subprocess.run(("zstd", "-q", "-d", "-c", packed), check=True, capture_output=True)
    subprocess.run(("mbstream", "-x", "-C", place), input=unpacked.stdout, check=True)
    return position_of(place)


@BOTH
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_what_is_restored_is_what_the_log_says(mariadb: MariadbHarness, number: int) -> None:
    engine, source = mariadb.engine, await Database.of(mariadb)
    fork: Database | None = None
    try:
        await source.prepare()
        await source.back_up(FIRST)
        async with source.written_to():
            await next_second()
            await source.back_up(SECOND)
            await next_second()
            moment = await next_second()
            fork = await Database.of(mariadb, Fork(source.spec.id, moment))
        await engine.archive(source.spec.id, 1024)
        expected = logged(source, f"--stop-datetime={moment:%Y-%m-%d %H:%M:%S}")
        assert len(expected) > 10
        assert await fork.rows() == expected
        assert await source.rows() == logged(source) != expected
        then = logged(source, f"--stop-position={backed_up_to(source, SECOND)}")
        assert 10 < len(then) < len(expected)
        await engine.restore(source.spec, SECOND)
        assert await source.rows() == then
    finally:
        await engine.delete(source.spec.id)
        if fork is not None:
            await engine.delete(fork.spec.id)


async def test_a_restore_does_not_hide_what_was_before(mariadb: MariadbHarness) -> None:
    """Moments before it and after it can be had; not those of a backup that is gone."""
    engine, source = mariadb.engine, await Database.of(mariadb)
    forks = list[Database]()
    try:
        await source.prepare()
        await source.back_up(FIRST)
        await next_second()
        await source.ask("insert into notes.entry values (1, 1, 1)")
        before = await next_second()
        await source.ask("insert into notes.entry values (2, 1, 1)")
        await engine.restore(source.spec, FIRST)
        await next_second()
        await source.ask("insert into notes.entry values (3, 1, 1)")
        after = await next_second()
        await source.ask("insert into notes.entry values (4, 1, 1)")
        for moment, expected in ((before, {1}), (after, {3})):
            forks.append(await Database.of(mariadb, Fork(source.spec.id, moment)))
            assert set(await forks[-1].rows()) == expected
        await engine.delete_backup(source.spec.id, FIRST)
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert (state.oldest_moment, state.spare_logs) == (None, 0)
    finally:
        for each in (source, *forks):
            await engine.delete(each.spec.id)


async def test_encrypted_databases_have_forks(mariadb: MariadbHarness) -> None:
    """What is kept of them tells nobody what is in it."""
    engine, source = mariadb.engine, await Database.of(mariadb, encrypted=True)
    canary, fork = "canary-4711-of-a-log", None
    try:
        await source.ask("create database notes", "create table notes.mark (text varchar(100))")
        await source.back_up(FIRST)
        await next_second()
        await source.ask(f"insert into notes.mark values ('{canary}')")
        moment = await next_second()
        await source.ask("insert into notes.mark values ('later')")
        await engine.archive(source.spec.id, 1024)
        for packed in (source.folder.backups / "logs").glob("*.zst"):
            log = subprocess.run(("zstd", "-dc", packed), check=True, capture_output=True).stdout
            assert log.startswith(b"\xfebin")
            assert canary.encode() not in log
        fork = await Database.of(mariadb, Fork(source.spec.id, moment), encrypted=True)
        await engine.delete(source.spec.id)
        assert await fork.ask("select text from notes.mark") == ((canary,),)
        await fork.back_up(SECOND)
        await engine.verify(fork.spec, SECOND)
    finally:
        for each in (source, fork):
            if each is not None:
                await engine.delete(each.spec.id)


@CLUSTERS
async def test_a_failover_does_not_break_the_chain(mariadb: MariadbHarness) -> None:
    """Also when the node that leads then was copied after the backup, and writes go on."""
    engine, source = mariadb.engine, await Database.of(mariadb)
    fork: Database | None = None
    try:
        await source.prepare()
        await source.back_up(FIRST)
        await next_second()
        for number in range(3):
            await source.ask(f"insert into notes.entry values ({number}, 1, 1)")
            await kill(source.primary)
            await engine.ensure(source.spec)
            await engine.rebuild(source.spec)
        await source.ask("insert into notes.entry values (3, 1, 1)")
        moment = await next_second()
        await source.ask("insert into notes.entry values (4, 1, 1)")
        fork = await Database.of(mariadb, Fork(source.spec.id, moment))
        assert set(await fork.rows()) == {0, 1, 2, 3}
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert (state.lost_logs, state.spare_logs) == (0, 0)
        assert state.oldest_moment is not None
        assert state.oldest_moment < moment
    finally:
        for each in (source, fork):
            if each is not None:
                await engine.delete(each.spec.id)


async def test_quiet_times_do_not_break_the_chain(mariadb: MariadbHarness) -> None:
    """Nor restarts in them, with each of which the server begins a log."""
    engine, source = mariadb.engine, await Database.of(mariadb)
    fork: Database | None = None
    try:
        await source.prepare()
        await source.back_up(FIRST)
        for number in range(2):
            await source.ask(f"insert into notes.entry values ({number}, 1, 1)")
            for _ in range(2):
                await engine.archive(source.spec.id, 1024)
                await kill(source.primary)
                await engine.ensure(source.spec)
            await engine.archive(source.spec.id, 1024)
        moment = await next_second()
        await source.ask("insert into notes.entry values (2, 1, 1)")
        fork = await Database.of(mariadb, Fork(source.spec.id, moment))
        assert set(await fork.rows()) == {0, 1}
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert (state.lost_logs, state.spare_logs) == (0, 0)
    finally:
        for each in (source, fork):
            if each is not None:
                await engine.delete(each.spec.id)


async def test_a_log_that_is_lost_ends_what_came_before(mariadb: MariadbHarness) -> None:
    engine, source = mariadb.engine, await Database.of(mariadb)
    try:
        await source.prepare()
        await source.back_up(FIRST)
        await next_second()
        for number in range(3):
            await source.ask(f"insert into notes.entry values ({number}, 1, 1)")
            await engine.archive(source.spec.id, 1024)
        await source.back_up(SECOND)
        moment = await next_second()
        _, lost, *_ = sorted((source.folder.backups / "logs").glob("*.zst"))
        lost.unlink()
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert state.lost_logs == 1
        assert state.oldest_moment is not None
        assert state.oldest_moment <= moment
        await engine.archive(source.spec.id, 1024)
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert (state.lost_logs, state.spare_logs) == (0, 0)
        early = state.oldest_moment
        assert early is not None
        await engine.archive(source.spec.id, 0)
        state = await engine.inspect(source.spec.id)
        assert state is not None
        assert (state.lost_logs, state.spare_logs) == (0, 0)
        with pytest.raises(EngineError):
            await Database.of(mariadb, Fork(source.spec.id, datetime(2030, 1, 1)))
    finally:
        await engine.delete(source.spec.id)


async def test_a_damaged_backup_is_found_out(mariadb: MariadbHarness) -> None:
    """And nothing is left of the verification, even if it was killed."""
    engine, source = mariadb.engine, await Database.of(mariadb)
    checks = mariadb.root / "checks"
    try:
        await source.prepare()
        await source.back_up(FIRST)
        work = asyncio.create_task(engine.verify(source.spec, FIRST))
        while not any(checks.glob("*/pid")):
            assert not work.done()
            await asyncio.sleep(0.02)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await mariadb.reopen().tidy(source.spec.id)
        assert list(checks.iterdir()) == []
        packed = source.folder.backup(FIRST)
        whole = packed.read_bytes()
        packed.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(EngineError):
            await engine.verify(source.spec, FIRST)
        assert list(checks.iterdir()) == []
        assert await source.rows() == {}
    finally:
        await engine.delete(source.spec.id)
