"""What clusters of MariaDB servers owe: nothing that was acknowledged is lost, whoever dies."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import pymysql
import pytest
import pytest_asyncio
from pydantic import SecretStr

from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec, Hosts
from tests.engines.cluster_failures import FAILURES, Failure, cut_off, kill_all, stop_primary
from tests.engines.conftest import ids
from tests.engines.database_harness import MariadbHarness, kill, open_mariadb
from tests.support.client import until

pytestmark = pytest.mark.mariadb

_WRITERS = 4


@dataclass
class Database:
    """A cluster, and all that clients of it were told is written."""

    mariadb: MariadbHarness
    spec: DatabaseSpec
    access: Access
    acknowledged: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    """Seconds in which no write was acknowledged, one for each failure."""

    @property
    def folder(self) -> Folder:
        return Folder.of(self.mariadb.root, self.spec.id)

    @property
    def primary(self) -> Folder:
        return Cluster(self.mariadb.engine._host, self.folder).primary

    def replicas(self) -> list[Folder]:
        return [node for node in self.folder.nodes() if node != self.primary]

    async def ask(self, *statements: str) -> tuple[tuple[object, ...], ...]:
        return await self.mariadb.ask(self.access, self.spec, *statements)

    async def mend(self) -> None:
        """What the control plane does as soon as it hears of the failure."""
        engine = self.mariadb.reopen()
        await engine.ensure(self.spec)
        await engine.rebuild(self.spec)

    async def check(self) -> None:
        """Nothing that was acknowledged is missing, on any node, and one takes writes."""
        rows = await self.ask("select id from notes.rows")
        assert {int(str(row[0])) for row in rows} >= set(self.acknowledged)
        state = await self.mariadb.engine.inspect(self.spec.id)
        assert state is not None
        assert state.running
        assert await self.writable() == [self.primary.path.name]

    async def writable(self) -> list[str]:
        found = []
        for node in self.folder.nodes():
            rows = await Server(node).rows("read", "select @@global.read_only as fixed")
            if rows == [{"fixed": "0"}]:
                found.append(node.path.name)
        return found

    @asynccontextmanager
    async def written_to(self) -> AsyncIterator[None]:
        """While the block runs, writers insert rows and remember what was acknowledged."""
        stop, last = asyncio.Event(), time.monotonic()
        gap = 0.0

        async def write(writer: int) -> None:
            nonlocal last, gap
            number = len(self.acknowledged) * _WRITERS + writer
            while not stop.is_set():
                number += _WRITERS
                if await asyncio.to_thread(self._insert, number):
                    now = time.monotonic()
                    gap, last = max(gap, now - last), now
                    self.acknowledged.append(number)

        tasks = [asyncio.create_task(write(writer)) for writer in range(_WRITERS)]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*tasks)
            self.gaps.append(gap)

    def _insert(self, number: int) -> bool:
        """A client that connects anew each time, as its last server may be gone."""
        try:
            with (
                self.mariadb.connect(self.access, self.spec) as connection,
                connection.cursor() as cursor,
            ):
                cursor.execute("insert into notes.rows values (%s)", (number,))
            return True
        except (pymysql.Error, OSError):
            time.sleep(0.02)
            return False


@pytest_asyncio.fixture(scope="module")
async def mariadb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path_factory.mktemp("clusters"), nodes=3)
    yield harness
    await harness.close()


async def _made(mariadb: MariadbHarness, spec: DatabaseSpec) -> Database:
    database = Database(mariadb, spec, await mariadb.engine.create(spec))
    await database.ask(
        "create database notes", "create table notes.rows (id bigint primary key) engine = innodb"
    )
    return database


@pytest_asyncio.fixture(scope="module")
async def database(mariadb: MariadbHarness) -> AsyncIterator[Database]:
    """One for all tests, each of which leaves it whole."""
    database = await _made(mariadb, mariadb.spec(next(ids)))
    yield database
    await mariadb.engine.delete(database.spec.id)


@FAILURES
async def test_nothing_acknowledged_is_lost(database: Database, fail: Failure, moves: bool) -> None:
    """Another node leads where it certainly has everything, else the primary comes back."""
    before = database.primary
    async with database.written_to():
        await asyncio.sleep(0.3)
        await fail(database)
        await database.mend()
        written = len(database.acknowledged)
        async with asyncio.timeout(120):
            while len(database.acknowledged) < written + 20:
                await asyncio.sleep(0.02)
    assert (database.primary != before) == moves
    await database.check()


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.5, 0.8])
async def test_a_failover_that_is_interrupted_goes_on(database: Database, seconds: float) -> None:
    """Another worker takes it up, wherever it was left; at no moment do two take writes."""
    async with database.written_to():
        await kill(database.primary)
        work = asyncio.create_task(database.mend())
        await asyncio.wait({work}, timeout=seconds)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        running = [node for node in database.folder.nodes() if await Server(node).answers()]
        assert len(running) >= 2
        await database.mend()
    await database.check()


async def test_a_restart_goes_round_and_ends_with_the_former_primary(database: Database) -> None:
    """Each server is another one then, on the data that it had: nothing is copied or lost."""
    before, nodes = database.primary, database.folder.nodes()
    data = [node.data.stat().st_ino for node in nodes]
    servers = [Server(node).process() for node in nodes]
    async with database.written_to():
        await database.mariadb.engine.restart(database.spec)
        written = len(database.acknowledged)
        async with asyncio.timeout(120):
            while len(database.acknowledged) < written + 20:
                await asyncio.sleep(0.02)
    assert database.primary != before
    assert [node.data.stat().st_ino for node in nodes] == data
    assert not set(servers) & {Server(node).process() for node in nodes}
    await database.check()


async def test_a_restart_that_is_killed_goes_on(database: Database) -> None:
    """Between the former primary and the next one."""
    async with database.written_to():
        work = asyncio.create_task(database.mariadb.engine.restart(database.spec))
        roles, before = database.folder.path / "roles", database.primary
        async with asyncio.timeout(60):
            while database.primary == before:
                await asyncio.sleep(0.005)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert roles.exists()
        await database.mend()
    await database.check()


async def test_nothing_is_lost_while_the_nodes_do_not_reach_each_other(database: Database) -> None:
    """Commits wait for a replica; clients reach the primary all the time."""
    before = database.primary
    async with database.written_to():
        await asyncio.sleep(0.3)
        async with cut_off(before):
            await asyncio.sleep(1)
        await database.mend()
        written = len(database.acknowledged)
        async with asyncio.timeout(60):
            while len(database.acknowledged) < written + 20:
                await asyncio.sleep(0.02)
    assert database.primary == before
    await database.check()


async def test_a_hanging_server_is_told_of(database: Database) -> None:
    faults = database.mariadb.reopen().faults()
    async with asyncio.timeout(120):
        told = asyncio.ensure_future(anext(faults))
        await asyncio.sleep(0)
        await stop_primary(database)
        assert await told == database.spec.id
    await faults.aclose()
    await database.mend()
    await database.check()


async def test_what_a_former_primary_has_beside_the_others_is_dropped(database: Database) -> None:
    """It comes back as a copy of the one that leads now."""
    former = database.primary
    for node in database.replicas():
        await Server(node).rows("halt", "stop slave io_thread")
    lonely = "set global rpl_semi_sync_master_enabled = 0; insert into notes.rows values (-1)"
    await Server(former).rows("write", lonely)
    await kill(former)
    await database.mend()
    assert database.primary != former
    assert await database.ask("select id from notes.rows where id = -1") == ()
    rows = await Server(former).rows("read", "select id from notes.rows where id = -1")
    assert rows == []
    await database.check()


async def test_replicas_are_copied_where_the_log_of_the_primary_ends_within_a_write(
    database: Database,
) -> None:
    """As a kill on a full disk leaves it. They connect, and stop for good there."""
    await database.ask("insert into notes.rows values (-4)", "delete from notes.rows where id = -4")
    await kill_all(database)
    newest = max(database.primary.data.glob("log.[0-9]*"))
    with newest.open("r+b") as log:
        log.seek(4)
        begun = log.read(40)
        log.seek(0, os.SEEK_END)
        log.write(begun)
    await database.mend()
    await database.check()


async def test_replicas_are_read_only_and_follow(database: Database) -> None:
    assert database.access.hosts.secondary is not None
    replica = replace(database.access, hosts=Hosts(database.access.hosts.secondary, None))
    await database.ask("insert into notes.rows values (-2)")
    async with asyncio.timeout(120):
        while not await database.mariadb.ask(
            replica, database.spec, "select id from notes.rows where id = -2"
        ):
            await asyncio.sleep(0.02)
    with pytest.raises(pymysql.Error, match="read-only"):
        await database.mariadb.ask(replica, database.spec, "insert into notes.rows values (-3)")


async def test_who_looks_waits_for_no_server_that_hangs(database: Database) -> None:
    process = Server(database.replicas()[0]).process()
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(60):
            assert await database.mariadb.engine.inspect(database.spec.id) is not None
    finally:
        os.kill(process.pid, signal.SIGCONT)
    await database.check()


async def test_a_replica_that_cannot_apply_becomes_a_copy(database: Database) -> None:
    """It is seen, although its server runs and goes on receiving."""
    number, replica = 10**12, database.replicas()[0]
    here = f"set sql_log_bin = 0; insert into notes.rows values ({number});"
    await Server(replica).execute("differ", SecretStr(here))
    await database.ask(f"insert into notes.rows values ({number})")
    stopped = partial(database.mariadb.engine.inspect, database.spec.id)
    await until(stopped, lambda state: state is not None and not state.running)
    async with database.written_to():
        await asyncio.sleep(0.2)
        await database.mend()
    await database.check()
    assert replica in database.replicas()
    last = str(max(database.acknowledged))

    async def read() -> bool:
        rows = await Server(replica).rows("read", "select max(id) as last from notes.rows")
        count = await Server(replica).rows("read", f"select id from notes.rows where id = {last}")
        return rows == [{"last": str(number)}] and len(count) == 1

    await until(read, bool)
    await database.ask(f"delete from notes.rows where id = {number}")


async def test_nodes_are_not_reached_beside_their_end(database: Database) -> None:
    """Whoever knows a node's port gets nowhere with it."""
    for node in database.folder.nodes():
        assert node.port is not None
        access = replace(database.access, port=node.port)
        assert not await database.mariadb.admits(access, database.spec)


