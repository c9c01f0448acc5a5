"""HTTP/1.1 of the gateway with its clients: whatever they send, in whatever pieces, is answered
once and in order, or refused, and nobody holds more than a bounded part of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from roost.engines.gateway import connections
from roost.engines.gateway.connections import Connections
from roost.engines.gateway.http import Inbox, Request, Response
from tests.support.client import until

GET = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
MB = 1 << 20


async def echo(request: Request) -> None:
    body = await request.inbox.whole()
    said = f"{request.method} {request.target} ".encode() + body
    await request.send(Response(body=said, content_type="text/plain"))


@asynccontextmanager
async def served(
    answer: Callable[[Request], Awaitable[object]],
) -> AsyncIterator[tuple[Connections, int]]:
    """With its port."""
    clients = Connections(answer)
    server = await asyncio.get_running_loop().create_server(clients, "127.0.0.1", 0)
    yield clients, server.sockets[0].getsockname()[1]
    server.close()
    await clients.shut_down(0.1)
    assert not clients.open


async def said(port: int, *pieces: bytes) -> bytes:
    """All that is answered until the connection is at its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for each in pieces:
        writer.write(each)
        await writer.drain()
        await asyncio.sleep(0)
    found = await reader.read()
    writer.close()
    return found


def closing(request: bytes) -> bytes:
    return request.replace(b"Host: x\r\n", b"Host: x\r\nConnection: close\r\n")


def bodies(answer: bytes) -> list[bytes]:
    """Of answers with a length each."""
    found = list[bytes]()
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        found.append(rest[:size])
        answer = rest[size:]
    return found


PUT = b"PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n"
)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_requests_are_answered_in_order(size: int) -> None:
    """Also those that come before the answer to the last one, and in pieces of any size."""
    async with served(echo) as (_, port):
        sent = GET + PUT + CHUNKED + GET + closing(PUT)
        pieces = [sent[place : place + size] for place in range(0, len(sent), size)]
        answer = await said(port, *pieces)
    wanted = [b"GET /a?b=c ", b"PUT /p hello", b"POST /c hello", b"GET /a?b=c ", b"PUT /p hello"]
    assert bodies(answer) == wanted
    assert answer.count(b"\r\nConnection: close\r\n") == 1
    assert answer.count(b"\r\nDate: ") == 5


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200_000,
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ],
    ids=["TLS", "line", "head", "lengths", "length"],
)
async def test_what_is_no_request_is_refused(sent: bytes) -> None:
    async with served(echo) as (_, port):
        assert (await said(port, sent)).startswith(b"HTTP/1.1 400 Bad Request\r\n")


async def test_a_body_that_ends_before_its_end_is_none() -> None:
    lost = list[str]()

    async def read(request: Request) -> None:
        try:
            await request.inbox.whole()
        except ConnectionError as error:
            lost.append(str(error))
            await request.send(Response(400))

    async with served(read) as (clients, port):
        wrong = CHUNKED.replace(b"2;x", b"zz;x")
        assert (await said(port, wrong)).startswith(b"HTTP/1.1 400 ")
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(PUT[:-1])
        await _open(clients, 1)
        writer.close()
        await _open(clients, 0)
    assert len(lost) >= 1


async def _open(clients: Connections, wanted: int) -> None:
    async def count() -> int:
        return len(clients.open)

    await until(count, lambda found: found == wanted)


async def test_who_still_sends_sees_why_it_is_refused() -> None:
    async def refuse(request: Request) -> None:
        await request.send(Response(403, body=b"no"))

    async with served(refuse) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"PUT / HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n")
        for _ in range(32):
            writer.write(bytes(MB))
            await writer.drain()
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert answer.endswith(b"\r\nConnection: close\r\n\r\nno")
        writer.close()


async def test_a_body_that_nobody_reads_stays_with_the_client() -> None:
    """And comes as soon as somebody does."""
    goes, held = asyncio.Event(), list[Inbox]()

    async def read_late(request: Request) -> None:
        held.append(request.inbox)
        await goes.wait()
        assert len(await request.inbox.exactly(20 * MB)) == 20 * MB
        assert await request.inbox.line() == b"ab\n"
        assert await request.inbox.line() == b"c"
        with pytest.raises(EOFError):
            await request.inbox.exactly(1)
        await request.send(Response(204))

    async def rests() -> bool:
        return bool(held) and held[0]._rests

    async with served(read_late) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"PUT / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (20 * MB + 4))
        writer.write(bytes(20 * MB) + b"ab\nc")
        await until(rests, bool)
        most = held[0]._size
        goes.set()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204 No Content\r\n")
        writer.close()
    assert most <= MB


