"""Request bodies of what happens to whole instances (reference: operations)."""

from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from roost.resources.compute.bodies import (
    Id,
    Metadata,
    RootPassword,
    StackscriptData,
    Usernames,
    check_stackscript,
)
from roost.resources.compute.configs.bodies import Device, Devices
from roost.resources.compute.lifecycle import examples
from roost.resources.ssh_keys.rules import PublicKeys
from roost.web.bodies import Body
from roost.web.checks import ImageId, PlanId
from roost.web.fields import refuse


class RebuildInstance(Body):
    """POST …/rebuild. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.REBUILD})

    image: ImageId | None = Field(default=None, validate_default=True)
    """The image to make it of; always needed."""
    root_pass: RootPassword
    """The password of root; weak ones are refused."""
    authorized_keys: PublicKeys = []
    """Public SSH keys that root accepts, each a line of an authorized_keys file."""
    authorized_users: Usernames = []
    """Users of the account whose SSH keys root accepts."""
    booted: bool = True
    """Whether it is booted once it is made."""
    metadata: Metadata | None = None
    """What cloud-init is told."""
    stackscript_id: Id | None = None
    """The StackScript to run at the first boot. There are none yet, so it is refused."""
    stackscript_data: StackscriptData | None = None
    """Answers to the StackScript's questions; JSON of at most 65535 characters. There are no
    StackScripts yet, so it is refused."""
    type: PlanId | None = None
    """A plan to change to; omitted, it keeps its own."""

    @field_validator("image")
    @classmethod
    def _check_image(cls, value: str | None) -> str:
        if value is None:
            raise refuse("You must specify an image")
        return value

    @field_validator("stackscript_id", "stackscript_data")
    @classmethod
    def _check_stackscript(cls, value: object) -> object:
        return check_stackscript(value)


class RescueDevices(Devices):
    """What the rescue system finds; sdh is its own."""

    @field_validator("sdh")
    @classmethod
    def _check_reserved(cls, value: Device | None) -> Device | None:
        if value is not None:
            raise refuse("sdh is reserved for the rescue system")
        return value


class RescueInstance(Body):
    """POST …/rescue. Without devices all disks are there, in their order."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.RESCUE})

    devices: RescueDevices | None = None
    """The disks and volumes by their slots; sdh is the rescue system's own."""


class MutateInstance(Body):
    """POST …/mutate."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.MUTATE})

    allow_auto_disk_resize: bool = True
    """Whether the disk takes all room of the plan, where there is only one beside swap."""


class ResizeInstance(Body):
    """POST …/resize."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.RESIZE})

    type: PlanId
    """The id of the plan to change to."""
    allow_auto_disk_resize: bool = True
    """Whether the disk takes all room of the plan, where there is only one beside swap."""
    migration_type: Literal["warm", "cold"] = "cold"
    """Accepted as other clouds have it; a guest that runs is always powered off for a while."""


class ResetPassword(Body):
    """POST …/password."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.PASSWORD})

    root_pass: RootPassword
    """The new password of root; weak ones are refused."""
