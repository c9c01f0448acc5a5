"""What a backup of a whole cloud takes of one region's guests: disks, volumes and backups.

All that may change is copied first, while nothing else is done to the guest: what a guest runs with
by its QEMU, disks and volumes as of one moment, everything else by the host's programs. Backups
never change and are read where they are.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.disks.copies import convert
from roost.engines.qemu.disks.live_copies import Sink, copy_live, held, room_of
from roost.engines.qemu.guests.devices import disk_name, volume_name
from roost.engines.qemu.guests.directory import BOOT, Guest, all_guests
from roost.engines.qemu.guests.disk_files import disk_ids
from roost.engines.qemu.guests.users import give, open_directory
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.images.store import ROOT
from roost.engines.qemu.volumes.files import VolumeFile, all_volumes, holders
from roost.threads import DISK

_DOING = "The disks could not be saved"
_BACKUPS = "backups"


@dataclass(frozen=True, slots=True)
class SavedFile:
    """One file of the region."""

    path: str
    """Below the region's folder, where a restore puts it."""
    source: Path
    """Where it can be read until the next one is asked for."""


async def saved_files(state_dir: Path, folder: Path) -> AsyncGenerator[SavedFile, None]:
    """`folder` is empty and has room for copies. Raises EngineError and OSError.

    Guests, volumes and backups that go meanwhile are left out.
    """
    taken = set[int]()
    for guest in await DISK.run(all_guests, state_dir):
        with suppress(FileNotFoundError):
            async with locked(guest.directory):
                copies = await _copy_guest(guest, folder, taken)
            for file in copies.files:
                yield file
                file.source.unlink()
    for volume in await DISK.run(all_volumes, state_dir):
        if volume.id in taken or not volume.data.exists():
            continue
        with suppress(FileNotFoundError):
            async with locked(volume.directory):
                copies = await _copy_volume(volume, folder)
            for file in copies.files:
                yield file
                file.source.unlink()
    for path in sorted((state_dir / _BACKUPS).glob("backup-*[0-9]/**/*")):
        if path.is_file():
            yield SavedFile(str(path.relative_to(state_dir)), path)


def settle(state_dir: Path) -> None:
    """Give what has been put back to whom it belongs; no guest has gone off by itself."""
    for guest in all_guests(state_dir):
        open_directory(guest)
        if (guest.directory / BOOT).exists():
            guest.note_halt()
        for disk_id in disk_ids(guest.directory):
            if found := guest.disk(disk_id).find():
                give(guest, found.path)
    for path in (state_dir / _BACKUPS).glob("*/*.qcow2"):
        path.chmod(0o444)


@dataclass(slots=True)
class _Copies:
    """Files of one region in a folder for drafts."""

    state_dir: Path
    folder: Path
    files: list[SavedFile] = field(default_factory=list)

    def draft(self, original: Path) -> Path:
        """Where to copy a file of the region to."""
        path = str(original.relative_to(self.state_dir))
        draft = self.folder / path.replace("/", "_")
        self.files.append(SavedFile(path, draft))
        return draft

    @contextmanager
    def sink(self, original: Path, size: int) -> Iterator[int]:
        """The descriptor of a draft that is a raw disk of so many bytes, all of them zero."""
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(self.draft(original), flags, 0o600)
        try:
            os.truncate(descriptor, size)
            yield descriptor
        finally:
            os.close(descriptor)

    def copy(self, original: Path) -> None:
        shutil.copyfile(original, self.draft(original))


async def _copy_guest(guest: Guest, folder: Path, taken: set[int]) -> _Copies:
    """With the volumes that it runs with, which are `taken` then."""
    copies = _Copies(guest.state_dir, folder)
    running = await _copy_running(guest, copies, taken)
    for disk_id in disk_ids(guest.directory):
        place = guest.disk(disk_id)
        if disk_id not in running and (found := place.find()) is not None:
            with copies.sink(place.path("raw"), found.size()) as target:
                source = (found.path.name, found.format)
                await convert(guest, *source, target, _unheard, _DOING, target_format="raw")
        if place.image_directory.is_dir():
            for path in sorted(place.image_directory.iterdir()):
                if path.name != ROOT:
                    await DISK.run(copies.copy, path)
    if (guest.directory / BOOT).exists():
        copies.copy(guest.directory / BOOT)
    return copies


async def _copy_running(guest: Guest, copies: _Copies, taken: set[int]) -> frozenset[int]:
    """Which disks of it were copied: all that it runs with, or none when it is or goes off."""
    disks = frozenset(guest.disks_in_use())
    if not disks:
        return disks
    begun = _Copies(copies.state_dir, copies.folder)
    volumes = await _volumes_of(guest)
    try:
        await _copy_together(guest, disks, volumes, begun)
    except EngineError:
        if guest.process() is not None:
            raise
        return frozenset()
    copies.files += begun.files
    taken.update(volume.id for volume in volumes)
    return disks


async def _copy_together(
    guest: Guest, disks: frozenset[int], volumes: list[VolumeFile], copies: _Copies
) -> None:
    sinks = dict[str, Sink]()
    with ExitStack() as stack:
        for place in map(guest.disk, sorted(disks)):
            found = place.find()
            if found is None:
                raise EngineError(f"Disk {place.id} does not exist")
            target = stack.enter_context(copies.sink(place.path("raw"), found.size()))
            sinks[disk_name(place.id)] = Sink(target, held(place), "raw")
        for volume in volumes:
            target = stack.enter_context(copies.sink(volume.data, volume.data.stat().st_size))
            sinks[volume_name(volume.id)] = Sink(target, room_of(volume.data), "raw")
        await copy_live(guest, sinks, _unheard, _DOING)


async def _volumes_of(guest: Guest) -> list[VolumeFile]:
    open_files = await DISK.run(holders, guest.state_dir)
    volumes = await DISK.run(all_volumes, guest.state_dir)
    return [each for each in volumes if open_files.get(str(each.data)) == guest.id]


async def _copy_volume(volume: VolumeFile, folder: Path) -> _Copies:
    """Again when a guest has had it meanwhile."""
    while True:
        copies = _Copies(volume.state_dir, folder)
        before = volume.data.stat().st_mtime_ns
        holder = await volume.holder()
        if holder is None:
            draft = copies.draft(volume.data)
            await run(_DOING, "cp", "--sparse=always", "--", str(volume.data), str(draft))
            if await volume.holder() is None and volume.data.stat().st_mtime_ns == before:
                return copies
            continue
        guest = Guest(volume.state_dir, holder)
        try:
            async with locked(guest.directory):
                await _copy_together(guest, frozenset(), [volume], copies)
            return copies
        except (EngineError, FileNotFoundError):
            if await volume.holder() is not None:
                raise


async def _unheard(_percent: int) -> None:
    """Nobody waits for a job of users here."""
