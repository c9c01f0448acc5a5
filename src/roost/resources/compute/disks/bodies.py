"""Request bodies of disks (reference: Disk, operations)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from roost.resources.compute.disk_engine import Filesystem
from roost.resources.compute.disks import rules
from roost.resources.compute.references import ImageId, image_named
from roost.resources.compute.rules import strong_password
from roost.resources.compute.script_bodies import StackscriptData, StackscriptId
from roost.resources.ssh_keys.bodies import KEYS_OF_USERS, NO_KEYS
from roost.resources.ssh_keys.rules import PublicKeys
from roost.web.bodies import Body
from roost.web.checks import Refers, once
from roost.web.fields import Between, Length, ShortText, refuse

RootPassword = Annotated[str, Length(7, 128), AfterValidator(once(strong_password))]

Usernames = Annotated[list[ShortText], Length(0, 100), Refers(KEYS_OF_USERS, NO_KEYS)]


_CREATE_EXAMPLES: list[JsonValue] = [
    {"label": "data", "size": 1024},
    {"label": "more swap", "size": 512, "filesystem": "swap"},
]

Label = Annotated[str, Length(1, rules.MAX_LABEL)]
Size = Annotated[int, Between(1, rules.MAX_SIZE)]


class CreateDisk(Body):
    """POST …/disks. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _CREATE_EXAMPLES})

    image: ImageId | None = None
    """The image to copy onto it; omitted for an empty disk."""
    size: Size
    """MB; all disks together must fit the plan."""
    label: Label | None = Field(default=None, validate_default=True)
    """The name of the disk; with an image it may be left out."""
    filesystem: Filesystem = "ext4"
    """What to put on an empty disk; a disk with an image is ext4."""
    root_pass: RootPassword | None = Field(default=None, validate_default=True)
    """The password of root; needed with an image."""
    authorized_keys: PublicKeys = []
    """Public SSH keys that root accepts, each a line of an authorized_keys file."""
    authorized_users: Usernames = []
    """Users of the account whose SSH keys root accepts."""
    stackscript_id: StackscriptId | None = None
    """The StackScript to run at the first boot; needs a public image."""
    stackscript_data: StackscriptData = None
    """Answers to the StackScript's questions, by their names; JSON of at most 65535 characters."""

    @field_validator("size")
    @classmethod
    def _check_size(cls, value: int, info: ValidationInfo) -> int:
        image = image_named(info, info.data.get("image"))
        if image is not None and value < image.size:
            raise refuse(f"Must be at least {image.size}, the size of the image")
        return value

    @field_validator("label")
    @classmethod
    def _check_label(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and "image" in info.data and info.data["image"] is None:
            raise refuse("label is required")
        return value

    @field_validator("filesystem")
    @classmethod
    def _check_filesystem(cls, value: Filesystem, info: ValidationInfo) -> Filesystem:
        if info.data.get("image") is not None and value != "ext4":
            raise refuse("Must be ext4 for a disk with an image")
        return value

    @field_validator("root_pass")
    @classmethod
    def _check_root_pass(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("image") is not None:
            raise refuse("root_pass is required")
        return value


class UpdateDisk(Body):
    """PUT …/disks/{diskId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "data-2"}]})

    label: Label | None = None
    """The new name."""


class ResizeDisk(Body):
    """POST …/disks/{diskId}/resize; MB."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"size": 2048}]})

    size: Size
    """MB. All disks together must fit the plan; a smaller disk must still hold its files."""


class SetPassword(Body):
    """POST …/disks/{diskId}/password."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"password": "correct-Horse7battery"}]}
    )

    password: RootPassword
    """The new password of root; weak ones are refused."""
