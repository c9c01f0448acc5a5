"""Arguments of jobs on backups."""

from roost.resources.compute.args import CreateArgs, InstanceArgs
from roost.resources.compute.records import InstanceStatus


class BackupArgs(InstanceArgs):
    """Which backup of the instance."""

    backup_id: int


class CopyArgs(BackupArgs):
    """`disks`: the instance's new disks by those that the backup holds."""

    disks: dict[int, int]


class RestoreArgs(CopyArgs):
    """`former` is the instance's status when it was asked for."""

    overwrite: bool
    former: InstanceStatus


class CreateFromBackupArgs(CreateArgs, CopyArgs):
    """A new instance with what a backup of another one holds."""
