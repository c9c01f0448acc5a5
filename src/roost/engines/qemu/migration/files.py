"""Files of a guest that go with it besides its disks: what it boots, its set-up, its console."""

import os
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from roost.engines.qemu.guests.directory import CONSOLE, FIRMWARE, SEED, Guest
from roost.engines.qemu.guests.disk_files import disk_ids
from roost.engines.qemu.images.store import ROOT

NAME = "guest-files"
_MOST_BYTES = 1 << 30
_NAMES = re.compile(
    rf"{re.escape(SEED)}|{re.escape(CONSOLE)}|{FIRMWARE}/[\w.@/-]+|disk-\d+\.image/[\w.-]+"
)


def pack(guest: Guest) -> Path:
    """A file of root's."""
    path = guest.directory / f"{NAME}.tar"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for each in _files(guest.directory):
            archive.add(each, each.relative_to(guest.directory), recursive=False)
    return path


def unpack(guest: Guest, path: Path) -> None:
    """Into the guest's directory. ValueError for what `pack` does not make: the guest's QEMU, which
    may have been taken over, has served it."""
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        if sum(each.size for each in members) > _MOST_BYTES or not all(map(_belongs, members)):
            raise ValueError("files of a guest are not what they should be")
        for member in members:
            _extract(archive, member, guest.directory)
    path.unlink()


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    """By hand: early releases of Python 3.11 extract with the owner and the mode that it names."""
    target = directory / member.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    source = archive.extractfile(member)
    if member.islnk() or source is None:
        os.link(directory / member.linkname, target)
    else:
        with source, target.open("xb") as file:
            shutil.copyfileobj(source, file)


def forget(guest: Guest) -> None:
    (guest.directory / f"{NAME}.tar").unlink(missing_ok=True)


def _files(directory: Path) -> Iterator[Path]:
    """Root's own, which nobody else writes to; of images all but what disks rest on."""
    if (directory / SEED).exists():
        yield directory / SEED
    yield from (each for each in (directory / FIRMWARE).rglob("*") if each.is_file())
    for disk_id in disk_ids(directory):
        image = directory / f"disk-{disk_id}.image"
        if image.is_dir():
            yield from (each for each in image.iterdir() if each.name != ROOT)
    if (directory / CONSOLE).is_file():
        yield directory / CONSOLE


def _belongs(member: tarfile.TarInfo) -> bool:
    kind = member.isreg() or (member.islnk() and _NAMES.fullmatch(member.linkname) is not None)
    return kind and _NAMES.fullmatch(member.name) is not None and ".." not in member.name
