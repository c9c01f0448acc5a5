"""WebSockets, which requests for consoles become."""

from collections.abc import Callable

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class BoundedSocket(WebSocketsSansIOProtocol):
    """Counted as the connection that it was before."""

    on_lost: Callable[[], None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()
