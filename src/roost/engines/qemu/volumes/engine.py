"""Volumes as sparse files of this host, for guests that are QEMU processes of it.

The object holds no state: files and processes tell what there is and who has it.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from roost.core.engine import EngineError, Health
from roost.engines.locks import locked
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.host.files import move, sync
from roost.engines.qemu.host.parcels import pack, unpack
from roost.engines.qemu.host.programs import failure, patiently
from roost.engines.qemu.volumes import plugging
from roost.engines.qemu.volumes.copies import abandon_copies_of, abandon_copy, copy_volume
from roost.engines.qemu.volumes.files import VolumeFile, all_volumes, holders
from roost.engines.qemu.volumes.mounts import is_mounted
from roost.engines.qemu.volumes.sources import FileSource
from roost.engines.qemu.volumes.taking import ask, await_unmount, unless_deleted
from roost.resources.compute.disk_engine import Progress
from roost.resources.volumes.engine import VolumeEngine, VolumeSpec, VolumeState
from roost.threads import DISK

_ATTACH = "The volume could not be attached"
_DETACH = "The volume could not be detached"
_RESIZE = "The volume could not be resized"

_GB = 1 << 30


class QemuVolumes:
    """A VolumeEngine for the guests of a QemuInstances with the same `state_dir`."""

    name = "qemu"

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir.resolve()

    async def create(self, volume: VolumeSpec) -> None:
        file = self._file(volume.id)
        with _faults("The volume could not be made"):
            async with _made_and_locked(file):
                if not file.data.exists():
                    with file.partial.open("wb") as data:
                        data.truncate(volume.size * _GB)
                    await DISK.run(file.put)

    async def copy(self, source_id: int, target: VolumeSpec, progress: Progress) -> None:
        source, file = self._file(source_id), self._file(target.id)
        with _faults("The volume could not be copied"):
            if file.data.exists():
                return
            if not source.data.exists():
                raise EngineError(f"The data of volume {source_id} do not exist")
            if target.size < source.size():
                raise EngineError("The volume could not be copied: the new one is too small")
            async with _made_and_locked(file):
                if not file.data.exists():
                    await copy_volume(source, file, target.size * _GB, progress)

    async def resize(self, volume: VolumeSpec) -> None:
        file = self._file(volume.id)
        with _faults(_RESIZE):
            async with locked(file.directory):
                if file.size() < volume.size:
                    with file.data.open("r+b") as data:
                        data.truncate(volume.size * _GB)
                    await DISK.run(sync, file.data)
                # Also when only the file was grown before.
                if (compute_id := await file.holder()) is not None:
                    guest, size = Guest(self._state_dir, compute_id), file.data.stat().st_size
                    await ask(
                        _RESIZE, guest, partial(plugging.grow, guest.directory, volume.id, size)
                    )

    async def delete(self, volume_id: int) -> None:
        file = self._file(volume_id)
        if not file.directory.exists():
            return
        with _faults("The volume could not be deleted"):
            async with locked(file.directory):
                if await file.holder() is not None:
                    raise EngineError("The volume could not be deleted: an instance runs with it")
                await abandon_copy(file)
                await DISK.run(file.remove)

    async def plug(self, volume_id: int, label: str, compute_id: int) -> None:
        guest = Guest(self._state_dir, compute_id)
        if guest.process() is None:
            return
        with _faults(_ATTACH), unless_deleted(guest):
            async with locked(guest.directory):
                await patiently(lambda: self._plug(guest, volume_id, label))

    async def unplug(self, volume_id: int, compute_id: int) -> None:
        guest, file = Guest(self._state_dir, compute_id), self._file(volume_id)
        if guest.process() is None:
            return
        with _faults(_DETACH), unless_deleted(guest):
            async with locked(guest.directory):
                await ask(_DETACH, guest, partial(_take, guest, file))

    async def take(self, volume_id: int, source: VolumeEngine) -> None:
        doing = "The volume could not be moved"
        if not isinstance(source, QemuVolumes):
            raise EngineError(f"{doing}: it is one of {source.name}")
        file = source._file(volume_id)
        if not file.directory.exists():
            return
        with _faults(doing):
            async with locked(file.directory):
                if await file.holder() is not None:
                    raise EngineError(f"{doing}: an instance runs with it")
                await move(file.directory, self._file(volume_id).directory)

    async def pack(self, volume_id: int) -> AsyncGenerator[bytes, None]:
        doing, file = "The volume could not be moved", self._file(volume_id)
        with _faults(doing):
            async with locked(file.directory):
                if await file.holder() is not None:
                    raise EngineError(f"{doing}: an instance runs with it")
                name = f"volumes/{file.directory.name}"
                async with aclosing(pack(doing, self._state_dir, [name])) as pieces:
                    async for piece in pieces:
                        yield piece

    async def unpack(self, volume_id: int, content: AsyncIterator[bytes]) -> None:
        doing, file = "The volume could not be moved", self._file(volume_id)
        if file.exists() and await file.holder() is not None:
            raise EngineError(f"{doing}: an instance runs with it there")
        with _faults(doing):
            name = f"volumes/{file.directory.name}"
            await unpack(doing, self._state_dir, [name], content)

    async def inspect(self, volume_id: int) -> VolumeState | None:
        file = self._file(volume_id)
        if not file.exists():
            return None
        return VolumeState(volume_id, file.size(), await file.holder())

    async def list(self) -> list[VolumeState]:
        with _faults("The volumes cannot be seen"):
            return await DISK.run(_all_states, self._state_dir)

    async def health(self) -> Health:
        """That there is little room is told by the host of the instances."""
        return Health(ok=True, detail="files")

    async def close(self) -> None:
        """Nothing is held between calls."""

    async def _plug(self, guest: Guest, volume_id: int, label: str) -> None:
        async with FileSource(self._state_dir).opened(guest, [volume_id]) as opened:
            await ask(_ATTACH, guest, partial(plugging.plug, guest, opened[volume_id], label))

    def _file(self, volume_id: int) -> VolumeFile:
        return VolumeFile(self._state_dir, volume_id)


def _all_states(state_dir: Path) -> list[VolumeState]:
    held = holders(state_dir)
    return [
        VolumeState(file.id, file.size(), held.get(str(file.data)))
        for file in all_volumes(state_dir)
    ]


async def _take(guest: Guest, file: VolumeFile) -> None:
    """MountedError when the guest uses the volume; one whose file is gone is taken at once."""
    if file.data.exists():
        await await_unmount(guest, file.id, partial(DISK.run, is_mounted, file.data))
    await abandon_copies_of(guest, file)
    await plugging.unplug(guest.directory, file.id)


@asynccontextmanager
async def _made_and_locked(file: VolumeFile) -> AsyncIterator[None]:
    file.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with locked(file.directory):
        yield


@contextmanager
def _faults(doing: str) -> Iterator[None]:
    """Tell faults of the host's disk in words for the volume's owner."""
    try:
        yield
    except FileNotFoundError as error:
        raise EngineError(f"{doing}: its data do not exist") from error
    except OSError as error:
        raise failure(doing, error) from error
