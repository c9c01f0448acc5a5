"""Simulated guests run no programs, so that nobody asks for metadata."""

import socket
from collections.abc import Sequence

from roost.resources.compute.network_engine import Connected


class SimulatedMetadata:
    """A MetadataEngine without a network."""

    def network(self) -> str | None:
        return None

    async def listen(self) -> Sequence[socket.socket]:
        return ()

    def asker(self, connection: Connected) -> int:
        return 0
