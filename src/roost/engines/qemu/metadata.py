"""Where guests ask about themselves: in the namespace of their region, or of their VPC, known by
their network device."""

import socket

from roost.engines.qemu.network.namespace import identity
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.network_engine import Connected


class QemuMetadata:
    """A MetadataEngine for the guests of a QemuInstances with the same network."""

    def __init__(self, network: GuestNetwork) -> None:
        self._network = network

    def networks(self) -> list[str]:
        return [self._network.name, *self._network.vpcs()]

    def identity(self, network: str) -> str | None:
        return identity(network)

    async def listen(self, network: str) -> tuple[socket.socket, ...]:
        return await self._network.listen(network)

    def asker(self, connection: Connected) -> int:
        """The filter of a guest's device marks its packets; a connection has its first one's."""
        return connection.getsockopt(socket.SOL_SOCKET, socket.SO_MARK)
