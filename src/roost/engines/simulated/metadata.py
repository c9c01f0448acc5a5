"""Simulated guests run no programs, so that nobody asks for metadata."""

import socket
from collections.abc import Sequence

from roost.resources.compute.network_engine import Connected


class SimulatedMetadata:
    """A MetadataEngine without a network."""

    def networks(self) -> Sequence[str]:
        return ()

    def identity(self, network: str) -> str | None:
        return None

    async def listen(self, network: str) -> Sequence[socket.socket]:
        return ()

    def asker(self, connection: Connected) -> int:
        return 0
