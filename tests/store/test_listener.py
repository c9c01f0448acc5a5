"""Notifications, also after the server was restarted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from roost.settings import Settings
from roost.store import FAULTS, Store, notify
from roost.store.cluster import SETTINGS
from roost.store.embedded import EmbeddedServer
from tests.support.database import programs


class Inbox:
    """Collects payloads; `until` waits for one of them."""

    def __init__(self) -> None:
        self.payloads: list[str] = []
        self._news = asyncio.Event()

    def put(self, payload: str) -> None:
        self.payloads.append(payload)
        self._news.set()

    async def until(self, condition: Callable[[list[str]], bool]) -> None:
        async with asyncio.timeout(120):
            while not condition(self.payloads):
                self._news.clear()
                await self._news.wait()


async def test_each_channel_has_its_listeners(store: Store) -> None:
    red, blue = Inbox(), Inbox()
    await store.listen("red", red.put)
    await store.listen("blue", blue.put)
    await store.listen("blue", red.put)
    await store.notify("red", "1")
    await store.notify("blue", "2")
    await blue.until(lambda found: found == ["2"])
    await red.until(lambda found: found == ["1", "2"])


async def test_a_notification_waits_for_the_commit(store: Store) -> None:
    inbox = Inbox()
    await store.listen("red", inbox.put)
    async with store.transaction() as connection:
        await notify(connection, "red", "later")
        await store.notify("red", "at once")
        await inbox.until(lambda found: found == ["at once"])
    await inbox.until(lambda found: found == ["at once", "later"])


async def test_a_killed_connection_comes_back(store: Store) -> None:
    inbox = Inbox()
    await store.listen("red", inbox.put)
    await store.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where datname = current_database() and pid <> pg_backend_pid()"
    )
    await inbox.until(lambda found: found == [""])
    await store.notify("red", "again")
    await inbox.until(lambda found: found == ["", "again"])


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    settings = {name: value for name, value in SETTINGS.items() if name != "io_method"}
    server = EmbeddedServer(tmp_path, programs(), settings)
    await server.start()
    yield server
    await server.stop()


async def test_listeners_and_pool_survive_a_restart_of_the_server(server: EmbeddedServer) -> None:
    store = await Store.open(Settings(database_url=server.dsn))
    inbox = Inbox()
    await store.listen("red", inbox.put)
    await server.stop()
    with pytest.raises(FAULTS):  # Which of them depends on how far the end of the server has come.
        await store.fetchval("select 1")
    await server.start()
    await store.fetchval("select 1")
    await inbox.until(lambda found: found == [""])
    await store.notify("red", "again")
    await inbox.until(lambda found: found[-1] == "again")
    await store.close()
