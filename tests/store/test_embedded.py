"""The server of our own: starts, adoption, recovery, and who may reach it."""

import asyncio
import os
import signal
import stat
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest

from roost.store import migrate, postmaster
from roost.store.cluster import SETTINGS, ClusterError
from roost.store.embedded import EmbeddedServer
from roost.store.pool import connect
from roost.store.postmaster import Postmaster
from tests.support.database import programs

OPTIONS = {name: value for name, value in SETTINGS.items() if name != "io_method"}


def make(state: Path) -> EmbeddedServer:
    return EmbeddedServer(state, programs(), OPTIONS)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    server = make(tmp_path)
    await server.start()
    yield server
    await server.stop()


def running(server: EmbeddedServer) -> Postmaster:
    found = server.cluster.postmaster()
    assert found is not None
    return found


def is_ready(server: EmbeddedServer) -> bool:
    found = server.cluster.postmaster()
    return found is not None and found.ready


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2400):
        if condition():
            return
        await asyncio.sleep(0.05)
    pytest.fail("not within two minutes")


async def insert(dsn: str, number: int) -> None:
    connection = await connect(dsn)
    await connection.execute("create table if not exists kept (number int)")
    await connection.execute("insert into kept values ($1)", number)
    await connection.close()


async def numbers(dsn: str) -> list[int]:
    connection = await connect(dsn)
    rows = await connection.fetch("select number from kept order by number")
    await connection.close()
    return [row["number"] for row in rows]


def kill_all(server: EmbeddedServer) -> None:
    """What a power cut does, short of the disk: every process dies at once."""
    for pid in postmaster.processes(server.cluster.data):
        os.kill(pid, signal.SIGKILL)


async def test_rows_survive_an_orderly_stop(server: EmbeddedServer) -> None:
    await insert(server.dsn, 1)
    pid = running(server).pid
    begin = time.monotonic()
    await server.stop()
    assert time.monotonic() - begin < 45
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert server.cluster.postmaster() is None
    await server.start()
    assert await numbers(server.dsn) == [1]


async def test_an_open_connection_does_not_delay_the_stop(server: EmbeddedServer) -> None:
    connection = await connect(server.dsn)
    begin = time.monotonic()
    await server.stop()
    assert time.monotonic() - begin < 45
    connection.terminate()


async def test_settings_reach_the_server(server: EmbeddedServer) -> None:
    connection = await connect(server.dsn)
    for name, value in {"jit": "off", "fsync": "on", "max_connections": "200"}.items():
        assert await connection.fetchval(f"show {name}") == value
    await connection.close()


async def test_only_its_owner_reaches_the_socket(server: EmbeddedServer) -> None:
    connection = await connect(server.dsn)
    assert await connection.fetchval("show listen_addresses") == ""
    await connection.close()
    for path in (server.cluster.sockets, server.cluster.data, server.cluster.directory):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


async def test_a_deep_state_directory_gets_a_short_socket_path(tmp_path: Path) -> None:
    server = make(tmp_path / ("d" * 90) / ("e" * 90))
    await server.start()
    try:
        assert len(str(server.cluster.sockets)) < 40
        await insert(server.dsn, 1)
    finally:
        await server.stop()
    assert not server.cluster.sockets.exists()


async def test_somebody_elses_socket_directory_is_refused(tmp_path: Path) -> None:
    server = make(tmp_path / ("d" * 90) / ("e" * 90))
    server.cluster.sockets.symlink_to(tmp_path)
    try:
        with pytest.raises(ClusterError, match="belongs to somebody else"):
            await server.start()
    finally:
        server.cluster.sockets.unlink()


async def test_acknowledged_rows_survive_a_crash_and_the_server_returns(
    server: EmbeddedServer,
) -> None:
    await insert(server.dsn, 1)
    pid = running(server).pid
    kill_all(server)
    await until(lambda: is_ready(server) and running(server).pid != pid)
    assert await numbers(server.dsn) == [1]


async def test_a_killed_postmaster_alone_is_recovered(server: EmbeddedServer) -> None:
    connection = await connect(server.dsn)
    await connection.execute("create table kept (number int); insert into kept values (1)")
    os.kill(running(server).pid, signal.SIGKILL)
    await server.stop()
    await server.start()
    connection.terminate()
    assert await numbers(server.dsn) == [1]


async def test_a_stale_lock_file_with_the_number_of_another_process(tmp_path: Path) -> None:
    server = make(tmp_path)
    await server.start()
    lock = server.cluster.data / "postmaster.pid"
    lines = lock.read_text().splitlines()
    kill_all(server)
    await server.stop()
    lock.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    await server.start()
    await insert(server.dsn, 1)
    await server.stop()


async def test_a_half_made_data_directory_is_made_again(tmp_path: Path) -> None:
    fresh = tmp_path / "postgres" / "fresh"
    fresh.mkdir(parents=True)
    (fresh / "PG_VERSION").write_text("18")
    server = make(tmp_path)
    await server.start()
    await insert(server.dsn, 1)
    await server.stop()


async def test_a_broken_data_directory_says_why(tmp_path: Path) -> None:
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True, mode=0o700)
    (data / "PG_VERSION").write_text("9.6")
    with pytest.raises(ClusterError, match=r"postgresql\.conf"):
        await make(tmp_path).start()


async def test_a_guest_shares_the_server_and_takes_over(tmp_path: Path) -> None:
    first, guest = make(tmp_path), make(tmp_path)
    await first.start()
    await guest.start()
    pid = running(first).pid
    assert (first.supervises, guest.supervises) == (True, False)
    await insert(guest.dsn, 1)
    await first.stop()
    await until(lambda: guest.supervises and is_ready(guest))
    assert running(guest).pid != pid
    assert await numbers(guest.dsn) == [1]
    await guest.stop()
    assert guest.cluster.postmaster() is None


async def test_a_guest_that_stops_leaves_the_server(server: EmbeddedServer, tmp_path: Path) -> None:
    guest = make(tmp_path)
    await guest.start()
    await guest.stop()
    await insert(server.dsn, 1)


async def test_connections_are_refused_when_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises((OSError, asyncpg.PostgresError)):
        await connect(make(tmp_path).dsn)


async def test_the_application_is_no_superuser(server: EmbeddedServer, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    connection = await connect(server.dsn)
    try:
        await connection.execute("create table kept (number int)")
        for statement in (
            f"copy (select 1) to program 'touch {mark}'",
            f"copy (select 1) to '{mark}'",
            "copy kept from '/etc/hostname'",
            "create extension dblink",
            "alter role roost superuser",
        ):
            with pytest.raises(
                (asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError)
            ):
                await connection.execute(statement)
        assert not await connection.fetchval("select rolsuper from pg_roles where rolname = user")
    finally:
        await connection.close()
    assert not mark.exists()


async def test_a_state_of_an_earlier_release_gets_its_owner(tmp_path: Path) -> None:
    """There the superuser owned everything."""
    server = make(tmp_path)
    await server.cluster.launch()
    await migrate.upgrade(server.cluster.dsn())
    old = await connect(server.cluster.dsn())
    await old.execute("insert into setting values ('kept', '1')")
    await old.close()
    await server.cluster.stop()

    for _ in range(2):
        server = make(tmp_path)
        await server.start()
        await migrate.upgrade(server.dsn)
        connection = await connect(server.dsn)
        assert await connection.fetchval("select value from setting where key = 'kept'") == "1"
        await connection.close()
        await server.stop()


async def test_its_log_is_nobody_elses(server: EmbeddedServer) -> None:
    assert stat.S_IMODE(server.cluster.log.stat().st_mode) == 0o600
