"""Requests to the server behind on a connection that is cut before the answer: what would be
answered otherwise a second time is not sent again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.upstream import Outgoing, Upstream, of_bytes

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


class Behind:
    """It answers one request of each connection, and cuts it at the next one."""

    def __init__(self) -> None:
        self.seen = list[bytes]()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.append(await self._request(reader))
        writer.write(_ANSWER)
        self.seen.append(await self._request(reader))
        writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        await reader.readexactly(int(length or 0))
        return head.partition(b" ")[0]


@pytest.fixture
async def behind() -> AsyncIterator[tuple[Behind, Upstream]]:
    found = Behind()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    upstream = Upstream("127.0.0.1", server.sockets[0].getsockname()[1], "secret")
    incoming, _ = await upstream.call(Outgoing("GET", "/b"))
    assert incoming.status == 200
    yield found, upstream
    server.close()


def _request(method: str, **headers: str) -> Outgoing:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = of_bytes(b"x") if method in ("PUT", "POST") else None
    return Outgoing(method, "/b/a", (), named, 1 if body else 0, body)


@pytest.mark.parametrize(
    "outgoing",
    [
        _request("GET"),
        _request("GET", if_none_match='"a"'),
        _request("HEAD"),
        _request("PUT"),
        _request("DELETE"),
    ],
    ids=lambda each: f"{each.method} {each.headers}",
)
async def test_what_changes_nothing_a_second_time_is_sent_again(
    behind: tuple[Behind, Upstream], outgoing: Outgoing
) -> None:
    server, upstream = behind
    incoming = await upstream.send(outgoing)
    assert incoming.status == 200
    assert server.seen.count(outgoing.method.encode()) >= 2


@pytest.mark.parametrize(
    "outgoing",
    [
        _request("PUT", if_none_match="*"),
        _request("PUT", if_match='"a"'),
        _request("DELETE", if_match='"a"'),
        _request("POST"),
    ],
    ids=lambda each: f"{each.method} {each.headers}",
)
async def test_what_is_answered_otherwise_a_second_time_is_not(
    behind: tuple[Behind, Upstream], outgoing: Outgoing
) -> None:
    """Who has got a lock would be told that somebody else has."""
    server, upstream = behind
    with pytest.raises(S3Error) as raised:
        await upstream.send(outgoing)
    assert (raised.value.status, server.seen.count(outgoing.method.encode())) == (503, 1)
