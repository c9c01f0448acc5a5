"""Clients that come to the S3 port of a region whose server does not run: they are let in, or told
why not, and none is refused while the server is started and takes the port over."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from roost.core.engine import EngineError
from roost.engines.seaweedfs import standby
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Place, Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec
from tests.support.client import until
from tests.support.s3 import client_of, get

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (), (), True)
OTHER = KeySpec("key-2", "B" * 20, "t" * 40, (), (), True)
PHOTOS = BucketSpec("photos", "1-20300131", "public-read", False)


@dataclass
class Door:
    """Of a Roost that has one key."""

    engine: OwnObjects
    faults: int = 0
    """So often it cannot read its keys."""
    asked: list[str] = field(default_factory=list)

    async def knows(self, access_key: str) -> bool:
        self.asked.append(access_key)
        self._fail()
        return access_key == KEY.access_key

    async def bring_keys(self) -> None:
        self._fail()
        await self.engine.put_key(KEY)

    def _fail(self) -> None:
        if self.faults:
            self.faults -= 1
            raise EngineError("planned")


class CountingServer(Server):
    """One that is started only where a test lets it."""

    starts = 0
    goes: Callable[[], Awaitable[object]] | None = None

    async def ensure(self) -> Place:
        self.starts += 1
        if self.goes is not None:
            await self.goes()
        return await super().ensure()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[CountingServer]:
    server = CountingServer(tmp_path / "one")
    yield server
    await server.stop()


@pytest.fixture
async def door(server: CountingServer) -> AsyncIterator[Door]:
    """Of an engine that waits for clients."""
    door = Door(OwnObjects(server))
    async with attended(door):
        yield door


@asynccontextmanager
async def attended(door: Door) -> AsyncIterator[None]:
    task = asyncio.create_task(door.engine.attend(door))
    await reachable(await address(door))
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def address(door: Door) -> str:
    return await door.engine._server.reserve()


async def reachable(url: str) -> None:
    async def tried() -> bool:
        try:
            _, writer = await connected(url)
        except ConnectionRefusedError:
            return False
        writer.close()
        return True

    await until(tried, bool)


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port)


async def fails() -> None:
    raise EngineError("planned")


async def never() -> None:
    await asyncio.Event().wait()


async def status(url: str, method: str = "GET", path: str = "", key: KeySpec | None = KEY) -> int:
    async with client_of(url, key) as client:
        return await client.status(method, path)


async def test_who_has_no_key_starts_nothing(door: Door, server: CountingServer) -> None:
    url = await address(door)
    assert await status(url, key=None) == 403
    assert await status(url, path="photos/cat.jpg", key=None) == 404
    async with client_of(url, OTHER) as client:
        code, body = await client.send("PUT", "photos")
    assert (code, b"<Code>InvalidAccessKeyId</Code>" in body) == (403, True)
    assert door.asked == [OTHER.access_key]
    for said in (b"", b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n\r\n", b"GET / HTT"):
        _, writer = await connected(url)
        writer.write(said)
        writer.close()
    assert await status(url, "HEAD", key=None) == 403
    assert (server.starts, server.exists) == (0, False)


async def test_a_start_that_fails_is_told(door: Door, server: CountingServer) -> None:
    """And is not tried for each client anew."""
    server.goes, url = fails, await address(door)
    for _ in range(3):
        reader, writer = await connected(url)
        writer.write(
            b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: AWS " + b"A" * 20 + b":x\r\n\r\n"
        )
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 5\r\n" in answer
        assert b"<Code>SlowDown</Code>" in answer
        writer.close()
    assert server.starts == 1


async def test_a_start_that_takes_too_long_is_told(
    door: Door, server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "_HOLD_SECONDS", 0.2)
    server.goes, url = never, await address(door)
    assert [await status(url) for _ in range(2)] == [503, 503]
    assert server.starts == 1


async def test_all_who_wait_are_told_that_the_start_has_failed(
    door: Door, server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as it has; and where as many wait as may, one more is told to come again."""
    monkeypatch.setattr(standby, "_MOST", 4)
    begun, ends = asyncio.Event(), asyncio.Event()

    async def fails_later() -> None:
        begun.set()
        await ends.wait()
        await fails()

    server.goes, url = fails_later, await address(door)
    waiting = [asyncio.create_task(status(url)) for _ in range(4)]
    await begun.wait()
    await until(partial(_heads_read, door), lambda count: count == 4)
    assert await status(url) == 503
    assert not any(each.done() for each in waiting)
    ends.set()
    assert [await each for each in waiting] == [503] * 4
    assert server.starts == 1


