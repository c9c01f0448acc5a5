"""Request bodies of what happens to whole instances (reference: operations)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from roost.resources.compute.bodies import MAX_GROUP, Id, Label, Metadata
from roost.resources.compute.configs.bodies import Device, Devices
from roost.resources.compute.disks.bodies import RootPassword, Usernames
from roost.resources.compute.references import ComputeId, ImageId
from roost.resources.compute.script_bodies import StackscriptData, StackscriptId
from roost.resources.ssh_keys.rules import PublicKeys
from roost.web.bodies import Body
from roost.web.checks import PlanId, RegionId, catalog_of
from roost.web.fields import DEPRECATED, Length, refuse

_REBUILD_EXAMPLES: list[JsonValue] = [
    {"image": "roost/debian12", "root_pass": "correct-Horse7battery"},
    {"image": "roost/debian12", "root_pass": "correct-Horse7battery", "booted": False},
]

_RESIZE_EXAMPLES: list[JsonValue] = [
    {"type": "g1-standard-2"},
    {"type": "g1-standard-1", "allow_auto_disk_resize": False},
]

_CLONE_EXAMPLES: list[JsonValue] = [
    {"region": "us-lake", "type": "g1-standard-1", "label": "web-copy"},
]


class RebuildInstance(Body):
    """POST …/rebuild. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _REBUILD_EXAMPLES})

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
    stackscript_id: StackscriptId | None = None
    """The StackScript to run at the first boot; needs a public image."""
    stackscript_data: StackscriptData = None
    """Answers to the StackScript's questions, by their names; JSON of at most 65535 characters."""
    type: PlanId | None = None
    """A plan to change to; omitted, it keeps its own."""

    @field_validator("image")
    @classmethod
    def _check_image(cls, value: str | None) -> str:
        if value is None:
            raise refuse("You must specify an image")
        return value


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

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    devices: RescueDevices | None = None
    """The disks and volumes by their slots; sdh is the rescue system's own."""


class MutateInstance(Body):
    """POST …/mutate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    allow_auto_disk_resize: bool = True
    """Whether the disk takes all room of the plan, where there is only one beside swap."""


class ResizeInstance(Body):
    """POST …/resize."""

    model_config = ConfigDict(json_schema_extra={"examples": _RESIZE_EXAMPLES})

    type: PlanId
    """The id of the plan to change to."""
    allow_auto_disk_resize: bool = True
    """Whether the disk takes all room of the plan, where there is only one beside swap."""
    migration_type: Literal["warm", "cold"] = "cold"
    """Accepted as other clouds have it; a guest that runs is always powered off for a while."""


MigrationType = Literal["warm", "cold"]


class MigrateInstance(Body):
    """POST …/migrate."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"region": "br-south"}, {"region": "br-south", "upgrade": True}]
        }
    )

    region: RegionId | None = None
    """Where it is to be; omitted, a migration that maintenance has announced is done now."""
    upgrade: bool = False
    """Whether its plan becomes the successor of the one that it has; refused without one."""
    type: MigrationType = "cold"
    """A guest that runs is powered off on the way to another region, also with `warm`, as its
    addresses are others there; the event says so."""

    @field_validator("upgrade")
    @classmethod
    def _check_upgrade(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("region", "") is None:
            raise refuse("Needs a region; in its own one a Compute is upgraded by mutate")
        return value


class ResetPassword(Body):
    """POST …/password."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"root_pass": "correct-Horse7battery"}]}
    )

    root_pass: RootPassword
    """The new password of root; weak ones are refused."""


Ids = Annotated[list[Id], Length(0, 100)]

_ONLY_NEW = "Must be left out when cloning to an existing Compute"


class CloneInstance(Body):
    """POST …/clone. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _CLONE_EXAMPLES})

    compute_id: ComputeId | None = None
    """An instance of yours that the disks and configs are added to; omitted, a new one is made."""
    region: RegionId | None = Field(default=None, validate_default=True)
    """The region of the new instance, which needs one."""
    type: PlanId | None = Field(default=None, validate_default=True)
    """The plan of the new instance, which needs one."""
    label: Label | None = None
    """The name of the new instance."""
    group: Annotated[Annotated[str, Length(0, MAX_GROUP)] | None, DEPRECATED] = None
    """A group of your own choice; use tags instead."""
    backups_enabled: bool = False
    """Whether the new instance is backed up."""
    disks: Ids | None = None
    """More disks to copy than those of the configs."""
    configs: Ids | None = None
    """The configs to copy; omitted, all."""
    private_ip: bool = False
    """Whether the new instance has a private IPv4 address too."""
    metadata: Metadata | None = None
    """What cloud-init is told."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str | None, info: ValidationInfo) -> str | None:
        if _is_new(info) and value is None:
            raise refuse("region is required")
        return value

    @field_validator("type")
    @classmethod
    def _check_type(cls, value: str | None, info: ValidationInfo) -> str | None:
        if _is_new(info) and value is None:
            raise refuse("type is required")
        region = info.data.get("region")
        if value and region and not catalog_of(info).offers(region, value):
            raise refuse("The region has no capacity for this plan type")
        return value

    @field_validator("backups_enabled")
    @classmethod
    def _check_backups_enabled(cls, value: bool, info: ValidationInfo) -> bool:
        region = catalog_of(info).find_region(info.data.get("region") or "")
        if value and region is not None and "Backups" not in region.capabilities:
            raise refuse("The region does not offer backups")
        return value

    @field_validator(
        "region", "type", "label", "group", "backups_enabled", "private_ip", "metadata"
    )
    @classmethod
    def _check_only_new(cls, value: object, info: ValidationInfo) -> object:
        existing = info.data.get("compute_id") is not None
        if existing and value not in (None, False):
            raise refuse(_ONLY_NEW)
        return value


def _is_new(info: ValidationInfo) -> bool:
    """Whether a new instance is wanted; no when the existing one was itself refused."""
    return "compute_id" in info.data and info.data["compute_id"] is None
