"""Volumes of a guest that runs: given to its QEMU and taken from it over the monitor.

Each function goes on from wherever a killed control plane stopped.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter
from qemu.qmp.qmp_client import ExecuteError

from roost.engines.qemu.guests.devices import FIRST_LOOSE_LUN, volume_drive, volume_name
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import Monitor, MonitorError, connected
from roost.engines.qemu.volumes.sources import Opened, secret_name

_DEVICES = "/machine/peripheral"
_UNPLUG_SECONDS = 10.0
_RELEASE_SECONDS = 2.0
_POLL_SECONDS = 0.02


class _Property(BaseModel):
    name: str


class _Node(BaseModel):
    name: str = Field("", alias="node-name")


class _FileSet(BaseModel):
    id: int = Field(alias="fdset-id")


class _Counts(BaseModel):
    wr_operations: int


class _Usage(_Node):
    stats: _Counts


class _Disk(BaseModel):
    device: str = Field("", alias="qdev")
    locked: bool


@dataclass(frozen=True, slots=True)
class Use:
    """What a guest does with a volume."""

    locked: bool
    """Whether it says that something in it has the volume open; Linux does."""
    writes: int
    """How often it has written to it since it was plugged in."""


_PROPERTIES = TypeAdapter(list[_Property])
_NODES = TypeAdapter(list[_Node])
_FILE_SETS = TypeAdapter(list[_FileSet])
_USAGES = TypeAdapter(list[_Usage])
_DISKS = TypeAdapter(list[_Disk])
_LUN = TypeAdapter(int)


async def plug(guest: Guest, volume: Opened, label: str) -> None:
    """Nothing happens when the guest has it already. Raises MonitorError."""
    name = volume_name(volume.id)
    async with connected(guest.directory) as monitor:
        devices = await _devices(monitor)
        if name in devices:
            return
        await drop_node(monitor, name, volume.id)
        drive = volume_drive(volume.id, label, await _free_lun(monitor, devices), volume.below)
        try:
            await _hand_over(monitor, volume)
            await monitor.execute("blockdev-add", drive.node())
            await monitor.execute("device_add", drive.device())
        except ExecuteError:
            await drop_node(monitor, name, volume.id)
            raise


async def _hand_over(monitor: Monitor, volume: Opened) -> None:
    """What its node needs."""
    if volume.descriptor is not None:
        await monitor.pass_file(volume.descriptor, volume.id)
    if volume.secret is not None:
        name = secret_name(volume.id)
        secret = {"qom-type": "secret", "id": name, "format": "base64", "data": volume.secret}
        await monitor.execute("object-add", secret)


async def unplug(directory: Path, volume_id: int) -> None:
    """Take the volume away, with all that the guest wrote. Raises MonitorError."""
    name = volume_name(volume_id)
    async with connected(directory) as monitor:
        if name in await _devices(monitor):
            await monitor.execute("device_del", {"id": name})
            deadline = asyncio.get_running_loop().time() + _UNPLUG_SECONDS
            while name in await _devices(monitor):
                if asyncio.get_running_loop().time() > deadline:
                    raise MonitorError("the guest does not let go of the device")
                await asyncio.sleep(_POLL_SECONDS)
        await drop_node(monitor, name, volume_id)


async def grow(directory: Path, volume_id: int, size: int) -> None:
    """Tell QEMU, and thereby the guest, how many bytes the volume has now. Raises MonitorError."""
    name = volume_name(volume_id)
    async with connected(directory) as monitor:
        if name in await nodes(monitor):
            await monitor.execute("block_resize", {"node-name": name, "size": size})


async def look(directory: Path, volume_id: int) -> Use:
    """Nothing is done with a volume that is not plugged in. Raises MonitorError."""
    async with connected(directory) as monitor:
        usages = _USAGES.validate_python(await monitor.execute("query-blockstats"))
        disks = _DISKS.validate_python(await monitor.execute("query-block"))
    name = volume_name(volume_id)
    return Use(
        any(disk.locked for disk in disks if disk.device == name),
        sum(usage.stats.wr_operations for usage in usages if usage.name == name),
    )


async def drop_node(monitor: Monitor, name: str, set_id: int) -> None:
    """Let QEMU close what no device has, if it has it; it writes out all that it holds of it."""
    if name in await nodes(monitor):
        await _delete_node(monitor, name)
    await drop_files(monitor, set_id)
    if secret_name(set_id) in await _objects(monitor):
        await monitor.execute("object-del", {"id": secret_name(set_id)})


async def drop_files(monitor: Monitor, set_id: int) -> None:
    """Let QEMU close files that it was handed and that nothing uses."""
    if set_id in await _file_sets(monitor):
        await monitor.execute("remove-fd", {"fdset-id": set_id})


async def _delete_node(monitor: Monitor, name: str) -> None:
    """A device that has just gone holds its node for a moment longer."""
    deadline = asyncio.get_running_loop().time() + _RELEASE_SECONDS
    while True:
        try:
            await monitor.execute("blockdev-del", {"node-name": name})
            return
        except ExecuteError:
            if asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(_POLL_SECONDS)


async def _file_sets(monitor: Monitor) -> list[int]:
    answer = await monitor.execute("query-fdsets")
    return [each.id for each in _FILE_SETS.validate_python(answer)]


async def _devices(monitor: Monitor) -> list[str]:
    return await _names(monitor, _DEVICES)


async def _objects(monitor: Monitor) -> list[str]:
    return await _names(monitor, "/objects")


async def _names(monitor: Monitor, path: str) -> list[str]:
    answer = await monitor.execute("qom-list", {"path": path})
    return [each.name for each in _PROPERTIES.validate_python(answer)]


async def nodes(monitor: Monitor) -> list[str]:
    answer = await monitor.execute("query-named-block-nodes", {"flat": True})
    return [each.name for each in _NODES.validate_python(answer)]


async def _free_lun(monitor: Monitor, devices: list[str]) -> int:
    """The first one for a volume without a slot."""
    volumes = [name for name in devices if name.startswith(volume_name(0)[:-1])]
    places = [{"path": f"{_DEVICES}/{name}", "property": "lun"} for name in volumes]
    answers = await asyncio.gather(*(monitor.execute("qom-get", place) for place in places))
    taken = {_LUN.validate_python(answer) for answer in answers}
    return next(lun for lun in range(FIRST_LOOSE_LUN, 1 << 14) if lun not in taken)
