"""Backups that exist only as records."""

from collections.abc import Sequence
from dataclasses import replace

from roost.core.engine import EngineError
from roost.engines.simulated.disks import begin_disk, end_disk, find_whole
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import BACKUPS, Backup, Disk
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import BackupState, DiskSpec, Progress


class SimulatedBackups:
    """A BackupEngine."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def save(self, backup_id: int, disks: Sequence[DiskSpec], progress: Progress) -> None:
        await self._plane.fail_if_planned("backup_save")

        def begin(documents: Documents) -> bool:
            """True when it is complete already."""
            found = BACKUPS.find(documents, backup_id)
            if found is not None and found.whole:
                return True
            copies = (find_whole(documents, disk.compute_id, disk.id) for disk in disks)
            BACKUPS.put(documents, Backup(backup_id, tuple(copies)))
            return False

        if await self._plane.transact(begin):
            return
        await self._plane.plan.copy("backup_save", str(backup_id), progress)

        def end(documents: Documents) -> None:
            if begun := BACKUPS.find(documents, backup_id):
                BACKUPS.put(documents, replace(begun, whole=True))

        await self._plane.transact(end)

    async def restore(
        self, backup_id: int, disk_id: int, target: DiskSpec, progress: Progress
    ) -> None:
        await self._plane.fail_if_planned("backup_restore")

        def begin(documents: Documents) -> Disk | None:
            """The copy, or None when the target is there already."""
            if begin_disk(documents, target):
                return None
            saved = _find_copy(documents, backup_id, disk_id)
            if target.size < saved.size:
                raise EngineError("The backup could not be restored: the disk is too small")
            return saved

        saved = await self._plane.transact(begin)
        if saved is None:
            return
        await self._plane.plan.copy("backup_restore", f"{target.compute_id}/{target.id}", progress)
        content, used = saved.content, saved.used
        await self._plane.transact(lambda documents: end_disk(documents, target, content, used))

    async def delete(self, backup_id: int) -> None:
        await self._plane.fail_if_planned("backup_delete")
        found = await self._plane.transact(lambda documents: BACKUPS.find(documents, backup_id))
        if found is None:
            return
        await self._plane.plan.wait("backup_delete", str(backup_id))
        await self._plane.transact(lambda documents: BACKUPS.remove(documents, backup_id))

    async def list(self) -> list[BackupState]:
        backups = await self._plane.survey(BACKUPS.all)
        return [
            BackupState(backup.id, tuple(sorted(disk.id for disk in backup.disks)))
            for backup in backups
            if backup.whole
        ]


def _find_copy(documents: Documents, backup_id: int, disk_id: int) -> Disk:
    backup = BACKUPS.find(documents, backup_id)
    if backup is not None and backup.whole:
        for disk in backup.disks:
            if disk.id == disk_id:
                return disk
    raise EngineError("The backup does not exist")
