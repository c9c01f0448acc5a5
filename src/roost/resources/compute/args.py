"""Arguments of jobs on compute instances."""

from typing import Literal

from roost.jobs.turns import TurnArgs
from roost.resources.compute.entity import resource_of


class InstanceArgs(TurnArgs):
    """Which instance, and who asked."""

    compute_id: int
    username: str | None = None
    config_id: int | None = None
    """What is to be booted; None: the config of the last boot."""
    queued: bool = False
    """Whether other work was under way when the job was enqueued."""
    shown: Literal["booting", "offline"] = "booting"
    """The status while a guest boots."""


def on_instance(args: InstanceArgs) -> str:
    """The resource of jobs on an instance."""
    return resource_of(args.compute_id)


class CreateArgs(InstanceArgs):
    booted: bool = False
