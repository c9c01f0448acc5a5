"""Guests as QEMU processes of this host.

The object holds no state: all that is known of a guest is in its directory, and its QEMU outlives
us. So another process, or the next one after a crash, sees and controls the same guests.
"""

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import aclosing, nullcontext, suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import structlog

from roost.core.engine import EngineError, Health, Host
from roost.engines.locks import locked
from roost.engines.qemu.boot.boots import Boot, arrange, volumes_of
from roost.engines.qemu.boot.command import Accelerator, Machine
from roost.engines.qemu.boot.launch import KvmError, launch, runs
from roost.engines.qemu.boot.setups import make_rescue, remove_rescue, write_setup
from roost.engines.qemu.disks.backups import QemuBackups
from roost.engines.qemu.disks.captures import QemuImages
from roost.engines.qemu.disks.engine import QemuDisks
from roost.engines.qemu.guests.directory import (
    TERMINAL,
    Guest,
    all_guests,
    arriving_ids,
    running_guests,
)
from roost.engines.qemu.guests.endings import Endings
from roost.engines.qemu.guests.power import kill, power_off
from roost.engines.qemu.guests.sockets import reach
from roost.engines.qemu.guests.usage import read_console, read_counters, trim_consoles
from roost.engines.qemu.guests.users import open_directory
from roost.engines.qemu.host.files import move
from roost.engines.qemu.host.parcels import pack, unpack
from roost.engines.qemu.host.programs import failure, faults, patiently
from roost.engines.qemu.host.room import read_host
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.migration.engine import QemuLive
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.engines import NftablesAddresses, QemuMetadata, VxlanOverlay
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.prerequisites import check, qemu_version
from roost.engines.qemu.volumes.sources import FileSource, VolumeSource
from roost.resources.compute.engine import (
    Counters,
    DiskDevice,
    InstanceEngine,
    InstanceSpec,
    InstanceState,
    NoDisksError,
)
from roost.threads import DISK

