"""A guest leaves this host while it runs.

    mirrors of its disks -> its memory -> halted: mirrors end -> the rest of it -> halted for good

Whatever fails before the last step lets it go on here. After that QEMU keeps it halted.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import structlog
from pydantic import BaseModel, Field, TypeAdapter
from qemu.qmp.qmp_client import ExecuteError

from roost.core.engine import EngineError
from roost.engines.qemu.boot.command import Accelerator
from roost.engines.qemu.disks.live_copies import held
from roost.engines.qemu.guests.devices import Options, disk_name, disk_of, volume_name, volume_of
from roost.engines.qemu.guests.directory import RESCUE_DISK, Guest
from roost.engines.qemu.guests.monitor import Monitor, MonitorError, connected
from roost.engines.qemu.migration import channel, files, machines, mirrors
from roost.engines.qemu.migration.messages import Offered, OfferedDisk, Receiver, processor_of
from roost.engines.qemu.volumes.plugging import nodes
from roost.resources.compute.disk_engine import Progress
from roost.resources.compute.live_engine import HostAddress, UnfitError
from roost.threads import DISK

DOING = "The instance could not be moved while it runs"

_POLL_SECONDS = 0.1
_HALT_POLL_SECONDS = 0.005
_TURN_SECONDS = 1.0
"""For so long others wait that want to ask QEMU something meanwhile."""
_PATIENCE_SECONDS = 30.0
"""Without a byte that got through."""
_CANCEL_SECONDS = 20.0
_MOST = 99
"""Percent, until the guest is there."""
_HALTED = ("postmigrate", "finish-migrate", "paused")

_log = structlog.get_logger(__name__)


class _YankInstance(BaseModel):
    """Something of QEMU's that waits for another host."""

    type: str
    node: str | None = Field(None, alias="node-name")


_YANK_INSTANCES = TypeAdapter(list[_YankInstance])


