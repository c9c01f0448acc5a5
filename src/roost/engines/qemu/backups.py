"""Backups: a directory each, with a qcow2 for each disk that rests on nothing else.

Beside a disk that began as an image lies the kernel that it boots. All of it is root's; only who is
given an open file reads it, so the files themselves may be read by all.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from roost.engines.qemu.disk_copies import begin_copy, convert, copy_disks, end_copy, sink
from roost.engines.qemu.diskfiles import Place, disk_ids
from roost.engines.qemu.guests import Guest
from roost.engines.qemu.locks import locked
from roost.engines.qemu.programs import faults
from roost.engines.qemu.users import open_directory
from roost.resources.compute.backups.engine import BackupState
from roost.resources.compute.disks.engine import DiskSpec, Progress
from roost.resources.compute.engine import EngineError

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
        part = whole.with_suffix(".part")
        with faults(doing):
            await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
            part.mkdir(mode=0o700, parents=True)
            try:
                if disks:
                    await self._save(part, disks, progress, doing)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            part.rename(whole)

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
                await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
                whole.rename(part)
            if part.exists():
                await asyncio.to_thread(shutil.rmtree, part)

    async def list(self) -> list[BackupState]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        ids = sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))
        return [BackupState(each, tuple(disk_ids(self._path(each)))) for each in ids]

    def _path(self, backup_id: int) -> Path:
        return self._directory / f"backup-{backup_id}"

    async def _save(
        self, part: Path, disks: Sequence[DiskSpec], progress: Progress, doing: str
    ) -> None:
        guest = Guest(self._state_dir, disks[0].compute_id)
        copies = {disk.id: Place(part, disk.id) for disk in disks}
        async with locked(guest.directory):
            async with AsyncExitStack() as stack:
                sinks = {}
                for disk_id, copy in copies.items():
                    size = _size(guest, disk_id)
                    opened = sink(copy, size, doing)
                    sinks[disk_id] = await stack.enter_async_context(opened)
                await copy_disks(guest, sinks, progress, doing)
            for disk_id, copy in copies.items():
                if image := guest.disk(disk_id).image():
                    await asyncio.to_thread(image.link_kernel, copy.image_directory)
        for copy in copies.values():
            os.chown(copy.part("qcow2"), 0, 0)
            copy.part("qcow2").chmod(0o444)
            copy.put("qcow2")


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
