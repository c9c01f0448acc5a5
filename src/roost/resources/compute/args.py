"""Arguments of jobs on compute instances."""

from roost.jobs.kinds import JobArgs


class InstanceArgs(JobArgs):
    """Which instance, and who asked."""

    compute_id: int
    username: str | None = None
    config_id: int | None = None
    """What is to be booted; None: the config of the last boot."""


class CreateArgs(InstanceArgs):
    booted: bool = False
