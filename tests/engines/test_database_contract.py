"""The contract of DatabaseEngine: every engine passes the same tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

import asyncpg
import pymysql
import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.resources.databases.engine import Access, DatabaseSpec, Fork
from tests.engines.conftest import ids
from tests.engines.database_harness import (
    FRIEND,
    STRANGER,
    ZONE,
    DatabaseHarness,
    SimulatedDatabaseHarness,
    open_mariadb,
    open_postgresql,
)
from tests.support.databases import next_second

_ENGINES = (
    ("simulated", 1, ()),
    ("simulated", 3, ()),
    ("mariadb", 1, pytest.mark.mariadb),
    ("mariadb", 3, pytest.mark.mariadb),
    ("postgresql", 1, pytest.mark.managed_postgresql),
    ("postgresql", 3, pytest.mark.managed_postgresql),
)
_ALIKE = {
    "test_a_new_database_is_empty_and_serves",
    "test_a_database_that_is_there_stays",
    "test_only_the_new_password_counts",
    "test_a_backup_that_is_gone_changes_nothing",
    "test_an_interrupted_backup_is_made_anew",
    "test_what_no_backup_needs_is_removed",
    "test_a_backup_is_verified_beside_the_database",
    "test_a_lost_server_is_told_of",
    "test_hosts_are_names_of_the_platforms_zone",
}
"""What three servers do by the same code as one, or show in other tests, too: of real ones only one
does it, as three take several times as long."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "databases" not in metafunc.fixturenames:
        return
    engines = [
        pytest.param((kind, nodes), id=f"{kind}, {nodes} nodes", marks=marks)
        for kind, nodes, marks in _ENGINES
        if nodes == 1 or kind == "simulated" or metafunc.function.__name__ not in _ALIKE
    ]
    metafunc.parametrize("databases", engines, indirect=True, scope="module")


@pytest_asyncio.fixture(scope="module")
async def databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DatabaseHarness]:
    state_dir = tmp_path_factory.mktemp("databases")
    harness: DatabaseHarness
    kind, nodes = request.param
    if kind == "mariadb":
        harness = await open_mariadb(state_dir, nodes)
    elif kind == "postgresql":
        harness = await open_postgresql(state_dir, nodes)
    else:
        harness = SimulatedDatabaseHarness(state_dir, nodes)
    yield harness
    await harness.close()


@pytest_asyncio.fixture
async def spec(databases: DatabaseHarness) -> AsyncIterator[DatabaseSpec]:
    """A database of this test alone, which is gone afterwards."""
    spec = databases.spec(next(ids))
    yield spec
    await databases.engine.delete(spec.id)


@pytest_asyncio.fixture
async def access(databases: DatabaseHarness, spec: DatabaseSpec) -> Access:
    """The database serves, and something is in it."""
    access = await databases.engine.create(spec)
    await databases.write(access, spec, "first")
    return access


async def running(databases: DatabaseHarness, spec: DatabaseSpec) -> bool | None:
    """None when nothing of it exists."""
    state = await databases.engine.inspect(spec.id)
    listed = [each for each in await databases.engine.list() if each.id == spec.id]
    assert [each.id for each in listed] == ([] if state is None else [spec.id])
    return None if state is None else state.running


async def test_a_healthy_engine_says_how_it_serves(databases: DatabaseHarness) -> None:
    health = await databases.engine.health()
    assert health.ok
    assert health.detail


async def test_it_makes_what_it_offers(databases: DatabaseHarness, spec: DatabaseSpec) -> None:
    assert databases.engine.objection(spec.shape) is None


async def test_a_new_database_is_empty_and_serves(
    databases: DatabaseHarness, spec: DatabaseSpec
) -> None:
    assert await running(databases, spec) is None
    access = await databases.engine.create(spec)
    assert access.ca_certificate.startswith("-----BEGIN CERTIFICATE-----")
    assert await databases.read(access, spec) == ""
    assert await running(databases, spec)


