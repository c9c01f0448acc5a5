"""What a region's network does for the control plane: addresses, firewalls, metadata, overlays."""

import socket
from collections.abc import Mapping
from pathlib import Path

from roost.core.engine import EngineError, Health
from roost.engines.qemu.host.programs import faults
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.filters import Filters
from roost.engines.qemu.network.namespace import identity
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.tables import NoTableError
from roost.resources.compute.network_engine import Connected, GuestAddresses
from roost.resources.compute.overlay_engine import Overlay
from roost.resources.firewalls.engine import FirewallSpec, FirewallState


class NftablesAddresses:
    """An AddressEngine for the guests of a QemuInstances with the same network."""

    def __init__(self, network: GuestNetwork) -> None:
        self._network = network

    async def set(self, guest: GuestAddresses) -> None:
        with faults("The addresses of the guest could not be changed"):
            await self._network.readdress(guest)

    async def list(self) -> Mapping[int, GuestAddresses | None]:
        with faults("The addresses of guests cannot be seen"):
            return await self._network.addresses()

    async def dropped(self) -> Mapping[str, int]:
        with faults("What guests were kept from sending cannot be seen"):
            return await self._network.dropped()


class VxlanOverlay:
    """An OverlayEngine for the guests of a QemuInstances with the same network."""

    def __init__(self, network: GuestNetwork) -> None:
        self._network = network

    async def set(self, overlay: Overlay) -> None:
        with faults("Private networks could not be brought to other hosts"):
            await self._network.set_overlay(overlay)

    async def get(self) -> Overlay | None:
        with faults("The ways of private networks to other hosts cannot be seen"):
            return await self._network.overlay()


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


_DOING = "The firewall could not be changed"


class NftablesFirewalls:
    """A FirewallEngine for the guests of a QemuInstances with the same `state_dir`; needs root."""

    name = "nftables"

    def __init__(self, state_dir: Path, network: NetworkConfig) -> None:
        self._network = GuestNetwork(state_dir.resolve(), network)
        self._filters = Filters(state_dir.resolve())

    async def apply(self, firewall: FirewallSpec) -> None:
        """The network is made or mended when it is not there."""
        if not firewall.addresses:
            raise EngineError("A firewall without addresses cannot be put in force")
        try:
            await self._filters.write(firewall)
        except (FileNotFoundError, NoTableError):
            await self._network.ensure()
            try:
                await self._filters.write(firewall)
            except (FileNotFoundError, NoTableError):
                raise EngineError(f"{_DOING}: the network is being removed") from None

    async def remove(self, firewall_id: int) -> None:
        if self._network.identity() is not None:
            await self._filters.erase(firewall_id)

    async def inspect(self, firewall_id: int) -> FirewallState | None:
        return next(iter(await self._filters.read(firewall_id)), None)

    async def list(self) -> list[FirewallState]:
        return await self._filters.read()

    async def health(self) -> Health:
        problem = await self._network.problem()
        return Health(problem is None, problem or "nftables")

    async def close(self) -> None:
        """Nothing is held between calls."""
