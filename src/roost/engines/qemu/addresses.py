"""Addresses of guests, by nftables and the neighbours of their region's gateway."""

from collections.abc import Mapping

from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.programs import faults
from roost.resources.compute.network_engine import GuestAddresses


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
