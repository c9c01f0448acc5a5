"""A server of our own stops at once, whatever goes on, and keeps what it has acknowledged."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path

import aiohttp
import pytest

from roost.core.engine import EngineError
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, Wanted
from tests.support.s3 import S3Client, client_of
from tests.support.seaweed import sockets

pytestmark = pytest.mark.seaweedfs

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
PHOTOS = BucketSpec("photos", "1-20300131", "private", False)
WRITERS, SECONDS = 4, 12.0
"""The bounds of both programs are 2.4 s together; the rest is a busy machine's. By itself `weed`
would take 15 s."""
_GONE = (aiohttp.ClientError, ConnectionError)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path / "one"))
    yield engine
    await engine.shut_down()


async def put_all(client: S3Client, number: int, kept: dict[str, bytes], lost: set[str]) -> None:
    """Objects one after the other, each second one deleted again, until the server is gone."""
    for count in range(10_000):
        name, body = f"{number}-{count}", f"{number} {count} ".encode() * 500
        with suppress(*_GONE):
            if await client.status("PUT", f"photos/{name}", body) == 200:
                kept[name] = body
                if count % 2:
                    del kept[name]
                    if await client.status("DELETE", f"photos/{name}") == 204:
                        lost.add(name)
                continue
        return


async def stay(engine: OwnObjects) -> None:
    with suppress(EngineError):
        async with aclosing(engine.made()) as made:
            async for _ in made:
                pass


async def never_ends() -> AsyncIterator[bytes]:
    while True:
        yield bytes(10_000)
        await asyncio.sleep(0.05)


async def upload(client: S3Client) -> None:
    with suppress(*_GONE):
        await client.stream("photos/endless", never_ends())


async def test_nothing_acknowledged_is_lost(engine: OwnObjects) -> None:
    """While clients write, one sends a body without end, one is silent, and one listens."""
    await engine.put_bucket(PHOTOS)
    await engine.put_key(KEY)
    kept, lost = dict[str, bytes](), set[str]()
    url = await engine.endpoint()
    _, silent = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    async with client_of(url, KEY) as client, asyncio.TaskGroup() as tasks:
        tasks.create_task(stay(engine))
        tasks.create_task(upload(client))
        for number in range(WRITERS):
            tasks.create_task(put_all(client, number, kept, lost))
        while len(kept) < 40:
            await asyncio.sleep(0.01)
        began = time.monotonic()
        await engine.shut_down()
        took = time.monotonic() - began
    silent.close()
    assert took < SECONDS
    async with client_of(await engine.endpoint(), KEY) as client:
        for name, body in kept.items():
            assert await client.send("GET", f"photos/{name}") == (200, body), name
        for name in lost:
            assert await client.status("GET", f"photos/{name}") == 404, name
    names = {each.name for each in (await engine.list_objects("photos", Wanted(1000))).objects}
    assert kept.keys() <= names
    assert not names & lost
    assert "endless" not in names


async def test_one_that_is_idle_stops_as_fast(engine: OwnObjects, tmp_path: Path) -> None:
    """And again: what was killed starts as ever. It leaves nothing beside its folder."""
    for _ in range(2):
        await engine.put_bucket(PHOTOS)
        ports: dict[str, int] = json.loads((tmp_path / "one" / "ports.json").read_text())
        inner = [port for name, port in ports.items() if name != "s3"]
        assert await asyncio.to_thread(sockets, inner)
        began = time.monotonic()
        await engine.shut_down()
        assert time.monotonic() - began < SECONDS
        assert not await asyncio.to_thread(sockets, inner)