async def test_asynchronous_replicas_do_not_lead_while_the_primary_can(
    mariadb: MariadbHarness,
) -> None:
    """They may lack what it has acknowledged."""
    spec = mariadb.spec(next(ids))
    spec = replace(spec, shape=replace(spec.shape, replication_type="asynch"))
    database = await _made(mariadb, spec)
    before = database.primary
    async with database.written_to():
        await asyncio.sleep(0.3)
        await kill(before)
        await database.mend()
    assert database.primary == before
    await database.check()
    await mariadb.engine.delete(spec.id)


async def test_a_primary_that_dies_while_replicas_apply_is_soon_back(
    mariadb: MariadbHarness, database: Database
) -> None:
    """Of a table without a key each changed row costs a replica a look at all of them."""
    await database.ask(
        "create table notes.keyless (a int, b varchar(40))",
        "insert into notes.keyless select seq, 'x' from notes.seq_1_to_20000",
        "update notes.keyless set b = concat(b, 1)",
    )
    former, began = database.primary, time.monotonic()
    await kill(former)
    assert await mariadb.reopen().ensure(database.spec) is False
    assert time.monotonic() - began < 60
    assert database.primary == former
    changed = await database.ask("select count(*), count(distinct b) from notes.keyless")
    assert changed == ((20_000, 1),)
    await database.ask("insert into notes.rows values (-1)", "delete from notes.rows")
    await database.ask("drop table notes.keyless")
    await database.mend()


