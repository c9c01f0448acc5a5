"""Arguments of jobs on whole instances."""

from typing import Literal

from pydantic import Base64Bytes

from roost.resources.compute.args import CreateArgs, InstanceArgs
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.lifecycle.plans import Specs


class RebuildArgs(CreateArgs):
    """What the instance consisted of; `user_data` is sealed."""

    disks: list[int]
    configs: list[int]
    image: str | None
    user_data: Base64Bytes | None
    specs: Specs


class RescueArgs(InstanceArgs):
    slots: tuple[SlotFacts, ...]
    status: Literal["booting", "rebooting"]


class ResizeArgs(CreateArgs):
    """`booted`: whether it ran. Sizes of the disk that grows, if one does, in MB."""

    specs: Specs
    former: Specs
    disk_id: int | None = None
    disk_size: int = 0
    disk_former: int = 0


class CloneArgs(InstanceArgs):
    """`compute_id` is the target; `disks`: its new disks by those of the source."""

    source_id: int
    new: bool
    disks: dict[int, int]
    configs: list[int]
