"""Volumes that exist only as records; a mark stands for what is on them."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from roost.core.engine import EngineError, Health
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import GUESTS, VOLUMES, Volume
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import Progress
from roost.resources.compute.engine import MountedError
from roost.resources.volumes.engine import VolumeEngine, VolumeSpec, VolumeState

_VOLUME: TypeAdapter[Volume | None] = TypeAdapter(Volume | None)


class SimulatedVolumes:
    """A VolumeEngine for the guests of a SimulatedInstances with the same `state_dir`."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each operation takes."""
        self._plane = Plane(state_dir, latency)

    async def create(self, volume: VolumeSpec) -> None:
        await self._plane.perform(
            "volume_create",
            str(volume.id),
            lambda documents: not _begin(documents, volume),
            lambda documents: _end(documents, volume, ""),
        )

    async def copy(self, source_id: int, target: VolumeSpec, progress: Progress) -> None:
        def begin(documents: Documents) -> Volume | None:
            if _begin(documents, target):
                return None
            source = _whole(documents, source_id)
            if target.size < source.size:
                raise EngineError("The volume could not be copied: the new one is too small")
            return source

        source = await self._plane.begin("volume_copy", begin)
        if source is None:
            return
        await self._plane.plan.copy("volume_copy", str(target.id), progress)
        content = source.content
        await self._plane.transact(lambda documents: _end(documents, target, content))

    async def resize(self, volume: VolumeSpec) -> None:
        def is_smaller(documents: Documents) -> bool:
            return _whole(documents, volume.id).size < volume.size

        def grow(documents: Documents) -> None:
            found = _whole(documents, volume.id)
            VOLUMES.put(documents, replace(found, size=max(found.size, volume.size)))

        await self._plane.perform("volume_resize", str(volume.id), is_smaller, grow)

    async def delete(self, volume_id: int) -> None:
        def exists(documents: Documents) -> bool:
            return VOLUMES.find(documents, volume_id) is not None

        def delete(documents: Documents) -> None:
            found = VOLUMES.find(documents, volume_id)
            if found is not None and found.compute_id is not None:
                raise EngineError("The volume could not be deleted: an instance runs with it")
            VOLUMES.remove(documents, volume_id)

        await self._plane.perform("volume_delete", str(volume_id), exists, delete)

    async def plug(self, volume_id: int, label: str, compute_id: int) -> None:
        def look(documents: Documents) -> bool:
            return _to_plug(documents, volume_id, compute_id)

        def plug(documents: Documents) -> None:
            if not _to_plug(documents, volume_id, compute_id):
                return
            found = _whole(documents, volume_id)
            VOLUMES.put(documents, replace(found, compute_id=compute_id, mounted=False))
            if guest := GUESTS.find(documents, compute_id):
                GUESTS.put(documents, replace(guest, volumes=(*guest.volumes, volume_id)))

        await self._plane.perform("volume_plug", str(volume_id), look, plug)

    async def unplug(self, volume_id: int, compute_id: int) -> None:
        await self._plane.fail_if_planned("volume_unplug")
        found = await self._find(volume_id)
        if found is None or found.compute_id != compute_id:
            return
        await self._plane.plan.wait("volume_unplug", str(volume_id))
        await self._plane.transact(lambda documents: _unplug(documents, volume_id, compute_id))

    async def take(self, volume_id: int, source: VolumeEngine) -> None:
        await self._plane.fail_if_planned("volume_take")
        if not isinstance(source, SimulatedVolumes):
            raise EngineError(f"A volume of {source.name} cannot become a simulated one")
        left = source._plane
        found = await source._find(volume_id)
        if found is None:
            return
        if found.compute_id is not None:
            raise EngineError("The volume could not be moved: an instance runs with it")
        await self._plane.plan.wait("volume_take", str(volume_id))
        await self._plane.transact(lambda documents: VOLUMES.put(documents, found))
        await left.transact(lambda documents: VOLUMES.remove(documents, volume_id))

    async def pack(self, volume_id: int) -> AsyncGenerator[bytes, None]:
        await self._plane.fail_if_planned("volume_pack")
        found = await self._find(volume_id)
        if found is not None and found.compute_id is not None:
            raise EngineError("The volume could not be moved: an instance runs with it")
        yield _VOLUME.dump_json(found)

    async def unpack(self, volume_id: int, content: AsyncIterator[bytes]) -> None:
        await self._plane.fail_if_planned("volume_unpack")
        found = _VOLUME.validate_json(b"".join([piece async for piece in content]))
        if found is not None:
            await self._plane.transact(lambda documents: VOLUMES.put(documents, found))

    async def inspect(self, volume_id: int) -> VolumeState | None:
        await self._plane.fail_if_planned("volume_inspect")
        found = await self._find(volume_id)
        return None if found is None else _state(found)

    async def list(self) -> list[VolumeState]:
        return [_state(volume) for volume in await self._plane.survey(VOLUMES.all)]

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def close(self) -> None:
        self._plane.state.close()

    async def write(self, volume_id: int, content: str) -> None:
        """Change what is on a volume, as a guest would."""

        def write(documents: Documents) -> None:
            VOLUMES.put(documents, replace(_whole(documents, volume_id), content=content))

        await self._plane.transact(write)

    async def read(self, volume_id: int) -> str:
        """What is on a volume."""
        return await self._plane.transact(lambda documents: _whole(documents, volume_id).content)

    async def mount(self, volume_id: int, mounted: bool = True) -> None:
        """The guest that has the volume mounts it, so that it cannot be unplugged, or unmounts it.

        EngineError when no running guest has it.
        """

        def mount(documents: Documents) -> None:
            found = _whole(documents, volume_id)
            if found.compute_id is None:
                raise EngineError("No running instance has the volume")
            VOLUMES.put(documents, replace(found, mounted=mounted))

        await self._plane.transact(mount)

    async def lose(self, volume_id: int) -> None:
        """The volume vanishes, as a file would that somebody removes."""
        await self._plane.transact(lambda documents: VOLUMES.remove(documents, volume_id))

    async def _find(self, volume_id: int) -> Volume | None:
        return await self._plane.transact(lambda documents: VOLUMES.find(documents, volume_id))


