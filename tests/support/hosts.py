"""A second host of a Roost: a worker with engines of its own, beside the server of a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from roost.app.fsck import check_all
from roost.app.operator import hosts
from roost.app.roost import Roost, open_roost
from roost.app.serve import work
from roost.core.hosts import queries
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.leftover_jobs import left_on
from roost.settings import MAIN_HOST
from tests.jobs import bench
from tests.support.client import Client, Contract, Json, until
from tests.support.database import DatabaseServer
from tests.support.instances import made
from tests.support.server import running_roost, simulated

REGION = "us-lake"


@asynccontextmanager
async def running_host(main: Roost, name: str, state: Path, **more: object) -> AsyncIterator[Roost]:
    """A worker of the host, which serves all regions when the block begins."""
    changed = {"host": name, "state": state, "key_file": main.settings.sealing_key, **more}
    settings = main.settings.model_copy(update=changed)
    async with open_roost(settings) as roost:
        ready, stop = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(work(roost, ready.set, stop))
        try:
            await bench.until(lambda: _serves(main, name), seconds=60)
            yield roost
        finally:
            stop.set()
            await task


async def _serves(main: Roost, name: str) -> bool:
    facts = await queries.find(main.store, name)
    if main.settings.host_listen is not None and (facts is None or facts.address is None):
        return False
    for region in main.catalog.regions:
        rooms = await queries.serving(main.store, region.id)
        if name not in {each.host for each in rooms}:
            return False
    return True


@dataclass(frozen=True)
class Main:
    """A cloud whose other hosts come and go."""

    main: Roost
    client: Client

    async def host_of(self, compute_id: int) -> str:
        host: str = await self.main.store.fetchval(
            "select host from compute_instance where id = $1", compute_id
        )
        return host

    @asynccontextmanager
    async def placing_on(self, host: str) -> AsyncIterator[None]:
        """Nothing is placed on other hosts meanwhile."""
        store = self.main.store
        others = await store.fetch("select name from host where name <> $1 and state = 'up'", host)
        for each in others:
            await hosts.close(store, each["name"])
        try:
            yield
        finally:
            for each in others:
                await hosts.undrain(store, each["name"])

    async def made_on(self, host: str, **changes: object) -> Json:
        """A new instance there."""
        async with self.placing_on(host):
            row = await made(self.client, **changes)
        assert await self.host_of(row["id"]) == host
        return row


@asynccontextmanager
async def main_host(server: DatabaseServer, folder: Path) -> AsyncIterator[Main]:
    """`main`, of simulated engines; others reach it."""
    async with (
        server.database() as url,
        running_roost(simulated(folder / "main", url, host_listen="127.0.0.1:0")) as running,
        aiohttp.ClientSession() as session,
    ):
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        client = Client(session, contract, running.url).as_user(running.token)
        yield Main(running.roost, client)


@dataclass(frozen=True)
class Pair(Main):
    """A cloud of two hosts."""

    other: Roost

    def roost(self, host: str) -> Roost:
        return self.main if host == MAIN_HOST else self.other

    async def gone(self, compute_id: int, host: str) -> None:
        """When a host has dropped what it had of an instance."""
        status = "select count(*) from job where resource = $1 and finished is null"
        resource = left_on(compute_id, host)
        await until(partial(self.main.store.fetchval, status, resource), lambda found: found == 0)

    async def guests(self, host: str) -> set[int]:
        engine = self.roost(host).services.get(Engines).of(INSTANCE_PLANE, REGION)
        return {guest.id for guest in await engine.list()}


@asynccontextmanager
async def two_hosts(server: DatabaseServer, folder: Path) -> AsyncIterator[Pair]:
    """`main` and `b`, of simulated engines; each is reached at an address of its own."""
    async with (
        main_host(server, folder) as cloud,
        running_host(cloud.main, "b", folder / "b", host_listen="127.0.0.2:0") as other,
    ):
        yield Pair(cloud.main, cloud.client, other)


async def sound(pair: Pair) -> None:
    for roost in (pair.main, pair.other):
        lines = list[str]()
        await check_all(roost, False, lines.append)
        assert lines == [], lines
