"""A guest comes to this host while it runs.

It is in `arriving-N` until it has entered, where nobody takes it for a guest of this host. Its QEMU
takes what the other one sends, and waits.
"""

import os
import shutil
import tarfile

from roost.core.engine import EngineError, FullError
from roost.engines.qemu.boot.boots import arrange, volumes_of
from roost.engines.qemu.boot.command import Machine
from roost.engines.qemu.boot.launch import launch
from roost.engines.qemu.guests.devices import disk_name, volume_name
from roost.engines.qemu.guests.directory import Guest, shape_of
from roost.engines.qemu.guests.monitor import Monitor, connected
from roost.engines.qemu.guests.power import kill
from roost.engines.qemu.guests.users import run_for, user_of
from roost.engines.qemu.host.files import sync
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.migration import channel, files, machines
from roost.engines.qemu.migration.departures import DOING, asked
from roost.engines.qemu.migration.messages import Offered, Receiver, processor_of
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.prerequisites import qemu_version
from roost.engines.qemu.volumes.sources import FileSource
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.live_engine import HostAddress, UnfitError
from roost.threads import DISK


async def check_fit(spec: InstanceSpec, offered: Offered, kvm: bool) -> None:
    """UnfitError where the guest could not go on. `kvm`: whether this host has it."""
    if shape_of(spec) != offered.shape:
        raise UnfitError(f"{DOING}: its configuration has changed since it was started")
    if offered.accelerator == "kvm" and not kvm:
        raise UnfitError(f"{DOING}: the other host has no KVM")
    if processor_of(offered.accelerator) != offered.processor:
        raise UnfitError(f"{DOING}: the other host's processors are of another kind")
    major, minor = (await qemu_version()).split(".")[:2]
    if (int(major), int(minor)) < offered.version:
        raise UnfitError(f"{DOING}: the other host's QEMU is older")


async def prepare(
    guest: Guest,
    spec: InstanceSpec,
    offered: Offered,
    address: HostAddress,
    network: GuestNetwork,
) -> Receiver:
    """The directory of the guest that arrives is there, and empty."""
    _check_room(guest, offered)
    channel.write_key(guest, offered.secret)
    await _fetch(guest, offered)
    await _make_disks(guest, offered)
    async with FileSource(guest.state_dir).opened(guest, volumes_of(spec)) as volumes:
        boot = arrange(guest, spec, None, volumes, offered.luns)
        guest.write_boot(spec, [each.id for each in offered.disks])
        taps = await network.attach(spec)
        machine = Machine(offered.accelerator, offered.processors, offered.machine)
        try:
            await launch(guest, spec, machine, boot, taps, waits=True)
        finally:
            for tap in taps:
                os.close(tap)
    nodes = [disk_name(each.id) for each in offered.disks]
    nodes += [volume_name(each) for each in boot.volumes]
    async with asked(guest), connected(guest.directory) as monitor:
        return await _listen(monitor, nodes, offered, address)


async def resume(guest: Guest) -> None:
    """The guest goes on here. EngineError unless it is whole."""
    async with asked(guest), connected(guest.directory) as monitor:
        if (await machines.migration(monitor)).status != "completed":
            raise EngineError(f"{DOING}: it has not arrived")
        await channel.stop_serving(monitor)
        if not (await machines.state(monitor)).running:
            await monitor.execute("cont")


async def settle(guest: Guest, settled: Guest) -> None:
    """From now on it is a guest of this host, for good."""

    def rename() -> None:
        guest.directory.rename(settled.directory)
        sync(guest.state_dir)

    await DISK.run(rename)


async def forget_key(guest: Guest) -> None:
    """Remove the key of a guest that has come."""
    if guest.process() is not None:
        async with asked(guest), connected(guest.directory) as monitor:
            await channel.drop_key(monitor)
    channel.forget_key(guest)


async def discard(guest: Guest, network: GuestNetwork) -> None:
    """All that is there of one that arrives."""
    if process := await DISK.run(guest.process, search=True):
        await kill(process)
    await network.release(guest.id)
    await DISK.run(shutil.rmtree, guest.directory)


def _check_room(guest: Guest, offered: Offered) -> None:
    host = os.statvfs(guest.directory)
    if host.f_bavail * host.f_frsize < sum(disk.held for disk in offered.disks):
        raise FullError(f"{DOING}: the other host's disk is full")


async def _fetch(guest: Guest, offered: Offered) -> None:
    """As the guest's user: who serves it may be the guest."""
    archive = guest.directory / f"{files.NAME}.tar"
    key = ",".join(f"{name}={value}" for name, value in channel.key_of("client").items())
    place = channel.remote(files.NAME, offered.address, offered.port)
    options = ("--object", key.replace("qom-type=", "", 1), "--image-opts", "-O", "raw")
    descriptor = os.open(archive, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.fchown(descriptor, user_of(guest), user_of(guest))
        names = (",".join(_flat(place)), f"/proc/self/fd/{descriptor}")
        fetch = ("qemu-img", "convert", *options, *names)
        await run_for(
            guest, f"{DOING}: its files could not be fetched", *fetch, files=(descriptor,)
        )
        os.fchown(descriptor, 0, 0)
    finally:
        os.close(descriptor)
    try:
        await DISK.run(files.unpack, guest, archive)
    except (ValueError, tarfile.TarError) as error:
        raise failure(DOING, str(error)) from error


def _flat(options: object, prefix: str = "") -> list[str]:
    """Options of a block node as one text; of numbers and names that hold no comma."""
    if not isinstance(options, dict):
        return [f"{prefix.removesuffix('.')}={options}"]
    return [part for name, value in options.items() for part in _flat(value, f"{prefix}{name}.")]


async def _make_disks(guest: Guest, offered: Offered) -> None:
    """Empty ones; they are the guest's user's when its QEMU is launched."""
    for disk in offered.disks:
        path = guest.disk(disk.id).path(disk.format)
        create = ("qemu-img", "create", "-q", "-f", disk.format, path.name, str(disk.size))
        await run(DOING, *create, cwd=guest.directory)


async def _listen(
    monitor: Monitor, nodes: list[str], offered: Offered, address: HostAddress
) -> Receiver:
    await channel.take_key(monitor, "server")
    disks_port = await channel.serve(monitor, address)
    for node in nodes:
        await channel.export(monitor, node, writable=True)
    await machines.set_capabilities(monitor, "return-path")
    await machines.set_parameters(monitor, channel.KEYS, None)
    await monitor.execute("migrate-incoming", {"uri": f"tcp:{channel.in_uri(address)}:0"})
    port = (await machines.migration(monitor)).listening[0].port
    return Receiver(address=address, secret=offered.secret, disks_port=disks_port, port=port)
