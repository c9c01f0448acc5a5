"""Disks that exist only as records; a mark stands for what is on them."""

from dataclasses import replace

from roost.core.engine import EngineError
from roost.engines.simulated.guests import disk_state
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import DISKS, GUESTS, IMAGES, Disk
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import DiskSpec, DiskState, Progress, private_image


class SimulatedDisks:
    """A DiskEngine."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def make(self, disk: DiskSpec) -> None:
        await self._plane.fail_if_planned("disk_make")
        content = f"image {disk.image}" if disk.image else f"empty {disk.filesystem}"
        if await self._plane.transact(lambda documents: begin_disk(documents, disk)):
            return
        await self._plane.plan.wait("disk_make", f"{disk.compute_id}/{disk.id}")
        await self._plane.transact(lambda documents: _fill(documents, disk, content))

    async def resize(self, disk: DiskSpec) -> None:
        await self._plane.fail_if_planned("disk_resize")
        found = await self._plane.transact(lambda documents: _resizable(documents, disk))
        if found.size == disk.size:
            return
        await self._plane.plan.wait("disk_resize", f"{disk.compute_id}/{disk.id}")

        def resize(documents: Documents) -> None:
            DISKS.put(documents, replace(_resizable(documents, disk), size=disk.size))

        await self._plane.transact(resize)

    async def copy(self, source: DiskSpec, target: DiskSpec, progress: Progress) -> None:
        await self._plane.fail_if_planned("disk_copy")

        def begin(documents: Documents) -> Disk | None:
            if begin_disk(documents, target):
                return None
            found = find_whole(documents, source.compute_id, source.id)
            if target.size < found.size:
                raise EngineError("The disk could not be copied: the new one is too small")
            return found

        copied = await self._plane.transact(begin)
        if copied is None:
            return
        await self._plane.plan.copy("disk_copy", f"{target.compute_id}/{target.id}", progress)
        content, used = copied.content, copied.used
        await self._plane.transact(lambda documents: end_disk(documents, target, content, used))

    async def delete(self, compute_id: int, disk_id: int) -> None:
        await self._plane.fail_if_planned("disk_delete")
        if await self._find(compute_id, disk_id) is None:
            return
        await self._plane.plan.wait("disk_delete", f"{compute_id}/{disk_id}")

        def delete(documents: Documents) -> None:
            refuse_running(documents, compute_id, disk_id, "deleted")
            DISKS.remove(documents, (compute_id, disk_id))

        await self._plane.transact(delete)

    async def inspect(self, compute_id: int, disk_id: int) -> DiskState | None:
        await self._plane.fail_if_planned("disk_inspect")
        disk = await self._find(compute_id, disk_id)
        return None if disk is None else disk_state(disk)

    async def write(self, compute_id: int, disk_id: int, content: str, used: int = 0) -> None:
        """Change what is on a disk, as its guest would; it then needs `used` MB."""

        def write(documents: Documents) -> None:
            disk = find_whole(documents, compute_id, disk_id)
            DISKS.put(documents, replace(disk, content=content, used=used))

        await self._plane.transact(write)

    async def read(self, compute_id: int, disk_id: int) -> str:
        """What is on a disk."""
        return await self._plane.transact(
            lambda documents: find_whole(documents, compute_id, disk_id).content
        )

    async def lose(self, compute_id: int, disk_id: int) -> None:
        """The disk vanishes, as a file would that somebody removes."""
        await self._plane.transact(lambda documents: DISKS.remove(documents, (compute_id, disk_id)))

    async def _find(self, compute_id: int, disk_id: int) -> Disk | None:
        return await self._plane.transact(
            lambda documents: DISKS.find(documents, (compute_id, disk_id))
        )


def begin_disk(documents: Documents, disk: DiskSpec) -> bool:
    """Begin to make a disk; True when it is there already."""
    found = DISKS.find(documents, (disk.compute_id, disk.id))
    if found is not None and found.whole:
        return True
    DISKS.put(documents, Disk(disk.id, disk.compute_id, disk.size, disk.filesystem, ""))
    return False


def end_disk(documents: Documents, disk: DiskSpec, content: str, used: int) -> None:
    """Complete a disk that was begun, unless it was removed or completed meanwhile."""
    found = DISKS.find(documents, (disk.compute_id, disk.id))
    if found is not None and not found.whole:
        DISKS.put(documents, replace(found, content=content, used=used, whole=True))


def _fill(documents: Documents, disk: DiskSpec, content: str) -> None:
    """With what its image holds, where that is known here; any other one is taken for granted."""
    captured = next((i for i in IMAGES.all(documents) if private_image(i.id) == disk.image), None)
    if captured is None:
        end_disk(documents, disk, content, 0)
    else:
        end_disk(documents, disk, captured.content, captured.used)


def find_whole(documents: Documents, compute_id: int, disk_id: int) -> Disk:
    disk = DISKS.find(documents, (compute_id, disk_id))
    if disk is None or not disk.whole:
        raise EngineError(f"Disk {disk_id} does not exist")
    return disk


def _resizable(documents: Documents, disk: DiskSpec) -> Disk:
    found = find_whole(documents, disk.compute_id, disk.id)
    if found.size == disk.size:
        return found
    refuse_running(documents, disk.compute_id, disk.id, "resized")
    if disk.size < found.used:
        raise EngineError("The disk could not be resized: what it holds needs more room")
    return found


def refuse_running(documents: Documents, compute_id: int, disk_id: int, done: str) -> None:
    guest = GUESTS.find(documents, compute_id)
    if guest is not None and disk_id in guest.disks:
        raise EngineError(f"The disk could not be {done}: the instance runs with it")
