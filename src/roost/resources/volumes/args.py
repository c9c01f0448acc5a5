"""What jobs on volumes are given."""

from roost.jobs.kinds import JobArgs


class VolumeArgs(JobArgs):
    """Which volume."""

    volume_id: int


class AttachmentArgs(VolumeArgs):
    """To or from which instance."""

    compute_id: int


class CloneArgs(VolumeArgs):
    """The volume is a clone of this one."""

    source_id: int


class ResizeArgs(VolumeArgs):
    """GiB"""

    size: int