_SHUT_DOWN_GRACE = 30.0
_TERMINAL_SECONDS = 5.0
_NO_TERMINAL = (
    "Its terminal does not answer: the guest is off, others use it, or it was started by an"
    " earlier release"
)

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
        volumes: VolumeSource | None = None,
    ) -> None:
        """`dns`: the name servers that guests are told; `volumes`: where they are, by default
        files of this host."""
        self._accelerator = accelerator
        self._state_dir = state_dir.resolve()
        self._images = images
        self._config = network
        self._network = GuestNetwork(self._state_dir, network)
        self._dns = dns
        self._volumes = volumes or FileSource(self._state_dir)
        self._disks = QemuDisks(self._state_dir, images)
        self._backups = QemuBackups(self._state_dir)
        self._addresses = NftablesAddresses(self._network)
        self._metadata = QemuMetadata(self._network)
        self._overlay = VxlanOverlay(self._network)
        self._captures = QemuImages(self._state_dir, images)
        self._endings = Endings(self._state_dir)
        self._live = QemuLive(
            self._state_dir, self._network, accelerator, self.start, self._endings.follow
        )

    @property
    def disks(self) -> QemuDisks:
        return self._disks

    @property
    def backups(self) -> QemuBackups:
        return self._backups

    @property
    def addresses(self) -> NftablesAddresses:
        return self._addresses

    @property
    def metadata(self) -> QemuMetadata:
        return self._metadata

    @property
    def overlay(self) -> VxlanOverlay:
        return self._overlay

    @property
    def images(self) -> QemuImages:
        return self._captures

    @property
    def live(self) -> QemuLive:
        return self._live

    async def start(self, spec: InstanceSpec) -> None:
        guest = self._guest(spec.id)
        with faults("The instance could not be started"):
            open_directory(guest)
            async with locked(guest.directory):
                try:
                    await patiently(lambda: self._start(guest, spec))
                except NoDisksError:
                    with suppress(OSError):
                        guest.directory.rmdir()  # Empty only when there is nothing of the guest.
                    raise

    async def stop(self, compute_id: int, grace: float) -> None:
        await power_off(self._guest(compute_id), grace)

    async def delete(self, compute_id: int) -> None:
        guest = self._guest(compute_id)
        await self._live.turn_away(compute_id)
        with faults("The instance could not be deleted"), suppress(FileNotFoundError):
            async with locked(guest.directory):
                await patiently(lambda: self._remove(guest))

    async def take(self, compute_id: int, source: InstanceEngine, backups: Collection[int]) -> None:
        doing = "The instance could not be moved"
        if not isinstance(source, QemuInstances):
            raise EngineError(f"{doing}: its guest is one of {source.name}")
        guest = source._guest(compute_id)
        with faults(doing):
            if guest.exists():
                async with locked(guest.directory):
                    if await runs(guest):
                        raise EngineError(f"{doing}: it runs")
                    await source._network.release(compute_id)
                    await move(guest.directory, self._guest(compute_id).directory)
            for backup_id in backups:
                await self._backups.take(backup_id, source.backups)

    async def pack(
        self, compute_id: int, backups: Collection[int], *, guest: bool = True
    ) -> AsyncGenerator[bytes, None]:
        doing, held = "The instance could not be moved", self._guest(compute_id)
        with faults(doing):
            async with locked(held.directory) if guest else nullcontext():
                if guest and await runs(held):
                    raise EngineError(f"{doing}: it runs")
                if guest:
                    await self._network.release(compute_id)
                names = await DISK.run(self._parcel, [compute_id] if guest else [], backups)
                async with aclosing(pack(doing, self._state_dir, names)) as pieces:
                    async for piece in pieces:
                        yield piece

    async def unpack(
        self, compute_id: int, backups: Collection[int], content: AsyncIterator[bytes]
    ) -> None:
        doing, guest = "The instance could not be moved", self._guest(compute_id)
        if await runs(guest):
            raise EngineError(f"{doing}: it runs there")
        names = [guest.directory.name, *(f"backups/backup-{each}" for each in backups)]
        with faults(doing):
            await unpack(doing, self._state_dir, names, content)

    def _parcel(self, guests: Collection[int], backups: Collection[int]) -> list[str]:
        """The directories that another host gets of them, of those that there are."""
        names = [f"compute-{each}" for each in guests]
        names += [f"backups/backup-{each}" for each in backups]
        return [name for name in names if (self._state_dir / name).exists()]

    async def inspect(self, compute_id: int) -> InstanceState | None:
        return await DISK.run(self._guest(compute_id).state)

    async def list(self) -> list[InstanceState]:
        with faults("The instances cannot be seen"):
            return await DISK.run(_all_states, self._state_dir)

    def endings(self) -> AsyncGenerator[int, None]:
        return self._endings.listen()

    async def counters(self) -> Mapping[int, Counters]:
        with faults("The instances cannot be seen"):
            running = await DISK.run(running_guests, self._state_dir)
        traffic = await self._network.traffic()
        return await read_counters((guest for guest, _ in running), traffic)

    async def console(self, compute_id: int, limit: int) -> bytes:
        return await DISK.run(read_console, self._guest(compute_id), limit)

    async def terminal(self, compute_id: int) -> socket.socket:
        guest, connection = self._guest(compute_id), socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(_TERMINAL_SECONDS):
                await reach(connection, guest.directory, TERMINAL)
        except (OSError, TimeoutError) as error:
            connection.close()
            raise EngineError(_NO_TERMINAL) from error
        return connection

    async def health(self) -> Health:
        if problem := await check(self._state_dir, self._config):
            return Health(ok=False, detail=problem)
        version = await qemu_version()
        return Health(ok=True, detail=f"QEMU {version}, {self._accelerator.upper()}")

    async def host(self) -> Host:
        with faults("The host cannot be seen"):
            return await DISK.run(read_host, self._state_dir)

    async def shut_down(self) -> None:
        for compute_id in await DISK.run(arriving_ids, self._state_dir):
            await self._live.turn_away(compute_id)
        running = await DISK.run(running_guests, self._state_dir)
        await asyncio.gather(*(self._halt(guest) for guest, _ in running))
        await self._network.tear_down()

    async def close(self) -> None:
        """Nothing is held between calls."""

    def _guest(self, compute_id: int) -> Guest:
        return Guest(self._state_dir, compute_id)

    async def _start(self, guest: Guest, spec: InstanceSpec) -> None:
        """Bring an offline guest's files to what the specification says, and its QEMU up."""
        if await runs(guest):
            return
        rescue = await make_rescue(guest, self._images) if spec.rescue else None
        if rescue is None:
            remove_rescue(guest)
        async with self._volumes.opened(guest, volumes_of(spec)) as volumes:
            boot = arrange(guest, spec, rescue, volumes)
            await write_setup(guest, spec, boot.image, self._dns)
            disks = [device.disk_id for device in spec.devices if isinstance(device, DiskDevice)]
            guest.write_boot(spec, disks)
            await self._launch(guest, spec, boot)
        if process := guest.process():
            self._endings.follow(guest, process)

    async def _halt(self, guest: Guest) -> None:
        """Stop a guest as the host goes down, and remember that this is why, unless it is full."""
        try:
            await DISK.run(guest.note_halt)
        except OSError as error:
            _log.warning("guest_halt_not_noted", guest=guest.id, error=str(error))
        await self.stop(guest.id, _SHUT_DOWN_GRACE)

    async def _remove(self, guest: Guest) -> None:
        if process := await DISK.run(guest.process, search=True):
            await kill(process)
        await self._network.release(guest.id)
        try:
            await DISK.run(shutil.rmtree, guest.directory)
        except OSError as error:
            raise failure("The instance could not be deleted", error) from error

    async def _launch(self, guest: Guest, spec: InstanceSpec, boot: Boot) -> None:
        """Start QEMU with the guest's networks; without KVM where the host's is broken after
        all."""
        taps = await self._network.attach(spec)
        try:
            await launch(guest, spec, Machine.of(spec, self._accelerator), boot, taps)
        except KvmError:
            _log.warning("kvm_failed", guest=guest.id, instead="tcg")
            await launch(guest, spec, Machine.of(spec, "tcg"), boot, taps)
        finally:
            for tap in taps:
                os.close(tap)


def _all_states(state_dir: Path) -> list[InstanceState]:
    guests = all_guests(state_dir)
    trim_consoles(guests)
    states = (guest.state() for guest in guests)
    return [state for state in states if state is not None]
