"""Volumes as RBD images of a Ceph cluster, for guests that are QEMU processes of this host.

The object holds no state: the cluster and the guests tell what there is and who has it.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from roost.core.engine import EngineError, Health
from roost.engines.locks import locked
from roost.engines.qemu.guests.devices import volume_name
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.host.programs import faults, patiently
from roost.engines.qemu.rbd.cluster import Cluster
from roost.engines.qemu.rbd.room import check_room, health
from roost.engines.qemu.volumes import plugging
from roost.engines.qemu.volumes.mounts import is_mounted
from roost.engines.qemu.volumes.rbd_source import RbdSource
from roost.engines.qemu.volumes.taking import ask, await_unmount, unless_deleted
from roost.resources.compute.disk_engine import Progress
from roost.resources.volumes.engine import VolumeEngine, VolumeSpec, VolumeState
from roost.threads import DISK

_MAKE = "The volume could not be made"
_COPY = "The volume could not be copied"
_RESIZE = "The volume could not be resized"
_DELETE = "The volume could not be deleted"
_ATTACH = "The volume could not be attached"
_DETACH = "The volume could not be detached"
_MOVE = "The volume could not be moved"

_GB = 1 << 30
_NAME = re.compile(r"volume-(\d+)(\.part)?")


class RbdVolumes:
    """A VolumeEngine for the guests of a QemuInstances with the same `state_dir`."""

    name = "ceph"

    def __init__(self, state_dir: Path, cluster: Cluster) -> None:
        self._state_dir = state_dir.resolve()
        self._cluster = cluster
        self._source = RbdSource(self._state_dir, cluster)
        self._images = self._source.images

    async def create(self, volume: VolumeSpec) -> None:
        async with self._source.locked(volume.id):
            await check_room(self._cluster, _MAKE)
            await self._images.create(_MAKE, volume.name, volume.size * _GB)

    async def copy(self, source_id: int, target: VolumeSpec, progress: Progress) -> None:
        await check_room(self._cluster, _COPY)
        source = await self._images.find(volume_name(source_id))
        if await self._images.find(target.name) is not None:
            return
        if source is None:
            raise EngineError(f"The data of volume {source_id} do not exist")
        if target.size * _GB < source.size:
            raise EngineError(f"{_COPY}: the new one is too small")
        async with self._source.locked(target.id):
            if await self._images.find(target.name) is None:
                await self._copy(volume_name(source_id), target, progress)

    async def resize(self, volume: VolumeSpec) -> None:
        await check_room(self._cluster, _RESIZE)
        async with self._source.locked(volume.id):
            found, size = await self._images.find(volume.name), volume.size * _GB
            if found is None:
                raise EngineError(f"{_RESIZE}: its data do not exist")
            if found.size < size:
                await self._images.resize(_RESIZE, volume.name, size)
            # Also when only the image was grown before.
            if (compute_id := await self._source.holder(volume.id)) is not None:
                guest = Guest(self._state_dir, compute_id)
                grow = partial(plugging.grow, guest.directory, volume.id, max(size, found.size))
                await ask(_RESIZE, guest, grow)

    async def delete(self, volume_id: int) -> None:
        name = volume_name(volume_id)
        async with self._source.locked(volume_id) as folder:
            if await self._source.holder(volume_id) is not None:
                raise EngineError(f"{_DELETE}: an instance runs with it")
            listed = await self._images.all()
            for each in listed:
                if each.snapshot == _snapshot(volume_id):
                    await self._images.drop_snapshot(_DELETE, each.image, each.snapshot)
            there = {each.image for each in listed}
            if name in there:
                await self._source.keys.drop(name)
            for each_name in there & {_part(volume_id), name}:
                await self._remove(_DELETE, each_name)
            folder.rmdir()

    async def plug(self, volume_id: int, label: str, compute_id: int) -> None:
        guest = Guest(self._state_dir, compute_id)
        if guest.process() is None:
            return
        with faults(_ATTACH), unless_deleted(guest):
            async with locked(guest.directory):
                await patiently(lambda: self._plug(guest, volume_id, label))

    async def unplug(self, volume_id: int, compute_id: int) -> None:
        guest = Guest(self._state_dir, compute_id)
        if guest.process() is None:
            return
        with faults(_DETACH), unless_deleted(guest):
            async with locked(guest.directory):
                await ask(_DETACH, guest, partial(self._take, guest, volume_id))

    async def take(self, volume_id: int, source: VolumeEngine) -> None:
        raise EngineError(f"{_MOVE}: it is one of {source.name}")

    def pack(self, volume_id: int) -> AsyncGenerator[bytes, None]:
        raise EngineError(f"{_MOVE}: those of a storage cluster stay on their host")

    async def unpack(self, volume_id: int, content: AsyncIterator[bytes]) -> None:
        raise EngineError(f"{_MOVE}: those of a storage cluster stay on their host")

    async def inspect(self, volume_id: int) -> VolumeState | None:
        found = await self._images.find(volume_name(volume_id))
        if found is not None:
            holder = await self._source.holder(volume_id)
            return VolumeState(volume_id, found.size // _GB, holder)
        begun = await self._images.find(_part(volume_id))
        return None if begun is None else VolumeState(volume_id, 0, None)

    async def list(self) -> list[VolumeState]:
        sizes = dict[int, int]()
        for each in await self._images.all():
            match = _NAME.fullmatch(each.image)
            if match and each.snapshot is None:
                size = 0 if match[2] else each.size // _GB
                sizes[int(match[1])] = max(size, sizes.get(int(match[1]), 0))
        held = await self._source.holders() if sizes else {}
        return [VolumeState(each, sizes[each], held.get(each)) for each in sorted(sizes)]

    async def health(self) -> Health:
        return await health(self._cluster)

    async def close(self) -> None:
        """Nothing is held between calls."""

    async def _copy(self, source: str, target: VolumeSpec, progress: Progress) -> None:
        """As of a snapshot, which goes again."""
        part, snapshot = _part(target.id), _snapshot(target.id)
        await self._remove(_COPY, part)
        try:
            await self._images.take_snapshot(_COPY, source, snapshot)
            await self._images.copy(_COPY, f"{source}@{snapshot}", part, progress)
            made = await self._images.find(part)
            if made is not None and made.size < target.size * _GB:
                await self._images.resize(_COPY, part, target.size * _GB)
            await self._images.rename(_COPY, part, target.name)
        except BaseException:
            with suppress(EngineError):
                await self._remove(_COPY, part)
            raise
        finally:
            with suppress(EngineError):
                await self._images.drop_snapshot(_COPY, source, snapshot)

    async def _remove(self, doing: str, name: str) -> None:
        """An image that no guest has; what was killed may still have it open."""
        await self._source.clear(doing, name)
        await patiently(lambda: self._images.remove(doing, name))

    async def _plug(self, guest: Guest, volume_id: int, label: str) -> None:
        async with self._source.opened(guest, [volume_id]) as opened:
            await ask(_ATTACH, guest, partial(plugging.plug, guest, opened[volume_id], label))

    async def _take(self, guest: Guest, volume_id: int) -> None:
        """MountedError when the guest uses the volume; one that is gone is taken at once."""
        found = await self._images.find(volume_name(volume_id))
        if found is not None:
            await await_unmount(guest, volume_id, partial(self._is_mounted, found.id))
        await plugging.unplug(guest.directory, volume_id)

    async def _is_mounted(self, image_id: str) -> bool:
        with TemporaryDirectory(prefix="roost-volume-") as folder:
            path = await self._images.beginning(image_id, Path(folder))
            return await DISK.run(is_mounted, path)


def _part(volume_id: int) -> str:
    """The name of a copy that has not come to its end."""
    return f"{volume_name(volume_id)}.part"


def _snapshot(volume_id: int) -> str:
    """Of the source of a copy, while that is made."""
    return f"copy-{volume_id}"
