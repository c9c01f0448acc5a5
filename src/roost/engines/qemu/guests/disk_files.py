"""The files of a guest's disks: `disk-N.raw` or `disk-N.qcow2` in the guest's directory.

Beside a disk that began as an image lies `disk-N.image`, the disk's own links of that image's
files: what it rests on while it is a qcow2 overlay, and the kernel that it boots.

A file appears under its name only when it is whole; what is being made ends with `.part`.
"""

import re
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.engines.qemu.guests.devices import Format, disk_name
from roost.engines.qemu.host.files import sync
from roost.engines.qemu.images.store import INFO, GuestImage, ImageInfo

MB = 1024 * 1024

_FORMATS: tuple[Format, ...] = ("raw", "qcow2")
"""A disk that is found as both is being replaced by the first."""
_NAME = re.compile(r"disk-(\d+)\..*")
_QCOW2_SIZE = struct.Struct(">24xQ")


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A whole disk."""

    path: Path
    format: Format

    def size(self) -> int:
        """Bytes, as the guest sees it; 0 when its QEMU, taken over, has cut the header off."""
        if self.format == "raw":
            return self.path.stat().st_size
        with self.path.open("rb") as file:
            header = file.read(_QCOW2_SIZE.size)
        return _QCOW2_SIZE.unpack(header)[0] if len(header) == _QCOW2_SIZE.size else 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a disk is, or is to be."""

    directory: Path
    id: int

    @property
    def name(self) -> str:
        return disk_name(self.id)

    @property
    def image_directory(self) -> Path:
        return self.directory / f"{self.name}.image"

    def find(self) -> DiskFile | None:
        """The disk, once it is whole."""
        for each in _FORMATS:
            path = self.path(each)
            if path.exists():
                return DiskFile(path, each)
        return None

    def path(self, image_format: Format) -> Path:
        return self.directory / f"{self.name}.{image_format}"

    def part(self, image_format: Format) -> Path:
        """The file that is being made, which `put` lets take the disk's place."""
        return self.directory / f"{self.name}.{image_format}.part"

    def image(self) -> GuestImage | None:
        """Its own links of the image that it began as."""
        return find_image_links(self.image_directory)

    def put(self, image_format: Format) -> None:
        """Let the finished part take the disk's place, for good."""
        sync(self.part(image_format))
        self.part(image_format).replace(self.path(image_format))
        for each in _FORMATS:
            if each != image_format:
                self.path(each).unlink(missing_ok=True)
        sync(self.directory, self.directory.parent)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Nothing that the block has begun stays when it fails, so that it takes no room."""
        try:
            yield
        except BaseException:
            if self.find() is None:
                self.remove()
            for each in _FORMATS:
                self.part(each).unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Remove the disk, or what is left of one that was only begun."""
        for path in sorted(self.directory.glob(f"{self.name}.*"), reverse=True):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def disk_ids(directory: Path) -> list[int]:
    """The ids of all disks in the directory, also of those only begun; none without it."""
    try:
        matches = [_NAME.fullmatch(path.name) for path in directory.iterdir()]
    except FileNotFoundError:
        return []
    return sorted({int(match[1]) for match in matches if match})


def find_image_links(directory: Path) -> GuestImage | None:
    try:
        text = (directory / INFO).read_text()
    except FileNotFoundError:
        return None
    return GuestImage(ImageInfo.model_validate_json(text), directory)
