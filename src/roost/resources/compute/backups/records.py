"""Records of backups (reference: Compute backup, Compute views)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.compute.disks.engine import Filesystem

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
    filesystem: Filesystem
    label: str


class BackupRow(TypedDict):
    """Copies of an instance's disks as of one moment; `configs` are labels."""

    id: int
    type: BackupType
    status: BackupStatus
    available: bool
    created: str
    updated: str
    finished: str | None
    label: str | None
    configs: list[str]
    disks: list[BackupDiskRow]
    region: str


class SnapshotsRow(TypedDict):
    """The snapshot that there is, and the one that is being taken."""

    current: BackupRow | None
    in_progress: BackupRow | None


class BackupsRow(TypedDict):
    """All backups of an instance."""

    automatic: list[BackupRow]
    snapshot: SnapshotsRow