async def _events_of(node: Folder) -> dict[str, str]:
    """The states of those in the schema `notes`, by name."""
    look = "select name, status from mysql.event where db = 'notes'"
    return {row["name"]: row["status"] for row in await Server(node).rows("look", look)}


_TICKS = (
    "create table notes.ticks (server int, number int auto_increment primary key)",
    "create event notes.tick on schedule every 1 second"
    " do insert into notes.ticks (server) values (@@server_id)",
    "create event notes.never on schedule every 1 second disable do drop table notes.ticks",
    "create event notes.paused on schedule every 1 hour starts now() + interval 1 hour"
    " do drop table notes.ticks",
    "alter event notes.paused disable",
    "alter event notes.tick comment 'runs'",
)
_STATES = {"tick": "ENABLED", "never": "DISABLED", "paused": "DISABLED"}
_DROPPED = (*(f"drop event notes.{name}" for name in _STATES), "drop table notes.ticks")


async def _ticks_at(database: Database) -> None:
    """Returns when the primary has run an event; that those which are disabled do not run shows as
    long as there is the table."""
    leads = int(database.primary.path.name.rpartition("-")[2])
    async with asyncio.timeout(60):
        while (leads,) not in await database.ask("select distinct server from notes.ticks"):
            await asyncio.sleep(0.1)
    assert await _events_of(database.primary) == _STATES


