"""What backups of instances need from a data plane.

A backup outlives changes to its instance's disks. All methods are idempotent; names on the host
derive from ids (`backup-100001`). Every method may raise EngineError.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from roost.resources.compute.disks.engine import DiskSpec, Progress


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
