"""What clusters of PostgreSQL servers owe: nothing that was acknowledged is lost, whoever dies."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

import asyncpg
import pytest
import pytest_asyncio
import structlog

from roost.engines.postgresql.cluster import Cluster
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec, Fork, Hosts
from tests.engines.cluster_failures import FAILURES, Failure, cut_off, kill_replicas, stop_primary
from tests.engines.conftest import ids
from tests.engines.database_harness import PostgresqlHarness, kill, open_postgresql
from tests.engines.postgresql_writers import TABLE, Writers
from tests.support.client import until
from tests.support.databases import next_second

pytestmark = pytest.mark.managed_postgresql

_WRITERS = 4
_FAILOVERS = int(os.environ.get("ROOST_TEST_FAILOVERS", "2"))


class Database:
    """A cluster, and what clients of it were told is written."""

    def __init__(self, postgresql: PostgresqlHarness, spec: DatabaseSpec, access: Access) -> None:
        self.postgresql = postgresql
        self.spec = spec
        self.access = access
        self.writers = Writers(self.connect)
        self._connecting = asyncio.Lock()
        """Of clients that have an address of their own, as they get it by patching the loop."""

    @property
    def folder(self) -> Folder:
        return Folder.of(self.postgresql.root, self.spec.id)

    @property
    def primary(self) -> Folder:
        return Cluster(self.postgresql.engine._host, self.folder).primary

    def replicas(self) -> list[Folder]:
        return [node for node in self.folder.nodes() if node != self.primary]

    async def connect(self, access: Access | None = None) -> "asyncpg.Connection[asyncpg.Record]":
        async with self._connecting:
            return await self.postgresql.connect(access or self.access, self.spec)

    async def ask(self, *statements: str) -> None:
        await self.postgresql.ask(self.access, self.spec, *statements)

    async def ids(self, access: Access | None = None) -> set[int]:
        client = await self.connect(access)
        try:
            return {row[0] for row in await client.fetch("select id from rows")}
        finally:
            await client.close()

    async def mend(self) -> None:
        """What the control plane does as soon as it hears of the failure."""
        engine = self.postgresql.reopen()
        await engine.ensure(self.spec)
        await engine.rebuild(self.spec)

    async def check(self) -> None:
        """Nothing that was acknowledged is missing, and one node takes writes."""
        assert await self.ids() >= set(self.writers.acknowledged)
        state = await self.postgresql.engine.inspect(self.spec.id)
        assert state is not None
        assert state.running
        assert await self.writable() == [self.primary.path.name]

    async def writable(self) -> list[str]:
        found = []
        for node in self.folder.nodes():
            if await Server(node).value("read", "select pg_is_in_recovery()") == "f":
                found.append(node.path.name)
        return found


@pytest_asyncio.fixture(scope="module")
async def postgresql(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[PostgresqlHarness]:
    harness = await open_postgresql(tmp_path_factory.mktemp("clusters"), nodes=3)
    yield harness
    await harness.close()


async def _made(postgresql: PostgresqlHarness, spec: DatabaseSpec) -> Database:
    database = Database(postgresql, spec, await postgresql.engine.create(spec))
    await database.ask(TABLE)
    return database


@pytest_asyncio.fixture(scope="module")
async def database(postgresql: PostgresqlHarness) -> AsyncIterator[Database]:
    """One for all tests, each of which leaves it whole."""
    database = await _made(postgresql, postgresql.spec(next(ids)))
    yield database
    await postgresql.engine.delete(database.spec.id)


@FAILURES
async def test_nothing_acknowledged_is_lost(database: Database, fail: Failure, moves: bool) -> None:
    """Another node leads where it certainly has everything, else the primary comes back."""
    before = database.primary
    async with database.writers.writing(_WRITERS):
        await database.writers.written_again()
        await fail(database)
        await database.mend()
        await database.writers.written_again()
    assert (database.primary != before) == moves
    await database.check()


@pytest.mark.parametrize("seconds", [0.2, 0.7])
async def test_a_failover_that_is_interrupted_goes_on(database: Database, seconds: float) -> None:
    """Another worker takes it up, wherever it was left; at no moment do two take writes."""
    async with database.writers.writing(_WRITERS):
        await database.writers.written_again()
        await kill(database.primary)
        work = asyncio.create_task(database.mend())
        await asyncio.wait({work}, timeout=seconds)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await database.mend()
        await database.writers.written_again()
    await database.check()


async def test_a_restart_goes_round_and_ends_with_the_former_primary(database: Database) -> None:
    """Each server is another one then, on the data that it had: nothing is copied or lost."""
    before, nodes = database.primary, database.folder.nodes()
    data = [node.data.stat().st_ino for node in nodes]
    servers = [Server(node).process() for node in nodes]
    async with database.writers.writing(_WRITERS):
        await database.writers.written_again()
        await database.postgresql.engine.restart(database.spec)
        await database.writers.written_again()
    assert database.primary != before
    assert [node.data.stat().st_ino for node in nodes] == data
    assert not set(servers) & {Server(node).process() for node in nodes}
    await database.check()


async def test_a_restart_that_is_killed_goes_on(database: Database) -> None:
    """Between the former primary and the next one."""
    async with database.writers.writing(_WRITERS):
        work = asyncio.create_task(database.postgresql.engine.restart(database.spec))
        before = database.primary
        async with asyncio.timeout(120):
            while database.primary == before:
                await asyncio.sleep(0.005)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await database.mend()
        await database.writers.written_again()
    await database.check()


async def test_nothing_is_lost_while_the_nodes_do_not_reach_each_other(database: Database) -> None:
    """Commits wait for a replica; clients reach the primary all the time."""
    before = database.primary
    async with database.writers.writing(_WRITERS):
        await database.writers.written_again()
        async with cut_off(before):
            await asyncio.sleep(1)
        await database.mend()
        await database.writers.written_again()
    assert database.primary == before
    await database.check()


async def test_commits_wait_while_there_is_no_replica(database: Database) -> None:
    """A replica that comes back may be asked to lead before it has what it missed."""
    before = database.primary
    await kill_replicas(database)
    assert await database.postgresql.engine.ensure(database.spec)
    client = await database.connect()
    waiting = asyncio.ensure_future(client.execute("insert into rows values (-4)"))
    try:
        done, _ = await asyncio.wait({waiting}, timeout=1)
        assert not done
        await database.mend()
        await waiting
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        client.terminate()
    assert database.primary == before
    await database.check()


async def test_a_hanging_server_is_told_of(database: Database) -> None:
    faults = database.postgresql.reopen().faults()
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
    async with cut_off(former):
        client = await database.connect()
        await client.execute("set synchronous_commit = local; insert into rows values (-1)")
        client.terminate()
        await kill(former)
        await database.mend()
    assert database.primary != former
    assert -1 not in await database.ids()
    await database.check()


async def test_replicas_are_read_only_and_follow(database: Database) -> None:
    assert database.access.hosts.secondary is not None
    replica = replace(database.access, hosts=Hosts(database.access.hosts.secondary, None))
    await database.ask("insert into rows values (-2)")

    async def follows() -> bool:
        return -2 in await database.ids(replica)

    await until(follows, bool)
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await database.postgresql.ask(replica, database.spec, "insert into rows values (-3)")


async def test_nodes_are_not_reached_beside_their_end(database: Database) -> None:
    """Whoever knows a node's port gets nowhere with it."""
    for node in database.folder.nodes():
        assert node.port is not None
        access = replace(database.access, port=node.port)
        assert not await database.postgresql.admits(access, database.spec)