async def _heads_read(door: Door) -> int:
    return len(door.asked)


async def test_keys_that_cannot_be_read_are_looked_up_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For some seconds; then it is no answer about the key."""
    monkeypatch.setattr(standby, "_LOOK_SECONDS", 0.01)
    door.faults, url = 1, await address(door)
    assert await status(url, key=OTHER) == 403
    door.faults = 100
    assert await status(url, key=OTHER) == 503


async def test_silent_clients_keep_nobody_out(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest of them makes room; where all wait for the server, one more is told to."""
    monkeypatch.setattr(standby, "_MOST", 8)
    url = await address(door)
    silent = [await connected(url) for _ in range(20)]
    assert await status(url, key=None) == 403
    assert await silent[0][0].read() == b""
    for _, writer in silent:
        writer.close()


async def test_the_port_is_where_it_was(tmp_path: Path) -> None:
    """For the next worker, and for one that waits for the first to end."""
    doors = [Door(OwnObjects(Server(tmp_path / "one"))) for _ in range(2)]
    url = await address(doors[0])
    async with attended(doors[0]):
        second = asyncio.create_task(doors[1].engine.attend(doors[1]))
        assert await status(url, key=None) == 403
    await reachable(url)
    assert (await status(url, key=None), await address(doors[1])) == (403, url)
    second.cancel()


@pytest.mark.seaweedfs
async def test_nobody_is_refused_while_the_server_starts(door: Door) -> None:
    """Clients of all kinds come all the time: each is answered by the server in the end."""
    url, answers, over = await address(door), list[int](), asyncio.Event()
    door.faults = 1
    _, early = await connected(url)

    async def come() -> None:
        while not over.is_set():
            answers.append(await status(url))
            await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(come())
        await door.engine._standby.serves.wait()
        count = len(answers)
        while len(answers) < count + 20:
            await asyncio.sleep(0.01)
        over.set()
    assert set(answers) == {200}
    early.close()


@pytest.mark.seaweedfs
async def test_a_body_goes_on_to_the_server(door: Door) -> None:
    """Of the request that has started it, and of one that was half sent."""
    url = await address(door)
    spec = KeySpec(KEY.name, KEY.access_key, KEY.secret_key, (BucketGrant("photos", True),))

    async def bring_keys() -> None:
        await door.engine.put_bucket(PHOTOS)
        await door.engine.put_key(spec)

    door.bring_keys = bring_keys  # type: ignore[method-assign]
    reader, writer = await connected(url)
    writer.write(b"GET /photos/cat HTTP/1.1\r\nHos")
    body = os.urandom(3_000_000)
    async with client_of(url, KEY) as client:
        assert await client.status("PUT", "photos/cat", body) == 200
        assert await client.send("GET", "photos/cat") == (200, body)
    writer.write(b"t: x\r\nConnection: close\r\n\r\n")
    head, _, got = (await reader.read()).partition(b"\r\n\r\n")
    assert (head.split(b" ")[1], got) == (b"200", body)
    writer.close()


@pytest.mark.seaweedfs
async def test_a_server_that_was_killed_is_started_by_the_next_client(
    door: Door, tmp_path: Path
) -> None:
    """Also by one without a key: it may be its own object that is asked for. Its URL stays."""
    await door.engine.put_bucket(PHOTOS)
    await door.engine._standby.serves.wait()
    url = await door.engine.endpoint()
    for name in ("gateway.pid", "pid"):
        os.kill(int((tmp_path / "one" / name).read_text()), signal.SIGKILL)

    async def got() -> int:
        with suppress(aiohttp.ClientConnectionError):
            return await get(f"{url}/photos")
        return 0

    # Nobody listens between the kill and the moment when it is noticed.
    assert await until(got, bool) == 200
    assert await door.engine.endpoint() == url


@pytest.mark.seaweedfs
async def test_an_end_while_the_server_starts_leaves_it_the_port(
    server: CountingServer,
) -> None:
    """The worker ends; the server goes on."""
    door = Door(OwnObjects(server), faults=1000)
    url = await address(door)
    async with attended(door):
        await door.engine.put_bucket(PHOTOS)
    await reachable(url)
    assert await get(f"{url}/photos") == 200


@pytest.mark.seaweedfs
async def test_another_worker_starts_it(door: Door, tmp_path: Path) -> None:
    """Than that which waits for clients."""
    url = await address(door)
    other = OwnObjects(Server(tmp_path / "one"))
    await other.put_bucket(PHOTOS)
    assert (await other.endpoint(), await get(f"{url}/photos")) == (url, 200)
    await door.engine._standby.serves.wait()
    assert await door.engine.keys() == [KEY.name]
