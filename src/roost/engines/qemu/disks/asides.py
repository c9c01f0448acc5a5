"""Disks that are saved of guests which are deleted, until images are made of them.

Each is the disk of a guest of its own, `aside/image-N/compute-M`, which has nothing else: links of
the files, so that it costs neither time nor room to save one.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from roost.engines.qemu.guests.directory import Guest, all_guests
from roost.engines.qemu.guests.disk_files import DiskFile, disk_ids
from roost.engines.qemu.guests.users import open_directory
from roost.engines.qemu.host.files import sync

_NAME = re.compile(r"image-(\d+)")
_ENTERED_BY_ALL = 0o711


@dataclass(frozen=True, slots=True)
class Asides:
    """Those of a region, by the numbers of images. Its methods block."""

    state_dir: Path

    @property
    def _root(self) -> Path:
        return self.state_dir / "aside"

    def _place(self, number: int) -> Path:
        return self._root / f"image-{number}"

    def find(self, number: int) -> tuple[Guest, int] | None:
        """The guest and the id of its disk."""
        guests = all_guests(self._place(number))
        found = [(guest, disk_id) for guest in guests for disk_id in disk_ids(guest.directory)]
        return found[0] if found else None

    def numbers(self) -> list[int]:
        """The numbers of all that are whole."""
        if not self._root.is_dir():
            return []
        matches = (_NAME.fullmatch(path.name) for path in self._root.iterdir())
        return sorted(int(match[1]) for match in matches if match)

    def save(self, number: int, guest: Guest, disk_id: int, found: DiskFile) -> None:
        """It appears when it is whole, for good."""
        place = self._place(number)
        part = place.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        copy = Guest(part, guest.id)
        open_directory(copy)
        for each in (part.parent, part):
            each.chmod(_ENTERED_BY_ALL)
        target = copy.disk(disk_id)
        os.link(found.path, target.path(found.format))
        if image := guest.disk(disk_id).image():
            image.link(target.image_directory)
        sync(copy.directory, part)
        part.rename(place)
        sync(self._root, self.state_dir)

    def discard(self, number: int) -> None:
        """Whole or begun; nothing happens when it is not there."""
        place = self._place(number)
        for each in (place.with_suffix(".part"), place):
            if each.exists():
                shutil.rmtree(each)
