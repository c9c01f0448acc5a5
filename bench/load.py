"""A load generator: HTTP/1.1 over connections that are kept, one request each at a time."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


def request(
    method: str, path: str, token: str = "", body: bytes = b"", headers: Sequence[str] = ()
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", *headers]
    if token:
        lines.append(f"authorization: Bearer {token}")
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode() + _HEAD_END + body


@dataclass(slots=True)
class Load:
    """What has been sent and answered."""

    requests: Iterator[bytes]
    until: float
    seconds: list[float] = field(default_factory=list)
    """The time that each answer took."""


class _Connection(asyncio.Protocol):
    def __init__(self, load: Load) -> None:
        self._load = load
        self._received = b""
        self._sent = 0.0
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received = received = self._received + data if self._received else data
        head = received.find(_HEAD_END)
        if head < 0 or len(received) < head + len(_HEAD_END) + _body_length(received, head):
            return
        if not received.startswith(b"HTTP/1.1 200"):
            self.ended.set_exception(RuntimeError(received.decode()))
            self._transport.close()
            return
        now = perf_counter()
        self._load.seconds.append(now - self._sent)
        self._received = b""
        if now < self._load.until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def _send(self) -> None:
        self._sent = perf_counter()
        self._transport.write(next(self._load.requests))


def _body_length(received: bytes, head: int) -> int:
    start = received.index(_LENGTH, 0, head) + len(_LENGTH)
    return int(received[start : received.index(b"\r\n", start)])


async def send(
    port: int,
    requests: Iterable[bytes],
    seconds: float,
    connections: int,
    address: str = "127.0.0.1",
) -> list[float]:
    """Keep all connections busy for a while; how long each answer took, in seconds.

    There must be requests for so long. RuntimeError with the answer when one is not a success.
    """
    load = Load(iter(requests), perf_counter() + seconds)
    loop = asyncio.get_running_loop()
    opened = [
        await loop.create_connection(lambda: _Connection(load), address, port)
        for _ in range(connections)
    ]
    await asyncio.gather(*(connection.ended for _, connection in opened))
    return load.seconds
