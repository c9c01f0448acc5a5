"""What disks of instances need from a data plane.

A disk belongs to the guest of one instance and goes with it. All methods are idempotent; names on
the host derive from ids (`compute-100001`, `disk-100001`). Every method may raise EngineError.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

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
