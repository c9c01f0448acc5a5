"""Backups: a directory each, with a qcow2 for each disk that rests on nothing else.

Beside a disk that began as an image lies the kernel that it boots. All of it is root's; only who is
given an open file reads it, so the files themselves may be read by all.
"""

import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import all_locked, locked
from roost.engines.qemu.disks.copies import begin_copy, convert, copy_disks, end_copy, sink
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import Place, disk_ids
from roost.engines.qemu.guests.users import open_directory
from roost.engines.qemu.host.files import move, sync
from roost.engines.qemu.host.programs import faults
from roost.resources.compute.disk_engine import BackupState, DiskSpec, Progress
from roost.threads import DISK

_NAME = re.compile(r"backup-(\d+)")


class QemuBackups:
    """A BackupEngine."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._directory = state_dir / "backups"

    async def save(self, backup_id: int, disks: Sequence[DiskSpec], progress: Progress) -> None:
        whole = self._path(backup_id)
        if whole.exists():
            return
        doing = "The backup could not be made"
        guests = [Guest(self._state_dir, disk.compute_id) for disk in disks]
        with faults(doing):
            async with all_locked(guest.directory for guest in guests):
                if whole.exists():
                    return
                async with _begun(whole) as part:
                    if guests:
                        await _save(part, guests[0], disks, progress, doing)
                await DISK.run(sync, whole, self._directory, self._state_dir)

    async def restore(
        self, backup_id: int, disk_id: int, target: DiskSpec, progress: Progress
    ) -> None:
        doing = "The backup could not be restored"
        guest = Guest(self._state_dir, target.compute_id)
        saved = Place(self._path(backup_id), disk_id)
        if guest.disk(target.id).find() is not None:
            return
        with faults(doing):
            open_directory(guest)
            async with locked(guest.directory):
                if guest.disk(target.id).find() is None:
                    with guest.disk(target.id).begun():
                        await _restore(guest, saved, target, progress, doing)

    async def delete(self, backup_id: int) -> None:
        whole = self._path(backup_id)
        part = whole.with_suffix(".part")
        with faults("The backup could not be deleted"):
            if whole.exists():
                await DISK.run(shutil.rmtree, part, ignore_errors=True)
                whole.rename(part)
            if part.exists():
                await DISK.run(shutil.rmtree, part)

    async def take(self, backup_id: int, source: "QemuBackups") -> None:
        """What another region of this host has of a backup. Raises OSError and EngineError."""
        await move(source._path(backup_id), self._path(backup_id))

    async def list(self) -> list[BackupState]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        ids = sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))
        return [BackupState(each, tuple(disk_ids(self._path(each)))) for each in ids]

    def _path(self, backup_id: int) -> Path:
        return self._directory / f"backup-{backup_id}"


@asynccontextmanager
async def _begun(whole: Path) -> AsyncIterator[Path]:
    """A new directory that in the end is the whole backup; nothing of one that fails stays."""
    part = whole.with_suffix(".part")
    await DISK.run(shutil.rmtree, part, ignore_errors=True)
    part.mkdir(mode=0o700, parents=True)
    try:
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    part.rename(whole)


async def _save(
    part: Path, guest: Guest, disks: Sequence[DiskSpec], progress: Progress, doing: str
) -> None:
    copies = {disk.id: Place(part, disk.id) for disk in disks}
    async with AsyncExitStack() as stack:
        sinks = {}
        for disk_id, copy in copies.items():
            opened = sink(copy, _size(guest, disk_id), doing)
            sinks[disk_id] = await stack.enter_async_context(opened)
        await copy_disks(guest, sinks, progress, doing)
    for disk_id, copy in copies.items():
        if image := guest.disk(disk_id).image():
            await DISK.run(image.link_kernel, copy.image_directory)
        os.chown(copy.part("qcow2"), 0, 0)
        copy.part("qcow2").chmod(0o444)
        await DISK.run(copy.put, "qcow2")


def _size(guest: Guest, disk_id: int) -> int:
    found = guest.disk(disk_id).find()
    if found is None:
        raise EngineError(f"Disk {disk_id} does not exist")
    return found.size()


async def _restore(
    guest: Guest, saved: Place, target: DiskSpec, progress: Progress, doing: str
) -> None:
    found = saved.find()
    if found is None:
        raise EngineError("The backup does not exist")
    source = os.open(found.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        async with begin_copy(guest, target, found.size(), doing) as copy:
            name = f"/proc/self/fd/{source}"
            await convert(guest, name, found.format, copy, progress, doing, (source,))
    finally:
        os.close(source)
    await end_copy(guest, target, found.size(), saved.image(), doing)
