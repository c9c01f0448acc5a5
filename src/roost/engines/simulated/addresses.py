"""What simulated guests may send and get."""

from collections.abc import Mapping
from dataclasses import replace

from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import GUESTS
from roost.engines.simulated.state import Documents
from roost.resources.compute.network_engine import GuestAddresses


class SimulatedAddresses:
    """An AddressEngine over the records of a SimulatedInstances."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def set(self, guest: GuestAddresses) -> None:
        await self._plane.fail_if_planned("addresses_set")
        await self._plane.plan.wait("addresses_set", str(guest.id))
        await self._plane.transact(lambda documents: _put(documents, guest.id, guest))

    async def list(self) -> Mapping[int, GuestAddresses | None]:
        await self._plane.fail_if_planned("addresses_list")
        return await self._plane.survey(_all)

    async def dropped(self) -> Mapping[str, int]:
        """Simulated guests send nothing."""
        return {}

    async def lose(self, compute_id: int) -> None:
        """Somebody flushes the guest's filter."""
        await self._plane.transact(lambda documents: _put(documents, compute_id, None))


def _put(documents: Documents, compute_id: int, addresses: GuestAddresses | None) -> None:
    guest = GUESTS.find(documents, compute_id)
    if guest is not None and guest.started is not None:
        GUESTS.put(documents, replace(guest, addresses=addresses))


def _all(documents: Documents) -> Mapping[int, GuestAddresses | None]:
    running = (guest for guest in GUESTS.all(documents) if guest.started is not None)
    return {guest.id: guest.addresses for guest in running}
