"""The least that stands between a client and a server: bytes are passed on as they come, unread.

python -m bench.bare_proxy PORT
"""

import asyncio
import sys
from socket import create_server
from typing import cast

import uvloop

_HOST = "127.0.0.1"


class _Side(asyncio.Protocol):
    """One of the two connections of a client."""

    def __init__(self) -> None:
        self.other: asyncio.Transport | None = None
        self.own: asyncio.Transport | None = None
        self._early = list[bytes]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.own = cast("asyncio.Transport", transport)  # That of uvloop is no subclass.

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self._early.append(data)
        else:
            self.other.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other is not None:
            self.other.close()

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.resume_reading()

    def meet(self, other: asyncio.Transport) -> None:
        self.other = other
        other.writelines(self._early)


class _Client(_Side):
    def __init__(self, port: int, tasks: set[asyncio.Task[None]]) -> None:
        super().__init__()
        self._port = port
        self._tasks = tasks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        task = asyncio.create_task(self._connect())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        transport, server = await loop.create_connection(_Side, _HOST, self._port)
        assert self.own is not None
        server.meet(self.own)
        self.meet(transport)


async def _serve(port: int) -> None:
    tasks = set[asyncio.Task[None]]()
    listening = create_server((_HOST, 0))
    server = await asyncio.get_running_loop().create_server(
        lambda: _Client(port, tasks), sock=listening
    )
    sys.stdout.write(f"proxy ready {listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
