"""What jobs on volumes are given."""

from roost.jobs.turns import TurnArgs
from roost.resources.volumes.entity import resource_of


class VolumeArgs(TurnArgs):
    """Which volume."""

    volume_id: int
    queued: bool = False
    """Whether other work was under way when the job was enqueued."""


def on_volume(args: VolumeArgs) -> str:
    """The resource of jobs on a volume."""
    return resource_of(args.volume_id)


class CreateArgs(VolumeArgs):
    compute_id: int | None = None
    """The instance that gets the volume as soon as it is made."""


class AttachmentArgs(VolumeArgs):
    """To or from which instance."""

    compute_id: int


class CloneArgs(VolumeArgs):
    """The volume is a clone of this one."""

    source_id: int


class ResizeArgs(VolumeArgs):
    """GiB"""

    size: int