async def test_answers_without_a_body() -> None:
    async def answer(request: Request) -> None:
        status = int(request.target[1:])
        headers = {"content-length": "7"} if request.method == "HEAD" else {}
        await request.send(Response(status, headers))

    async with served(answer) as (_, port):
        sent = b"".join(
            b"%s /%d HTTP/1.1\r\nHost: x\r\n\r\n" % each
            for each in ((b"HEAD", 200), (b"GET", 204), (b"GET", 304), (b"PUT", 200))
        )
        answer_ = await said(port, sent, closing(GET).replace(b"/a?b=c", b"/404"))
    heads = answer_.split(b"\r\n\r\n")
    assert [head[9:12] for head in heads] == [b"200", b"204", b"304", b"200", b"404", b""]
    lengths = [b"content-length: 7", None, None, b"content-length: 0", b"content-length: 0"]
    for head, length in zip(heads, lengths, strict=False):
        assert (b"content-length" in head) == (length is not None)
        assert length is None or length in head


async def test_pieces_of_unknown_length() -> None:
    """Framed, or until the connection ends where it does."""

    async def answer(request: Request) -> None:
        await request.begin(Response())
        for piece in (b"one", b"two"):
            await request.write(piece)
        await request.finish()

    async with served(answer) as (_, port):
        old = GET.replace(b"1.1", b"1.0")
        both = [await said(port, sent) for sent in (closing(GET), old)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        framed = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
    assert [each.partition(b"\r\n\r\n")[2] for each in both] == [b"onetwo"] * 2
    assert framed.partition(b"\r\n\r\n")[2] == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
    assert b"transfer-encoding: chunked\r\n" in framed


async def test_a_client_that_asks_is_told_to_go_on() -> None:
    async def answer(request: Request) -> None:
        request.go_on()
        await echo(request)

    async with served(answer) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(closing(PUT)[:-5].replace(b"Host", b"Expect: 100-continue\r\nHost"))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"hello")
        assert bodies(await reader.read()) == [b"PUT /p hello"]
        writer.close()


async def test_another_protocol_is_not_spoken() -> None:
    """As clients of HTTP/2 ask for; what they ask besides is answered."""
    async with served(echo) as (_, port):
        asks = GET.replace(b"Host", b"Connection: Upgrade\r\nUpgrade: h2c\r\nHost")
        assert bodies(await said(port, asks)) == [b"GET /a?b=c "]


async def test_a_fault_is_no_answer() -> None:
    """And one in the middle of an answer cuts that off, as does a header that would be two."""

    async def fail(request: Request) -> None:
        if request.target == "/late":
            await request.begin(Response(headers={"content-length": "9"}))
            await request.write(b"half")
        if request.target == "/lines":
            await request.send(Response(headers={"x": "y\r\nz: 1"}))
        raise ValueError("planned")

    async with served(fail) as (_, port):
        assert (await said(port, closing(GET))).startswith(b"HTTP/1.1 500 Internal Server Error")
        lines = await said(port, closing(GET).replace(b"/a?b=c", b"/lines"))
        assert lines.startswith(b"HTTP/1.1 500 ")
        assert b"z: 1" not in lines
        late = b""
        with suppress(ConnectionResetError):
            late = await said(port, GET.replace(b"/a?b=c", b"/late"))
    assert len(late.partition(b"\r\n\r\n")[2]) < 9


async def test_who_is_gone_is_served_no_more() -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def wait(_request: Request) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            over.set()

    async with served(wait) as (_, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        await begun.wait()
        writer.close()
        await over.wait()


@pytest.mark.parametrize("sent", [b"", b"GET / HT", PUT[:-2]], ids=["nothing", "head", "body"])
async def test_who_says_nothing_is_not_waited_for(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_KEEP_SECONDS", "_STALL_SECONDS", "_SWEEP_SECONDS"):
        monkeypatch.setattr(connections, name, 0.05)
    async with served(echo) as (clients, port):
        sweeping = asyncio.create_task(clients.sweep())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        await _open(clients, 0)
        sweeping.cancel()
        writer.close()


async def test_the_end_waits_for_what_has_begun() -> None:
    begun, goes = asyncio.Event(), asyncio.Event()

    async def wait(request: Request) -> None:
        begun.set()
        await goes.wait()
        await echo(request)

    async with served(wait) as (clients, port):
        idle, idle_writer = await asyncio.open_connection("127.0.0.1", port)
        answered = asyncio.create_task(said(port, GET))
        await begun.wait()
        ended = asyncio.create_task(clients.shut_down(10))
        assert await idle.read() == b""
        goes.set()
        assert bodies(await answered) == [b"GET /a?b=c "]
        await ended
        idle_writer.close()
