"""Records of backups (reference: Compute backup, Compute views), and what their rows hold."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Base64Bytes, BaseModel, TypeAdapter
from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp, Updated
from roost.resources.compute.disk_engine import Filesystem
from roost.resources.compute.disks.queries import DiskFacts, NewDisk

BackupType = Literal["auto", "snapshot"]
BackupStatus = Literal[
    "paused",
    "pending",
    "running",
    "needsPostProcessing",
    "successful",
    "failed",
    "userAborted",
]


class BackupDiskRow(TypedDict):
    """A disk that a backup holds; `size` in MB."""

    size: int
    """MB."""
    filesystem: Filesystem
    """What is on the disk."""
    label: str
    """The label of the disk when the backup was made."""


class BackupRow(TypedDict):
    """Copies of an instance's disks as of one moment; `configs` are labels."""

    id: Id
    type: BackupType
    """`auto` for those of the schedule, `snapshot` for those that users take."""
    status: BackupStatus
    """How far it is; only a `successful` one can be restored."""
    available: bool
    """Whether it can be restored."""
    created: Created
    updated: Updated
    finished: Timestamp | None
    """When it was complete (UTC); null until then."""
    label: str | None
    """The label of a snapshot; null for those of the schedule."""
    configs: list[str]
    """The labels of the configs that the instance had."""
    disks: list[BackupDiskRow]
    """The disks that it holds."""
    region: str
    """The region that holds it; it can be restored there only."""


class SnapshotsRow(TypedDict):
    """The snapshot that there is, and the one that is being taken."""

    current: BackupRow | None
    """The snapshot that can be restored; null when there is none."""
    in_progress: BackupRow | None
    """The one that is being taken; null when none is."""


class BackupsRow(TypedDict):
    """All backups of an instance."""

    automatic: list[BackupRow]
    """Backups of the schedule, newest first."""
    snapshot: SnapshotsRow
    """The snapshots that users took: one at most, and the next one."""


class SavedDisk(BaseModel):
    """A disk as it was; `size` in MB."""

    id: int
    label: str
    size: int
    filesystem: Filesystem
    image: str | None
    setup: Base64Bytes | None
    """Sealed."""
    password_revision: int

    def for_instance(self, compute_id: int) -> NewDisk:
        """The saved disk as one of this instance."""
        return NewDisk(
            compute_id=compute_id,
            label=self.label,
            size=self.size,
            filesystem=self.filesystem,
            image=self.image,
            setup=self.setup,
            password_revision=self.password_revision,
        )


DISKS = TypeAdapter(list[SavedDisk])


def dump_disks(disks: Sequence[DiskFacts]) -> str:
    """JSON of disks, for `DISKS`."""
    saved = [
        SavedDisk.model_construct(
            id=disk.id,
            label=disk.label,
            size=disk.size,
            filesystem=disk.filesystem,
            image=disk.image,
            setup=disk.setup,
            password_revision=disk.password_revision,
        )
        for disk in disks
    ]
    return DISKS.dump_json(saved).decode()
