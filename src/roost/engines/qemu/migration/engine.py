"""Guests that go from host to host while they run, as QEMU processes of both."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.processes import Process
from roost.engines.qemu.boot.command import Accelerator
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.users import open_directory
from roost.engines.qemu.host.programs import faults, patiently
from roost.engines.qemu.migration import arrivals, departures
from roost.engines.qemu.migration.departures import DOING
from roost.engines.qemu.migration.messages import Offered, Receiver
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.disk_engine import Progress
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.live_engine import Destination, HostAddress, Offer


class QemuLive:
    """A LiveEngine for the guests of a QemuInstances with the same `state_dir`."""

    def __init__(
        self,
        state_dir: Path,
        network: GuestNetwork,
        accelerator: Accelerator,
        start: Callable[[InstanceSpec], Awaitable[None]],
        follow: Callable[[Guest, Process], None],
    ) -> None:
        """`start` and `follow`: what is done with guests that do not come from elsewhere."""
        self._state_dir = state_dir
        self._network = network
        self._accelerator = accelerator
        self._start = start
        self._follow = follow

    async def offer(self, compute_id: int, address: HostAddress) -> Offer:
        guest = Guest(self._state_dir, compute_id)
        with faults(DOING):
            async with locked(guest.directory):
                if guest.process() is None:
                    raise EngineError(f"{DOING}: it is off")
                offered = await departures.describe(guest, address)
        return Offer(offered.model_dump_json())

    async def receive(self, spec: InstanceSpec, offer: Offer, address: HostAddress) -> Destination:
        offered = Offered.model_validate_json(offer)
        await arrivals.check_fit(spec, offered, self._accelerator == "kvm")
        if Guest(self._state_dir, spec.id).exists():
            raise EngineError(f"{DOING}: it is there already")
        await self.turn_away(spec.id)
        guest = self._arriving(spec.id)
        with faults(DOING):
            open_directory(guest)
            async with locked(guest.directory):
                try:
                    receiver = await arrivals.prepare(guest, spec, offered, address, self._network)
                except BaseException:
                    await arrivals.discard(guest, self._network)
                    raise
        return Destination(receiver.model_dump_json())

    async def send(
        self, compute_id: int, destination: Destination, limit: int | None, progress: Progress
    ) -> None:
        guest, receiver = (
            Guest(self._state_dir, compute_id),
            Receiver.model_validate_json(destination),
        )
        with faults(DOING):
            async with locked(guest.directory):
                await departures.send(guest, receiver, limit, progress)

    async def enter(self, spec: InstanceSpec) -> None:
        guest, settled = self._arriving(spec.id), Guest(self._state_dir, spec.id)
        with faults(DOING):
            if guest.exists():
                async with locked(guest.directory):
                    await self._let_in(guest, settled, spec)
            elif not settled.exists():
                raise EngineError(f"{DOING}: it has not arrived")
            async with locked(settled.directory):
                await arrivals.forget_key(settled)
        process = settled.process()
        if process is None:
            await self._start(spec)
        else:
            self._follow(settled, process)

    async def turn_away(self, compute_id: int) -> None:
        guest = self._arriving(compute_id)
        if not guest.exists():
            return
        with faults(DOING):
            async with locked(guest.directory):
                await patiently(lambda: arrivals.discard(guest, self._network))

    async def stay(self, compute_id: int) -> None:
        guest = Guest(self._state_dir, compute_id)
        if not guest.exists():
            return
        with faults(DOING):
            async with locked(guest.directory):
                await departures.abort(guest)

    def _arriving(self, compute_id: int) -> Guest:
        return Guest(self._state_dir, compute_id, arriving=True)

    async def _let_in(self, guest: Guest, settled: Guest, spec: InstanceSpec) -> None:
        """A machine that has died leaves disks that are whole, as the guest was sent to its end."""
        if guest.process() is not None:
            await arrivals.resume(guest)
            await self._network.announce(spec)
        await arrivals.settle(guest, settled)