async def test_events_run_at_the_primary_alone_whoever_it_is(
    mariadb: MariadbHarness, database: Database
) -> None:
    await database.ask(*_TICKS)
    await mariadb.engine.archive(database.spec.id, 25_600)
    for _ in range(2):
        await _ticks_at(database)
        await kill(database.primary)
        await database.mend()
    await _ticks_at(database)
    for node in database.replicas():
        [row] = await Server(node).rows("look", "select @@event_scheduler as runs")
        assert row["runs"] == "OFF"
    await database.ask(*_DROPPED)


async def test_a_planned_change_of_the_primary_knows_each_event(
    mariadb: MariadbHarness, database: Database
) -> None:
    await database.ask(*_TICKS)
    before = database.primary
    await mariadb.engine.restart(database.spec)
    assert database.primary != before
    await _ticks_at(database)
    await database.ask(*_DROPPED)


async def test_an_event_that_nobody_asked_about_in_time_stays_disabled(
    mariadb: MariadbHarness, database: Database
) -> None:
    """Whether it was enabled died with the primary; those that were known go on."""
    await database.ask(*_TICKS)
    await mariadb.engine.archive(database.spec.id, 25_600)
    await database.ask(
        "alter event notes.tick disable",
        "create event notes.fresh on schedule every 1 second do set @ran = 1",
    )
    await kill(database.primary)
    await database.mend()
    undecided = {"tick": "SLAVESIDE_DISABLED", "fresh": "SLAVESIDE_DISABLED"}
    assert await _events_of(database.primary) == _STATES | undecided
    await database.ask("alter event notes.tick enable", "drop event notes.fresh")
    await _ticks_at(database)
    await database.ask(*_DROPPED)


async def test_all_nodes_know_time_zones(mariadb: MariadbHarness, database: Database) -> None:
    """Those of an earlier release once they have been looked after."""
    for node in database.folder.nodes():
        empty = "set sql_log_bin = 0; truncate table mysql.time_zone_name"
        await Server(node).execute("empty", SecretStr(empty))
    await database.mend()
    for node in database.folder.nodes():
        [row] = await Server(node).rows(
            "look", "select count(*) as zones from mysql.time_zone_name"
        )
        assert int(row["zones"]) > 300