async def test_moments_before_and_after_a_failover_are_reached(database: Database) -> None:
    """What was written goes on from one server to the next one."""
    engine, spec = database.postgresql.engine, database.spec
    await engine.back_up(spec.id, 7, replica=True)
    moments = dict[str, datetime]()
    for mark in ("first", "second", "third"):
        await next_second()
        await database.postgresql.write(database.access, spec, mark)
        moments[mark] = await next_second()
        if mark == "first":
            await kill(database.primary)
            await database.mend()
        if mark == "second":
            await engine.restart(spec)
    await database.postgresql.write(database.access, spec, "last")
    state = await engine.inspect(spec.id)
    assert state is not None
    assert state.lost_logs == 0
    for mark in ("first", "third"):
        moment = moments[mark]
        other = database.postgresql.spec(next(ids))
        single = replace(other, shape=replace(other.shape, cluster_size=1))
        try:
            forked = await engine.create(single, Fork(spec.id, moment))
            assert await database.postgresql.read(forked, single) == mark
        finally:
            await engine.delete(single.id)
    await engine.delete_backup(spec.id, 7)


async def test_replicas_that_nobody_waits_for_do_not_lead_while_the_primary_can(
    postgresql: PostgresqlHarness,
) -> None:
    """They may lack what it has acknowledged."""
    spec = postgresql.spec(next(ids))
    spec = replace(spec, shape=replace(spec.shape, commit_type="local"))
    database = await _made(postgresql, spec)
    before = database.primary
    async with database.writers.writing(_WRITERS):
        await database.writers.written_again()
        await kill(before)
        await database.mend()
        await database.writers.written_again()
    assert database.primary == before
    await database.check()
    await postgresql.engine.delete(spec.id)


async def test_failovers_under_many_writers(database: Database) -> None:
    """One after the other, each as soon as it is told of; nobody's row is gone later."""
    before = len(database.writers.gaps)
    for _ in range(_FAILOVERS):
        former, faults = database.primary, database.postgresql.reopen().faults()
        async with asyncio.timeout(240), aclosing(faults), database.writers.writing(16):
            told = asyncio.ensure_future(anext(faults))
            await database.writers.written_again()
            await kill(former)
            assert await told == database.spec.id
            await database.mend()
            await database.writers.written_again()
        assert database.primary != former
        await database.check()
    gaps = sorted(round(gap, 2) for gap in database.writers.gaps[before:])
    structlog.get_logger().info("failovers", rows=len(database.writers.acknowledged), gaps=gaps)
