"""Where guests ask about themselves: in their region's namespace, known by their network device."""

import socket

from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.network_engine import Connected


class QemuMetadata:
    """A MetadataEngine for the guests of a QemuInstances with the same network."""

    def __init__(self, network: GuestNetwork) -> None:
        self._network = network

    def network(self) -> str | None:
        return self._network.identity()

    async def listen(self) -> tuple[socket.socket, ...]:
        return await self._network.listen()

    def asker(self, connection: Connected) -> int:
        """The filter of a guest's device marks its packets; a connection has its first one's."""
        return connection.getsockopt(socket.SOL_SOCKET, socket.SO_MARK)
