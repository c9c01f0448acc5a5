"""The store: transactions, values, a pool without reset queries."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import asyncpg
import pytest

from roost.settings import Settings
from roost.store import FAULTS, Connection, Queries, Store, migrate
from roost.store.pool import Pool, Share, connect
from tests.support.client import until

INSERT = "insert into setting values ($1, $2)"


async def test_a_transaction_commits_at_its_end(store: Store) -> None:
    async with store.transaction() as connection:
        await connection.execute(INSERT, "a", "1")
        assert await store.fetch("select * from setting") == []
    assert await store.fetchval("select count(*) from setting") == 1


async def test_a_transaction_rolls_back_on_an_exception(store: Store) -> None:
    async def fail() -> None:
        async with store.transaction() as connection:
            await connection.execute(INSERT, "a", "1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await store.fetchrow("select * from setting") is None


async def test_what_is_rehearsed_is_taken_back(store: Store) -> None:
    await store.execute("create table thing (id int unique deferrable initially deferred)")

    async def write(connection: Connection) -> int:
        await connection.execute("insert into thing values (1)")
        found: int = await connection.fetchval("select count(*) from thing")
        return found

    assert [await store.rehearse(write) for _ in range(2)] == [1, 1]
    assert await store.fetchval("select count(*) from thing") == 0
    await store.commit(write)
    with pytest.raises(asyncpg.UniqueViolationError):
        await store.rehearse(write)  # What a commit would find is found.


async def test_a_cancelled_transaction_rolls_back(store: Store) -> None:
    started = asyncio.Event()

    async def write() -> None:
        async with store.transaction() as connection:
            await connection.execute(INSERT, "a", "1")
            started.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(write())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.fetchval("select count(*) from setting") == 0


async def test_the_isolation_is_read_committed(store: Store) -> None:
    async with store.transaction() as connection:
        assert await connection.fetchval("show transaction_isolation") == "read committed"


async def test_json_comes_back_as_text(store: Store) -> None:
    await store.execute(INSERT, "a", '{"b": [1, null]}')
    assert await store.fetchval("select value from setting") == '{"b": [1, null]}'
    assert await store.fetchval("select '{ }'::json") == "{ }"


async def test_sessions_are_in_utc(store: Store) -> None:
    assert await store.fetchval("show timezone") == "UTC"
    found = await store.fetchval("select to_timestamp(0)::timestamp")
    assert found == datetime(1970, 1, 1)


async def test_both_a_store_and_a_connection_run_queries(store: Store) -> None:
    async def count(db: Queries) -> int:
        found: int = await db.fetchval("select count(*) from setting")
        return found

    async with store.transaction() as connection:
        await connection.execute(INSERT, "a", "1")
        assert await count(connection) == 1
    assert await count(store) == 1


async def read(connection: Connection) -> None:
    assert await connection.fetchval("show transaction_isolation") == "read committed"


async def ask_simply(connection: Connection) -> None:
    await connection.execute("select 1")


async def copy(connection: Connection) -> None:
    await connection.copy_records_to_table("setting", columns=("key", "value"), records=[])


async def do_nothing(connection: Connection) -> None:
    pass


@pytest.mark.parametrize("first", [read, ask_simply, copy, do_nothing])
async def test_a_transaction_begins_with_its_first_statement(
    store: Store, first: Callable[[Connection], Awaitable[None]]
) -> None:
    async def write(name: str, number: str) -> None:
        async with store.transaction() as connection:
            await first(connection)
            await connection.execute(INSERT, name, "1")
            await connection.fetchval("select 1 / $1::text::int", number)

    for number in range(2):  # The second time with statements that are prepared.
        await write(f"kept {number}", "1")
        with pytest.raises(asyncpg.DivisionByZeroError):
            await write(f"lost {number}", "0")
        async with store.transaction() as connection:
            await first(connection)
    assert store.pool.used == 0
    keys = await store.fetch("select key from setting order by key")
    assert [row["key"] for row in keys] == ["kept 0", "kept 1"]


async def test_a_statement_goes_on_after_a_change_of_its_table(store: Store) -> None:
    """A prepared one is prepared anew; within a transaction it fails, and the next one goes on."""
    await store.execute("create table changed (id int)")
    query = "select * from changed"
    try:
        await store.fetch(query)
        await store.execute("insert into changed values (1)")
        await store.execute("alter table changed add column more int default 2")
        assert [tuple(row) for row in await store.fetch(query)] == [(1, 2)]
        await store.execute("alter table changed drop column more")
        with pytest.raises(asyncpg.InvalidCachedStatementError):
            await store.commit(lambda connection: connection.fetch(query))
        assert [tuple(row) for row in await store.fetch(query)] == [(1,)]
    finally:
        await store.execute("drop table changed")


async def test_releasing_a_connection_costs_no_round_trip(store: Store) -> None:
    queries: list[str] = []
    async with store.pool.acquire() as connection:
        connection.add_query_logger(lambda record: queries.append(record.query))
    await store.fetchval("select 1")
    await store.fetchval("select 1")
    await asyncio.sleep(0)  # Loggers are called soon, not at once.
    assert queries == ["select 1", "select 1"]


async def test_a_pool_opens_no_more_connections_than_it_may(database_url: str) -> None:
    pool = Pool(database_url, Share(connections=2))
    async with pool.acquire() as first, pool.acquire() as second:
        third = asyncio.create_task(pool.take())
        await asyncio.sleep(0.05)
        assert not third.done()
    assert await third in (first, second)
    pool.give_back(third.result())
    await pool.close()


async def test_a_connection_that_was_lost_is_replaced(store: Store) -> None:
    async with store.transaction() as other:
        lost = await store.fetchval("select pg_backend_pid()")
        assert await other.fetchval("select pg_terminate_backend($1, 5000)", lost)
        assert await until(lambda: backend(store), lambda pid: pid is not None) != lost


async def backend(store: Store) -> int | None:
    """PostgreSQL says that it ends a connection a moment before it does: a request may see that."""
    with contextlib.suppress(*FAULTS):
        pid: int = await store.fetchval("select pg_backend_pid()")
        return pid
    return None


async def test_a_connection_in_an_open_transaction_is_not_used_again(store: Store) -> None:
    async with store.pool.acquire() as connection:
        await connection.execute("begin")
        left = connection.get_server_pid()
    assert await store.fetchval("select pg_backend_pid()") != left


async def test_a_cancelled_query_leaves_a_store_that_works(store: Store) -> None:
    for _ in range(20):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await store.execute("select pg_sleep(3)")
    await store.fetchval("select 1")
    query = "select count(*) from pg_stat_activity where query = 'select pg_sleep(3)'"
    await until(lambda: store.fetchval(query), lambda count: count == 0)


async def test_a_cancelled_transaction_loses_no_writes_of_the_next_user(
    database_url: str,
) -> None:
    """The server may begin a transaction whose beginning was cancelled here."""
    pool = Pool(database_url, Share(connections=1))
    async with pool.acquire() as connection:
        await connection.execute("create table one (n int)")
    for delay in (0, 1, 2, 3, 5, 8):
        begun = asyncio.create_task(_begin(pool))
        for _ in range(delay):
            await asyncio.sleep(0)
        begun.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await begun
        async with pool.acquire() as connection:
            assert not connection.is_in_transaction()
            await connection.execute("insert into one values (1)")
    async with pool.acquire() as connection:
        assert await connection.fetchval("select count(*) from one") == 6
    await pool.close()


async def _begin(pool: Pool) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("select 1")


async def test_a_deadlock_is_broken_by_trying_once_more(store: Store) -> None:
    await store.execute("insert into setting values ('a', '0'), ('b', '0')")
    meeting, attempts = asyncio.Barrier(2), Counter[str]()

    async def work(db: Queries, first: str, second: str) -> None:
        attempts[first] += 1
        add = "update setting set value = (value::text::int + 1)::text::jsonb where key = $1"
        await db.execute(add, first)
        if attempts[first] == 1:
            await meeting.wait()
        await db.execute(add, second)

    await asyncio.gather(
        store.commit(lambda db: work(db, "a", "b")), store.commit(lambda db: work(db, "b", "a"))
    )
    rows = await store.fetch("select value::text from setting order by key")
    assert [row["value"] for row in rows] == ["2", "2"]
    assert attempts.total() == 3


async def test_a_share_has_connections_of_its_own(database_url: str) -> None:
    store = await Store.open(Settings(database_url=database_url, job_connections=1))
    share = store.share(Share(connections=1, statement=0.5, idle=0.5, wait=0.5))
    try:
        async with store.pool.acquire(), share.pool.acquire():
            assert await store.reserved.fetchval("select 1") == 1
            with pytest.raises(TimeoutError):
                await share.fetchval("select 1")
        with pytest.raises(asyncpg.QueryCanceledError):
            await share.execute("select pg_sleep(20)")
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError)):
            await linger(share)
        assert await until(lambda: backend(share), lambda pid: pid is not None)
    finally:
        await store.close()


async def linger(store: Store) -> None:
    """Pause in a transaction until the server has had enough."""
    async with store.transaction() as connection:
        await connection.execute("select 1")
        async with asyncio.timeout(60):
            while not connection.is_closed():
                await asyncio.sleep(0.01)
        await connection.execute("select 1")


async def test_a_query_that_hangs_does_not_hang_the_stop(database_url: str) -> None:
    store = await Store.open(Settings(database_url=database_url))
    query = asyncio.create_task(store.execute("select pg_sleep(100)"))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(60):
        await store.close()
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await query


async def test_a_store_without_a_url_has_its_own_server(tmp_path: Path) -> None:
    store = await Store.open(Settings(state=tmp_path, database_url=None))
    await migrate.upgrade(store.dsn)
    await store.execute(INSERT, "a", "1")
    await store.close()
    store = await Store.open(Settings(state=tmp_path, database_url=None))
    assert await store.fetchval("select count(*) from setting") == 1
    await store.close()
    with pytest.raises(OSError, match=r"."):
        await connect(store.dsn)


async def test_ping_fails_when_the_database_is_gone(store: Store) -> None:
    await store.fetchval("select 1")
    await store.pool.close()
    with pytest.raises(asyncpg.InterfaceError):
        await store.fetchval("select 1")