def _begin(documents: Documents, volume: VolumeSpec) -> bool:
    """Begin to make a volume; True when it is there already."""
    found = VOLUMES.find(documents, volume.id)
    if found is not None and found.whole:
        return True
    begun = Volume(volume.id, volume.size)
    if found != begun:
        VOLUMES.put(documents, begun)
    return False


def _end(documents: Documents, volume: VolumeSpec, content: str) -> None:
    """Complete a volume that was begun, unless it was removed or completed meanwhile."""
    found = VOLUMES.find(documents, volume.id)
    if found is not None and not found.whole:
        VOLUMES.put(documents, replace(found, content=content, whole=True))


def _whole(documents: Documents, volume_id: int) -> Volume:
    volume = VOLUMES.find(documents, volume_id)
    if volume is None or not volume.whole:
        raise EngineError(f"The data of volume {volume_id} do not exist")
    return volume


def _to_plug(documents: Documents, volume_id: int, compute_id: int) -> bool:
    """Whether something is left to do. EngineError when another guest has it."""
    guest = GUESTS.find(documents, compute_id)
    if guest is None or guest.started is None or volume_id in guest.volumes:
        return False
    if _whole(documents, volume_id).compute_id is not None:
        raise EngineError(f"Volume {volume_id} is in use by another instance")
    return True


def _unplug(documents: Documents, volume_id: int, compute_id: int) -> None:
    volume = VOLUMES.find(documents, volume_id)
    if volume is None or volume.compute_id != compute_id:
        return
    if volume.mounted:
        raise MountedError(
            "The instance still uses the volume: unmount it first, or shut the instance down"
        )
    VOLUMES.put(documents, replace(volume, compute_id=None))
    if guest := GUESTS.find(documents, compute_id):
        left = tuple(each for each in guest.volumes if each != volume_id)
        GUESTS.put(documents, replace(guest, volumes=left))


def _state(volume: Volume) -> VolumeState:
    return VolumeState(volume.id, volume.size if volume.whole else 0, volume.compute_id)