async def test_a_database_that_is_there_stays(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    assert await databases.reopen().create(spec) == access
    assert await databases.read(access, spec) == "first"


async def test_an_interrupted_creation_is_completed_or_removed(
    databases: DatabaseHarness, spec: DatabaseSpec
) -> None:
    for _ in range(2):
        work = asyncio.create_task(databases.engine.create(spec))
        await asyncio.sleep(0)
        while not work.done() and await databases.engine.inspect(spec.id) is None:
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await databases.engine.delete(spec.id)
        assert await running(databases, spec) is None
    work = asyncio.create_task(databases.engine.create(spec))
    await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    access = await databases.engine.create(spec)
    assert await databases.admits(access, spec)


async def test_only_the_allow_list_gets_in(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    for networks, friend, stranger in (
        (spec.allow_list, True, False),
        ((f"{STRANGER}/32",), False, True),
        (("127.0.0.0/8", f"{FRIEND}/32", "::/0"), True, True),
        ((), False, False),
        (("0.0.0.0/0",), True, True),
        (("10.0.0.0/8", "2001:db8::/32"), False, False),
    ):
        for _ in range(2):
            await databases.engine.set_allow_list(spec.id, networks)
        assert await databases.admits(access, spec, FRIEND) == friend
        assert await databases.admits(access, spec, STRANGER) == stranger


async def test_only_the_new_password_counts(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    changed = replace(spec, password="other654321XYZ")
    for _ in range(2):
        await databases.engine.set_password(changed)
    assert not await databases.admits(access, spec)
    assert await databases.admits(access, changed)


async def test_a_server_that_died_serves_again(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    await databases.crash(spec.id)
    assert await running(databases, spec) is False
    assert not await databases.admits(access, spec)
    for _ in range(2):
        await databases.reopen().ensure(spec)
        await databases.reopen().rebuild(spec)
    assert await running(databases, spec)
    assert await databases.read(access, spec) == "first"


async def test_a_restart_keeps_all(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    larger = replace(spec, memory=2048, allow_list=(f"{FRIEND}/32",))
    for _ in range(2):
        await databases.engine.restart(larger)
    assert await databases.read(access, spec) == "first"


async def test_a_backup_is_put_back(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    for _ in range(2):
        await databases.engine.back_up(spec.id, 7, replica=False)
    await databases.write(access, spec, "second")
    await databases.engine.back_up(spec.id, 8, replica=True)
    state = await databases.engine.inspect(spec.id)
    assert state is not None
    assert state.backups == (7, 8)
    changed = replace(spec, password="other654321XYZ")
    again = ((7, "first"), (7, "first")) if spec.shape.cluster_size == 1 else ()
    for backup_id, mark in ((7, "first"), (8, "second"), *again):
        await databases.engine.restore(changed, backup_id)
        assert await databases.read(access, changed) == mark
    assert not await databases.admits(access, spec)
    assert not await databases.admits(access, changed, STRANGER)


async def test_a_backup_that_is_gone_changes_nothing(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    await databases.engine.back_up(spec.id, 7, replica=False)
    for _ in range(2):
        await databases.engine.delete_backup(spec.id, 7)
    with pytest.raises(EngineError):
        await databases.engine.restore(spec, 7)
    assert await databases.read(access, spec) == "first"


async def test_an_interrupted_backup_is_made_anew(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    work = asyncio.create_task(databases.engine.back_up(spec.id, 7, replica=False))
    await asyncio.sleep(0.02)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    await databases.write(access, spec, "second")
    await databases.engine.back_up(spec.id, 7, replica=False)
    await databases.write(access, spec, "third")
    await databases.engine.restore(spec, 7)
    assert await databases.read(access, spec) == "second"


async def test_a_fork_has_what_was_there_at_a_moment(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    early = await next_second()
    await databases.engine.back_up(spec.id, 7, replica=True)
    await next_second()
    await databases.write(access, spec, "second")
    moment = await next_second()
    await databases.write(access, spec, "third")
    state = await databases.engine.inspect(spec.id)
    assert state is not None
    assert state.oldest_moment is not None
    assert early <= state.oldest_moment <= moment
    other = replace(databases.spec(next(ids)), password="other654321XYZ")
    try:
        with pytest.raises(EngineError):
            await databases.engine.create(other, Fork(spec.id, early))
        await databases.engine.delete(other.id)
        for _ in range(2):
            forked = await databases.reopen().create(other, Fork(spec.id, moment))
            assert await databases.read(forked, other) == "second"
        await databases.engine.delete(spec.id)
        assert await databases.read(forked, other) == "second"
        assert await databases.admits(forked, other)
        assert await running(databases, other)
    finally:
        await databases.engine.delete(other.id)


async def test_what_no_backup_needs_is_removed(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    for backup_id in (7, 8):
        await databases.engine.back_up(spec.id, backup_id, replica=False)
        await next_second()
        await databases.write(access, spec, "more")
        await databases.engine.archive(spec.id, 1024)
    oldest = []
    for gone in (9, 7, 8):
        await databases.engine.delete_backup(spec.id, gone)
        state = await databases.engine.inspect(spec.id)
        assert state is not None
        assert (state.lost_logs, state.spare_logs) == (0, 0)
        oldest.append(state.oldest_moment)
    assert oldest[0] is not None
    assert oldest[1] is not None
    assert oldest[0] < oldest[1]
    assert oldest[2] is None


async def test_a_backup_is_verified_beside_the_database(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    await databases.engine.back_up(spec.id, 7, replica=False)
    await databases.write(access, spec, "second")
    for _ in range(2):
        await databases.engine.verify(spec, 7)
    with pytest.raises(EngineError):
        await databases.engine.verify(spec, 8)
    await databases.engine.tidy(spec.id)
    assert await databases.read(access, spec) == "second"
    assert await running(databases, spec)


async def test_what_does_not_exist_cannot_be_used(
    databases: DatabaseHarness, spec: DatabaseSpec
) -> None:
    for work in (
        databases.engine.ensure(spec),
        databases.engine.rebuild(spec),
        databases.engine.restart(spec),
        databases.engine.set_allow_list(spec.id, ()),
        databases.engine.set_password(spec),
        databases.engine.limit_writes(spec),
        databases.engine.free(spec.id),
        databases.engine.back_up(spec.id, 1, replica=False),
        databases.engine.restore(spec, 1),
        databases.engine.archive(spec.id, 1024),
        databases.engine.verify(spec, 1),
        databases.engine.create(replace(spec, id=next(ids)), Fork(spec.id, datetime(2030, 1, 1))),
    ):
        with pytest.raises(EngineError):
            await work
    await databases.engine.delete_backup(spec.id, 1)
    await databases.engine.delete(spec.id)
    assert await running(databases, spec) is None


async def test_nothing_is_left_of_a_deleted_database(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    await databases.engine.back_up(spec.id, 7, replica=False)
    for _ in range(2):
        await databases.engine.delete(spec.id)
        assert await running(databases, spec) is None
    access = await databases.engine.create(spec)
    assert await databases.read(access, spec) == ""


async def test_all_servers_end_and_come_back(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    for _ in range(2):
        await databases.engine.shut_down()
        assert await running(databases, spec) is False
    await databases.engine.ensure(spec)
    await databases.engine.rebuild(spec)
    assert await databases.read(access, spec) == "first"
    assert await running(databases, spec)


async def test_a_full_disk_is_read_and_cleared(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    full = replace(spec, full=True)
    for work in (
        *(databases.engine.limit_writes(full), databases.reopen().limit_writes(full)),
        *(databases.engine.set_password(full), databases.engine.restart(full)),
    ):
        await work
        with pytest.raises((EngineError, pymysql.Error, asyncpg.PostgresError)):
            await databases.write(access, spec, "second")
        assert await databases.read(access, spec) == "first"
    await databases.clear(access, spec)
    for _ in range(2):
        await databases.engine.limit_writes(spec)
        await databases.write(access, spec, "third")
    assert await databases.read(access, spec) == "third"


async def test_what_is_freed_can_still_be_forked(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    await databases.engine.back_up(spec.id, 7, replica=True)
    await next_second()
    await databases.write(access, spec, "second")
    moment = await next_second()
    for _ in range(2):
        await databases.engine.free(spec.id)
        await databases.write(access, spec, "third")
    await databases.engine.archive(spec.id, 1024)
    assert await running(databases, spec)
    other = databases.spec(next(ids))
    single = replace(other.shape, cluster_size=1, replication_type="none")
    other = replace(other, shape=single)
    try:
        forked = await databases.engine.create(other, Fork(spec.id, moment))
        assert await databases.read(forked, other) == "second"
    finally:
        await databases.engine.delete(other.id)


async def test_a_lost_server_is_told_of(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    async with asyncio.timeout(120), aclosing(databases.engine.faults()) as faults:
        first = asyncio.ensure_future(anext(faults))
        await asyncio.sleep(0)
        await databases.crash(spec.id)
        assert await first == spec.id


async def test_hosts_are_names_of_the_platforms_zone(
    databases: DatabaseHarness, spec: DatabaseSpec, access: Access
) -> None:
    """Clients are told what was known before there was a server."""
    hosts = databases.engine.hosts(spec.id, spec.shape.cluster_size)
    assert access.hosts == hosts
    assert (hosts.secondary is not None) == (spec.shape.cluster_size > 1)
    assert hosts.primary.name == f"database-{spec.id}.{ZONE}"
    assert all(host.name.endswith(f".{ZONE}") for host in hosts.named)
    assert hosts.named == hosts.all
