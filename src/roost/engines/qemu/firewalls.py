"""Firewalls of guests, by nftables where their region's gateway and routers of VPCs forward."""

from pathlib import Path

from roost.core.engine import EngineError, Health
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.filters import Filters
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.tables import NoTableError
from roost.resources.firewalls.engine import FirewallSpec, FirewallState

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
