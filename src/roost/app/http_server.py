"""One listener of the server: uvicorn, as Roost needs it."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from roost.web.protocol import BoundedProtocol
from roost.web.tls import Handshakes


class HttpServer(uvicorn.Server):
    """Says when it answers, and leaves signals to us: it would end the process."""

    def __init__(
        self,
        config: uvicorn.Config,
        protocol: type[BoundedProtocol],
        handshakes: Handshakes | None,
        on_ready: Callable[[], None],
    ) -> None:
        """`protocol` is that of the configuration; with `handshakes` all connections are in TLS."""
        super().__init__(config)
        self._protocol = protocol
        self._handshakes = handshakes
        self._on_ready = on_ready
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._handshakes is None:
            await super().startup(sockets)
        else:
            await super().startup([])
            self._accepting = [
                asyncio.create_task(self._handshakes.accept(listening, self._make_protocol))
                for listening in sockets or ()
            ]
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for accepting in self._accepting:
            accepting.cancel()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def _make_protocol(self) -> BoundedProtocol:
        return self._protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
