"""What compute needs of a data plane's disks: the disks, backups and images made of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from roost.core.engine import EngineError


class TooLargeError(EngineError):
    """A disk holds more than an image may."""


Filesystem = Literal["raw", "swap", "ext3", "ext4", "initrd"]


Progress = Callable[[int], Awaitable[None]]
"""Told how far a copy is, 0 to 100; may be called as often as one likes."""


@dataclass(frozen=True, slots=True)
class DiskSpec:
    """A disk as it should be."""

    id: int
    compute_id: int
    size: int
    """MB"""
    filesystem: Filesystem
    image: str | None = None
    """The image's id in the catalogue, such as `roost/debian12`, that it starts as."""

    @property
    def name(self) -> str:
        return f"disk-{self.id}"


@dataclass(frozen=True, slots=True)
class DiskState:
    """A disk as it is."""

    id: int
    compute_id: int
    size: int
    """MB; 0 of one that is only begun."""


class DiskEngine(Protocol):
    """The disks of one data plane's guests."""

    async def make(self, disk: DiskSpec) -> None:
        """Make a disk: a copy of its image, or empty with its file system. One that is there stays.

        The image of a disk must fit: EngineError.
        """

    async def resize(self, disk: DiskSpec) -> None:
        """Bring a disk to the size of `disk`, its ext3 or ext4 file system with it.

        EngineError while its guest runs with it, and when what it holds needs more room.
        """

    async def copy(self, source: DiskSpec, target: DiskSpec, progress: Progress) -> None:
        """Make `target`, of the same size or larger, with the content of `source`.

        A running guest's disk is copied as of one moment. A `target` that is there stays.
        """

    async def delete(self, compute_id: int, disk_id: int) -> None:
        """Remove a disk. EngineError while its guest runs with it."""

    async def inspect(self, compute_id: int, disk_id: int) -> DiskState | None:
        """None when nothing of it exists."""


@dataclass(frozen=True, slots=True)
class BackupState:
    """A backup as it is: the ids that its disks had."""

    id: int
    disks: tuple[int, ...]


class BackupEngine(Protocol):
    """Copies of disks, kept apart from them."""

    async def save(self, backup_id: int, disks: Sequence[DiskSpec], progress: Progress) -> None:
        """Keep copies of an instance's disks as of one moment, whether its guest runs or not.

        A backup that is complete stays as it is; one that was only begun is made anew.
        """

    async def restore(
        self, backup_id: int, disk_id: int, target: DiskSpec, progress: Progress
    ) -> None:
        """Make `target` with what disk `disk_id` held, of the same size or larger."""

    async def delete(self, backup_id: int) -> None:
        """Remove a backup, whole or begun."""

    async def list(self) -> list[BackupState]:
        """All complete backups that this engine holds, by id."""


def private_image(number: int) -> str:
    """The id of a private image, as `DiskSpec.image` names it (spec A image private)."""
    return f"private/{number}"


class ImageEngine(Protocol):
    """Private images: what was on a disk, for disks of other guests to start as."""

    async def capture(
        self, number: int, disk: DiskSpec, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        """Make an image of a disk as of one moment, whether its guest runs or not.

        Returns the MB that a disk needs at least which is to start as the image. An image that is
        complete stays as it is; one that was only begun is made anew. TooLargeError when the disk
        holds more than `most` MB. `cloud_init`: whether the image takes user data of any format.
        """

    async def keep(
        self, number: int, source: Path, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        """Make an image of the raw disk in a file of the host, whose bytes are foreign.

        They are never taken for another format. Returns and raises what `capture` does; of an
        image that is complete the file may be gone.
        """

    async def set_aside(self, number: int, disk: DiskSpec, most: int) -> None:
        """Save a disk that is about to be deleted, of which `finish` makes an image.

        At once, whatever it holds. What is set aside already stays. TooLargeError when the disk
        holds more than `most` MB; EngineError while its guest runs with it.
        """

    async def finish(self, number: int, *, cloud_init: bool, progress: Progress) -> int:
        """Make the image of what was set aside. Returns what `capture` does."""

    async def aside(self) -> Sequence[int]:
        """The numbers of images of which disks are set aside, in order."""

    async def delete(self, number: int) -> None:
        """Remove an image, whole, begun or set aside. Disks that started as it stay."""

    async def list(self) -> list[int]:
        """The numbers of all complete private images that this engine can use, in order."""
