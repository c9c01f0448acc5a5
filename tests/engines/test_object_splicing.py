"""Bodies that the kernel moves from the server behind to a client: all of it in order, whoever is
slow or goes away, and both connections serve again afterwards."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvloop

from roost.engines.gateway.connections import Connections
from roost.engines.gateway.http import Request, Response
from roost.engines.gateway.objects import _written
from roost.engines.gateway.upstream import Outgoing, Upstream
from tests.support.client import until

MB = 1 << 20
BODY = random.Random(7).randbytes(9 * MB + 5)
Serve = Callable[[asyncio.StreamWriter], Coroutine[object, object, None]]


def head(size: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n".encode()


async def all_at_once(writer: asyncio.StreamWriter) -> None:
    writer.write(head(len(BODY)) + BODY)


async def in_crumbs(writer: asyncio.StreamWriter) -> None:
    """The head alone, then pieces between which nothing comes."""
    writer.write(head(len(BODY)))
    for place in range(0, len(BODY), MB):
        await writer.drain()
        await asyncio.sleep(0.002)
        writer.write(BODY[place : place + MB])


async def too_little(writer: asyncio.StreamWriter) -> None:
    writer.write(head(len(BODY)) + BODY[: 3 * MB])
    await writer.drain()
    writer.close()


class Gateway:
    """As much of one as passes bodies on."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.connections = 0
        self.sent = 0
        self.ended = 0

    async def behind(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                await self._serve(writer)

    async def answer(self, request: Request) -> None:
        incoming = await self.upstream.send(Outgoing("GET", "/b/a", passes=True))
        try:
            await request.begin(Response(headers={"content-length": str(len(BODY))}))
            async for size in _written(request, incoming.connection):
                self.sent += size
            await request.finish()
        finally:
            self.upstream.release(incoming)
            self.ended += 1

    @asynccontextmanager
    async def port(self) -> AsyncIterator[int]:
        behind = await asyncio.start_server(self.behind, "127.0.0.1", 0)
        self.upstream = Upstream("127.0.0.1", behind.sockets[0].getsockname()[1], "secret")
        clients = Connections(self.answer)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(clients, "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[1]
        server.close()
        await clients.shut_down(0.1)
        behind.close()


async def got(reader: asyncio.StreamReader) -> bytes:
    await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(len(BODY))


GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[object, object, None]], None]:
    """By the loop that the gateway has, and by that of others."""
    return uvloop.run if request.param == "uvloop" else asyncio.run


@pytest.mark.parametrize("serve", [all_at_once, in_crumbs])
def test_a_long_body_arrives_as_it_is(
    run: Callable[[Coroutine[object, object, None]], None], serve: Serve
) -> None:
    """Also to a client that asks twice before it reads, and on one connection behind."""

    async def story() -> None:
        gateway = Gateway(serve)
        async with gateway.port() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET + GET)
            for _ in range(2):
                assert await got(reader) == BODY
            writer.write(GET)
            assert await got(reader) == BODY
            writer.close()
        assert (gateway.connections, gateway.sent) == (1, 3 * len(BODY))

    run(story())


def test_a_body_that_breaks_off_ends_the_connection(
    run: Callable[[Coroutine[object, object, None]], None],
) -> None:
    """Nobody takes it for the whole."""

    async def story() -> None:
        async with Gateway(too_little).port() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)
            await reader.readuntil(b"\r\n\r\n")
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await reader.readexactly(len(BODY))
            writer.close()

    run(story())


def test_clients_that_go_away_leave_nothing(
    run: Callable[[Coroutine[object, object, None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a body that they do not read; others are served meanwhile."""

    async def story() -> None:
        gateway = Gateway(all_at_once)

        async def ended() -> int:
            return gateway.ended

        async with gateway.port() as port, AsyncExitStack() as stack:
            silent = []
            for _ in range(3):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(GET)
                await reader.readuntil(b"\r\n\r\n")
                silent.append(writer)
                stack.callback(writer.close)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(writer.close)
            writer.write(GET)
            assert await got(reader) == BODY
            for each in silent:
                each.transport.abort()
            await until(left, lambda found: not found)
            await until(ended, lambda count: count == 4)

    make, made = os.pipe2, set[str]()

    def pipe2(flags: int) -> tuple[int, int]:
        ends = make(flags)
        made.add(os.readlink(f"/proc/self/fd/{ends[0]}"))
        return ends

    async def left() -> set[str]:
        return made & files()

    monkeypatch.setattr(os, "pipe2", pipe2)
    run(story())
    assert made


def files() -> set[str]:
    """That this process has open."""
    found = set[str]()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(os.readlink(each))
    return found
