"""Simulated guests that go to another host while they run: to the state file of that one."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from roost.core.engine import EngineError
from roost.engines.simulated import guests
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import (
    ARRIVALS,
    DISKS,
    GUESTS,
    VOLUMES,
    Arrival,
    Disk,
    Guest,
    Volume,
)
from roost.engines.simulated.state import Documents, StateFile
from roost.resources.compute.disk_engine import Progress
from roost.resources.compute.engine import DiskDevice, InstanceSpec, VolumeDevice
from roost.resources.compute.live_engine import Destination, HostAddress, Offer, UnfitError

_DOING = "The instance could not be moved while it runs"


@dataclass(frozen=True, slots=True)
class _Machine:
    """What the other host must be able to go on with."""

    vcpus: int
    memory: int
    disks: tuple[int, ...]


_MACHINE = TypeAdapter(_Machine)


@dataclass(frozen=True, slots=True)
class _Cargo:
    """All of a guest, as of one moment."""

    guest: Guest
    disks: list[Disk]
    volumes: list[Volume]


class SimulatedLive:
    """A LiveEngine without guests."""

    def __init__(self, plane: Plane, state_dir: Path) -> None:
        self._plane = plane
        self._state_dir = state_dir.resolve()

    async def offer(self, compute_id: int, address: HostAddress) -> Offer:
        guest = await self._plane.begin("live_offer", partial(_running, compute_id=compute_id))
        await self._plane.transact(partial(_keep, compute_id=compute_id))
        machine = _Machine(guest.vcpus, guest.memory, guest.disks)
        return Offer(_MACHINE.dump_json(machine).decode())

    async def receive(self, spec: InstanceSpec, offer: Offer, address: HostAddress) -> Destination:
        disks = tuple(each.disk_id for each in spec.devices if isinstance(each, DiskDevice))
        if _MACHINE.validate_json(offer) != _Machine(spec.vcpus, spec.memory, disks):
            raise UnfitError(f"{_DOING}: its configuration has changed since it was started")
        await self._plane.begin("live_receive", partial(_expect, spec=spec))
        return Destination(str(self._state_dir))

    async def send(
        self, compute_id: int, destination: Destination, limit: int | None, progress: Progress
    ) -> None:
        guest = await self._plane.begin("live_send", partial(_running, compute_id=compute_id))
        if guest.handed:
            return
        await self._plane.plan.copy("live_send", str(compute_id), progress)
        there = StateFile(Path(destination) / "state.sqlite3")
        try:
            cargo = await self._plane.transact(partial(_hand_over, compute_id=compute_id))
            await there.transact(partial(_land, cargo=cargo))
        except BaseException:
            await self._plane.transact(partial(_keep, compute_id=compute_id))
            raise
        finally:
            there.close()

    async def enter(self, spec: InstanceSpec) -> None:
        await self._plane.begin("live_enter", partial(_enter, spec=spec))

    async def turn_away(self, compute_id: int) -> None:
        await self._plane.begin("live_turn_away", partial(_turn_away, compute_id=compute_id))

    async def stay(self, compute_id: int) -> None:
        await self._plane.begin("live_stay", partial(_keep, compute_id=compute_id))


def _running(documents: Documents, compute_id: int) -> Guest:
    guest = GUESTS.find(documents, compute_id)
    if guest is None or guest.started is None:
        raise EngineError(f"{_DOING}: it is off")
    return guest


def _expect(documents: Documents, spec: InstanceSpec) -> None:
    if GUESTS.find(documents, spec.id) is not None:
        raise EngineError(f"{_DOING}: it is there already")
    volumes = tuple(each.volume_id for each in spec.devices if isinstance(each, VolumeDevice))
    for volume_id in volumes:
        volume = VOLUMES.find(documents, volume_id)
        if volume is None or not volume.whole:
            raise EngineError(f"{_DOING}: the data of volume {volume_id} do not exist there")
    ARRIVALS.put(documents, Arrival(spec.id, volumes))


def _hand_over(documents: Documents, compute_id: int) -> _Cargo:
    guest = _running(documents, compute_id)
    GUESTS.put(documents, replace(guest, handed=True))
    disks = [each for each in DISKS.all(documents, compute_id) if each.id in guest.disks]
    volumes = (VOLUMES.find(documents, each) for each in guest.volumes)
    return _Cargo(guest, disks, [each for each in volumes if each is not None])


def _land(documents: Documents, cargo: _Cargo) -> None:
    arrival = ARRIVALS.find(documents, cargo.guest.id)
    if arrival is None:
        raise EngineError(f"{_DOING}: one of the hosts has broken it off")
    for volume in cargo.volumes:
        VOLUMES.put(documents, volume)
    ARRIVALS.put(documents, replace(arrival, guest=cargo.guest, disks=tuple(cargo.disks)))


def _enter(documents: Documents, spec: InstanceSpec) -> None:
    arrival = ARRIVALS.find(documents, spec.id)
    if arrival is None and GUESTS.find(documents, spec.id) is not None:
        return
    if arrival is None or arrival.guest is None:
        raise EngineError(f"{_DOING}: it has not arrived")
    for disk in arrival.disks:
        DISKS.put(documents, disk)
    GUESTS.put(documents, replace(arrival.guest, addresses=spec.addresses))
    ARRIVALS.remove(documents, spec.id)


def _turn_away(documents: Documents, compute_id: int) -> None:
    arrival = ARRIVALS.find(documents, compute_id)
    if arrival is None:
        return
    for volume_id in arrival.volumes:
        guests.hold_volume(documents, volume_id, None)
    ARRIVALS.remove(documents, compute_id)


def _keep(documents: Documents, compute_id: int) -> None:
    guest = GUESTS.find(documents, compute_id)
    if guest is not None and guest.handed:
        GUESTS.put(documents, replace(guest, handed=False))
