"""Guests as QEMU processes of this host.

The object holds no state: all that is known of a guest is in its directory, and its QEMU outlives
us. So another process, or the next one after a crash, sees and controls the same guests.
"""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import structlog

from roost.engines.locks import locked
from roost.engines.qemu.command import Accelerator, command
from roost.engines.qemu.disks import find_image, grow_root, make_root, make_swap, write_setup
from roost.engines.qemu.guests import Guest, all_guests
from roost.engines.qemu.images.store import GuestImage, ImageStore
from roost.engines.qemu.launch import KvmError, launch, runs
from roost.engines.qemu.monitor import listening
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.power import kill, power_off
from roost.engines.qemu.prerequisites import check, qemu_version
from roost.engines.qemu.programs import failure, patiently
from roost.engines.qemu.usage import read_console, read_counters, trim_consoles
from roost.resources.compute.engine import (
    Counters,
    EngineError,
    Health,
    InstanceSpec,
    InstanceState,
    NoDisksError,
)

_SHUT_DOWN_GRACE = 30.0

_log = structlog.get_logger(__name__)


class QemuInstances:
    """An InstanceEngine on this host; needs root."""

    name = "qemu"

    def __init__(
        self,
        state_dir: Path,
        images: ImageStore,
        network: NetworkConfig,
        accelerator: Accelerator,
        dns: tuple[IPv4Address | IPv6Address, ...] = (),
    ) -> None:
        """`dns`: the name servers that guests are told."""
        self._accelerator = accelerator
        self._state_dir = state_dir.resolve()
        self._images = images
        self._config = network
        self._network = GuestNetwork(self._state_dir, network)
        self._dns = dns

    async def create(self, spec: InstanceSpec) -> None:
        guest = self._guest(spec.id)
        image = None if guest.ready() else find_image(self._images, spec)
        with _faults("The instance could not be made"):
            guest.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            async with locked(guest.directory):
                await patiently(lambda: self._make(guest, spec, image))

    async def start(self, spec: InstanceSpec) -> None:
        guest = self._guest(spec.id)
        if not guest.ready():
            raise NoDisksError("The instance has no disks")
        with _faults("The instance could not be started"):
            async with locked(guest.directory):
                await patiently(lambda: self._start(guest, spec))

    async def stop(self, compute_id: int, grace: float) -> None:
        await power_off(self._guest(compute_id), grace)

    async def delete(self, compute_id: int) -> None:
        guest = self._guest(compute_id)
        with _faults("The instance could not be deleted"), suppress(FileNotFoundError):
            async with locked(guest.directory):
                await patiently(lambda: self._remove(guest))

    async def inspect(self, compute_id: int) -> InstanceState | None:
        return self._guest(compute_id).state()

    async def list(self) -> list[InstanceState]:
        guests = all_guests(self._state_dir)
        with _faults("The instances cannot be seen"):
            await asyncio.to_thread(trim_consoles, guests)
            states = [guest.state() for guest in guests]
        return [state for state in states if state is not None]

    async def counters(self, compute_id: int) -> Counters | None:
        return await read_counters(self._guest(compute_id), self._network)

    async def console(self, compute_id: int, limit: int) -> bytes:
        return await asyncio.to_thread(read_console, self._guest(compute_id), limit)

    async def health(self) -> Health:
        if problem := await check(self._state_dir, self._config):
            return Health(ok=False, detail=problem)
        version = await qemu_version()
        return Health(ok=True, detail=f"QEMU {version}, {self._accelerator.upper()}")

    async def shut_down(self) -> None:
        running = [guest.id for guest in all_guests(self._state_dir) if guest.process()]
        await asyncio.gather(*(self.stop(each, _SHUT_DOWN_GRACE) for each in running))
        await self._network.tear_down()

    async def close(self) -> None:
        """Nothing is held between calls."""

    def _guest(self, compute_id: int) -> Guest:
        return Guest(self._state_dir, compute_id)

    async def _make(self, guest: Guest, spec: InstanceSpec, image: GuestImage | None) -> None:
        if not guest.ready():
            guest.write_size(spec)
            await make_swap(guest, spec.swap)
            await make_root(guest, spec, image)

    async def _start(self, guest: Guest, spec: InstanceSpec) -> None:
        """Bring an offline guest's files to what the specification says, and its QEMU up."""
        if await runs(guest):
            return
        await grow_root(guest, spec.disk)
        await make_swap(guest, spec.swap)
        await write_setup(guest, spec, self._dns)
        guest.write_size(spec)
        await self._launch(guest, spec)

    async def _remove(self, guest: Guest) -> None:
        if process := guest.process(search=True):
            await kill(process)
        await self._network.release(guest.id)
        try:
            await asyncio.to_thread(shutil.rmtree, guest.directory)
        except OSError as error:
            raise failure("The instance could not be deleted", error) from error

    async def _launch(self, guest: Guest, spec: InstanceSpec) -> None:
        """Where the host's KVM is broken after all, the guest runs without it."""
        tap = await self._network.attach(spec)
        try:
            await self._launch_on(self._accelerator, guest, spec, tap)
        except KvmError:
            _log.warning("kvm_failed", guest=guest.id, instead="tcg")
            await self._launch_on("tcg", guest, spec, tap)
        finally:
            os.close(tap)

    async def _launch_on(
        self, accelerator: Accelerator, guest: Guest, spec: InstanceSpec, tap: int
    ) -> None:
        with listening(guest.directory) as monitor:
            arguments = command(guest, spec, accelerator, tap, monitor)
            await launch(guest, arguments, (tap, monitor))


@contextmanager
def _faults(doing: str) -> Iterator[None]:
    """Tell faults of the host's disk in words for the instance's owner."""
    try:
        yield
    except FileNotFoundError as error:
        raise EngineError(f"{doing}: it has been deleted") from error
    except OSError as error:
        raise failure(doing, error) from error