class _Advance:
    """What has gone to the other host; MonitorError when that stalls."""

    def __init__(self, memory: int, progress: Progress) -> None:
        """`memory`: bytes."""
        self._disks = mirrors.MirrorProgress(0, 0, ready=False)
        self._memory, self._sent, self._progress = memory, 0, progress
        self._last, self._since = (0, 0), asyncio.get_running_loop().time()

    def disks(self, mirrored: mirrors.MirrorProgress) -> None:
        self._disks = mirrored
        self._check()

    def ram(self, ram: machines.Ram | None) -> None:
        self._sent = 0 if ram is None else ram.transferred
        self._check()

    async def tell(self) -> None:
        total = self._disks.total + self._memory
        done = self._disks.done + min(self._sent, self._memory)
        await self._progress(min(_MOST, 100 * done // max(1, total)))

    def _check(self) -> None:
        now, seen = asyncio.get_running_loop().time(), (self._disks.done, self._sent)
        if seen != self._last:
            self._last, self._since = seen, now
        elif now - self._since > _PATIENCE_SECONDS:
            raise MonitorError("the other host takes nothing any more")


async def describe(guest: Guest, address: HostAddress) -> Offered:
    """What goes on and how; its files wait at `address` to be fetched."""
    boot = guest.last_boot()
    if not boot.shape:
        raise UnfitError(f"{DOING}: it was started by an earlier release")
    if (guest.directory / RESCUE_DISK).exists():
        raise UnfitError(f"{DOING}: it is in rescue mode")
    await abort(guest)
    secret = channel.new_secret()
    channel.write_key(guest, secret)
    archive = await DISK.run(files.pack, guest)
    async with asked(guest), connected(guest.directory) as monitor:
        if "rbd" in await machines.drivers(monitor):
            raise UnfitError(f"{DOING}: it has volumes of a storage cluster")
        await channel.take_key(monitor, "server")
        port = await channel.serve(monitor, address)
        await _show(monitor, os.open(archive, os.O_RDONLY | os.O_CLOEXEC))
        accelerator: Accelerator = "kvm" if await machines.uses_kvm(monitor) else "tcg"
        sizes = await machines.sizes(monitor)
        volumes = [each for each in map(volume_of, sizes) if each is not None]
        return Offered(
            address=address,
            secret=secret,
            port=port,
            shape=boot.shape,
            accelerator=accelerator,
            machine=await machines.machine_type(monitor),
            processors=await machines.processors(monitor),
            processor=processor_of(accelerator),
            version=await machines.version(monitor),
            disks=tuple(_disk(guest, each, sizes) for each in boot.disks),
            luns={each: await machines.lun(monitor, volume_name(each)) for each in volumes},
        )


async def send(guest: Guest, receiver: Receiver, limit: int | None, progress: Progress) -> None:
    """Returns when it is halted here for good, and whole there."""
    async with asked(guest):
        if await _is_gone(guest):
            return
        await abort(guest)
        channel.write_key(guest, receiver.secret)
        advance = _Advance(guest.last_boot().memory << 20, progress)
        try:
            names = await _begin(guest, receiver, limit)
            await _mirror(guest, names, advance)
            await _send_memory(guest, receiver, limit)
            await _halt(guest, advance)
        except BaseException:
            await asyncio.shield(asyncio.ensure_future(abort(guest)))
            raise


async def abort(guest: Guest) -> None:
    """Nothing of a move is left, and the guest goes on."""
    if guest.process() is not None:
        async with asked(guest), connected(guest.directory) as monitor:
            await _cut(monitor)
            await _cancel(monitor)
            if (state := await machines.state(monitor)).status in _HALTED and not state.running:
                await monitor.execute("cont")
            await mirrors.drop(monitor)
            await channel.stop_serving(monitor)
            if files.NAME in await nodes(monitor):
                await monitor.execute("blockdev-del", {"node-name": files.NAME})
            await channel.drop_key(monitor)
    channel.forget_key(guest)
    files.forget(guest)


@asynccontextmanager
async def asked(guest: Guest) -> AsyncIterator[None]:
    """Faults of QEMU in words for the instance's owner."""
    try:
        yield
    except MonitorError as error:
        _log.warning("engine fault", doing=DOING, guest=guest.id, detail=str(error))
        if guest.process() is None:
            raise EngineError(f"{DOING}: the instance went off meanwhile") from error
        raise EngineError(f"{DOING}: one of the hosts has broken it off") from error


def _disk(guest: Guest, disk_id: int, sizes: dict[str, int]) -> OfferedDisk:
    place = guest.disk(disk_id)
    found = place.find()
    if found is None:
        raise EngineError(f"Disk {disk_id} does not exist")
    return OfferedDisk(
        id=disk_id, format=found.format, size=sizes[disk_name(disk_id)], held=held(place)
    )


async def _show(monitor: Monitor, archive: int) -> None:
    """Let the other host read the file."""
    try:
        file = await monitor.pass_file(archive)
    finally:
        os.close(archive)
    node: Options = {"driver": "file", "filename": file, "read-only": True}
    raw: Options = {"driver": "raw", "node-name": files.NAME, "read-only": True, "file": node}
    await monitor.execute("blockdev-add", raw)
    await channel.export(monitor, files.NAME, writable=False)


async def _is_gone(guest: Guest) -> bool:
    """Whether an earlier call has done all."""
    if guest.process() is None:
        raise EngineError(f"{DOING}: it is off")
    async with connected(guest.directory) as monitor:
        status = (await machines.migration(monitor)).status
        return status == "completed" and not (await machines.state(monitor)).running


async def _begin(guest: Guest, receiver: Receiver, limit: int | None) -> Sequence[str]:
    """The names of all that is mirrored."""
    async with connected(guest.directory) as monitor:
        await channel.take_key(monitor, "client")
        names = [
            name
            for name in await nodes(monitor)
            if disk_of(name) is not None or volume_of(name) is not None
        ]
        await mirrors.begin(monitor, names, receiver, limit)
        return names


async def _mirror(guest: Guest, names: Sequence[str], advance: _Advance) -> None:
    """Returns when all disks are there, and are kept the same."""
    while True:
        async with connected(guest.directory) as monitor:
            mirrored = await mirrors.look(monitor, len(names))
        if mirrored.ready:
            return
        advance.disks(mirrored)
        await advance.tell()
        await asyncio.sleep(_POLL_SECONDS)


async def _send_memory(guest: Guest, receiver: Receiver, limit: int | None) -> None:
    """Without KVM the guest is halted before: QEMU misses pages that it changes meanwhile."""
    async with connected(guest.directory) as monitor:
        await machines.set_capabilities(
            monitor, "pause-before-switchover", "return-path", "auto-converge"
        )
        await machines.set_parameters(monitor, channel.KEYS, limit)
        if not await machines.uses_kvm(monitor):
            await monitor.execute("stop")
        await monitor.execute("migrate", {"uri": channel.uri(receiver)})


async def _halt(guest: Guest, advance: _Advance) -> None:
    """Once its memory is there, but for a little: the guest's silence begins, so nothing waits."""
    clock = asyncio.get_running_loop().time
    while True:
        async with connected(guest.directory) as monitor:
            turn = clock() + _TURN_SECONDS
            while clock() < turn:
                seen = await machines.migration(monitor)
                if seen.status == "pre-switchover":
                    await mirrors.finish(monitor)
                    await monitor.execute("migrate-continue", {"state": "pre-switchover"})
                    return await _await_end(monitor)
                if seen.status not in machines.MOVING:
                    raise MonitorError(seen.error or seen.status)
                advance.ram(seen.ram)
                await asyncio.sleep(_HALT_POLL_SECONDS)
        await advance.tell()


async def _await_end(monitor: Monitor) -> None:
    """The other side says when it has all."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
    while (seen := await machines.migration(monitor)).status != "completed":
        late = asyncio.get_running_loop().time() > deadline
        if late or seen.status not in machines.MOVING:
            raise MonitorError(seen.error or seen.status)
        await asyncio.sleep(_HALT_POLL_SECONDS)


async def _cut(monitor: Monitor) -> None:
    """Nothing waits for another host any more, which may never answer."""
    found = _YANK_INSTANCES.validate_python(await monitor.execute("query-yank"))
    own = [each for each in found if each.type == "migration" or mirrors.is_one(each.node)]
    if own:
        instances = [each.model_dump(by_alias=True, exclude_none=True) for each in own]
        with suppress(ExecuteError):  # One has ended meanwhile.
            await monitor.execute("yank", {"instances": instances})


async def _cancel(monitor: Monitor) -> None:
    deadline = asyncio.get_running_loop().time() + _CANCEL_SECONDS
    while (await machines.migration(monitor)).status in machines.MOVING:
        if asyncio.get_running_loop().time() > deadline:
            raise MonitorError("the move does not end")
        await monitor.execute("migrate_cancel")
        await asyncio.sleep(_HALT_POLL_SECONDS)
