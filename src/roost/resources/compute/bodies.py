"""Request bodies of compute instances (spec B compute; reference: operations)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from roost.resources.compute import rules
from roost.resources.compute.backups.bodies import UpdateBackups
from roost.resources.compute.backups.references import BACKUP
from roost.resources.compute.disks.bodies import RootPassword, Usernames
from roost.resources.compute.interface_bodies import Interface, Interfaces, check_together
from roost.resources.compute.references import FirewallId, ImageId, image_named
from roost.resources.compute.script_bodies import StackscriptData, StackscriptId
from roost.resources.ssh_keys.rules import PublicKeys
from roost.resources.tags.bodies import Tags
from roost.web.bodies import Body
from roost.web.checks import PlanId, Refers, RegionId, catalog_of, referred
from roost.web.fields import DEPRECATED, Between, Length, Pattern, refuse

_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB "
    "me@example.com"
)

_CREATE_EXAMPLES: list[JsonValue] = [
    {
        "type": "g1-nano-1",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        "label": "web-1",
    },
    {
        "type": "g1-standard-2",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        "authorized_keys": [_KEY],
        "interfaces": [
            {"purpose": "public", "primary": True},
            {"purpose": "vlan", "label": "back-end", "ipam_address": "10.0.0.1/24"},
        ],
        "metadata": {"user_data": "I2Nsb3VkLWNvbmZpZwpwYWNrYWdlczogW25naW54XQo="},
        "private_ip": True,
        "swap_size": 1024,
        "tags": ["production", "web"],
    },
    {"type": "g1-micro-1", "region": "us-lake"},
]

_UPDATE_EXAMPLES: list[JsonValue] = [
    {"label": "web-2", "tags": ["production"]},
    {"alerts": {"cpu": 180, "io": 0}, "watchdog_enabled": False},
]

Label = Annotated[str, Length(3, 64), Pattern(rules.LABEL_PATTERN, rules.LABEL_REASON)]
Id = Annotated[int, Between(1, 2**63 - 1)]
Number = Annotated[int, Between(0, 2**31 - 1)]

MAX_GROUP = 255

MAX_USER_DATA = 100_000
"""Characters of 65,535 bytes in base64, with line ends."""

UserData = Annotated[
    str,
    Length(0, MAX_USER_DATA),
    AfterValidator(rules.check_user_data),
    Field(json_schema_extra={"contentEncoding": "base64"}),
]


class Metadata(Body):
    """User-defined data for the guest."""

    user_data: UserData | None = None
    """Base64 of 1 to 65535 bytes that cloud-init reads at the first boot; needs an image and a
    region with that capability. An empty text is none."""

    @field_validator("user_data")
    @classmethod
    def _read_empty(cls, value: str | None) -> str | None:
        return value or None


class CreateInstance(Body):
    """POST /compute/instances. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _CREATE_EXAMPLES})

    type: PlanId
    """The id of the compute type."""
    region: RegionId
    """The id of the region."""
    image: ImageId | None = None
    """The image to make the first disk of; omitted, the instance has no disks and stays offline."""
    root_pass: RootPassword | None = Field(default=None, validate_default=True)
    """The password of root; needed with an image, weak ones are refused."""
    label: Label | None = None
    """The name; unique in the account. Omitted, `compute` and the id."""
    tags: Tags = []
    group: Annotated[str, Length(0, MAX_GROUP), DEPRECATED] = ""
    """A group of your own choice; use tags instead."""
    backup_id: Annotated[Id, Refers(BACKUP)] | None = None
    """A backup to make the disks of, in the same region; not with an image."""
    booted: bool | None = None
    """Whether it is booted once it is made; true when omitted and there is a disk to boot from."""
    authorized_keys: PublicKeys = []
    """Public SSH keys that root accepts, each a line of an authorized_keys file."""
    authorized_users: Usernames = []
    """Users of the account whose SSH keys root accepts."""
    backups_enabled: bool = False
    """Whether it is backed up, which costs extra; the account's setting can make this true for all.
    """
    firewall_id: FirewallId | None = None
    """A firewall to put before it; users need to be able to change it."""
    interfaces: Interfaces = []
    """The network interfaces, eth0 first; empty for one public interface."""
    metadata: Metadata | None = None
    """What cloud-init is told."""
    private_ip: bool = False
    """Whether it has a private IPv4 address too."""
    stackscript_id: StackscriptId | None = None
    """The StackScript to run at the first boot; needs a public image."""
    stackscript_data: StackscriptData = None
    """Answers to the StackScript's questions, by their names; JSON of at most 65535 characters."""
    swap_size: Number = 512
    """MB of the swap disk that is made beside the image's; 0 for none."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str, info: ValidationInfo) -> str:
        region = catalog_of(info).find_region(value)
        if region is None or "Computes" not in region.capabilities:
            raise refuse("The region does not offer compute instances")
        if "type" in info.data and not catalog_of(info).offers(value, info.data["type"]):
            raise refuse("The region has no capacity for this plan type")
        return value

    @field_validator("image")
    @classmethod
    def _check_image(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return value
        region = info.data.get("region")
        if region is not None and not catalog_of(info).offers_image(region, value):
            raise refuse("The region does not have this image")
        return value

    @field_validator("root_pass", mode="before")
    @classmethod
    def _drop_empty_root_pass(cls, value: object, info: ValidationInfo) -> object:
        """Clients send one, empty or not, also where there is nothing to set it on."""
        return None if value == "" and info.data.get("image", "") is None else value

    @field_validator("root_pass")
    @classmethod
    def _check_root_pass(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("image") is not None:
            raise refuse("root_pass is required")
        return value

    @field_validator("backup_id")
    @classmethod
    def _check_backup(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("image") is not None:
            raise refuse("backup_id cannot be given with an image")
        backup = None if value is None else referred(info, BACKUP, value)
        if backup is not None and backup.region != info.data.get("region", backup.region):
            raise refuse("The backup is in another region")
        return value

    @field_validator("backups_enabled")
    @classmethod
    def _check_backups_enabled(cls, value: bool, info: ValidationInfo) -> bool:
        region = catalog_of(info).find_region(info.data.get("region", ""))
        if value and region is not None and "Backups" not in region.capabilities:
            raise refuse("The region does not offer backups")
        return value

    @field_validator("firewall_id")
    @classmethod
    def _check_firewall(cls, value: int | None, info: ValidationInfo) -> int | None:
        region = catalog_of(info).find_region(info.data.get("region", ""))
        if value and region is not None and "Cloud Firewall" not in region.capabilities:
            raise refuse("The region does not offer Cloud Firewall")
        return value

    @field_validator("interfaces")
    @classmethod
    def _check_interfaces(cls, value: list[Interface], info: ValidationInfo) -> list[Interface]:
        check_together(value)
        if value and "image" in info.data and info.data["image"] is None:
            raise refuse("An instance without an image has no configuration for interfaces")
        region = catalog_of(info).find_region(info.data.get("region", ""))
        wants_vlan = any(interface.purpose == "vlan" for interface in value)
        if region is not None and wants_vlan and "Vlans" not in region.capabilities:
            raise refuse("The region does not offer VLANs")
        return value

    @field_validator("metadata")
    @classmethod
    def _check_metadata(cls, value: Metadata | None, info: ValidationInfo) -> Metadata | None:
        if value is None or value.user_data is None:
            return value
        image = image_named(info, info.data.get("image"))
        region = catalog_of(info).find_region(info.data.get("region", ""))
        reason = rules.user_data_reason(value.user_data, image, region)
        if reason is not None:
            raise refuse(reason, "user_data")
        return value

    @field_validator("swap_size")
    @classmethod
    def _check_swap(cls, value: int, info: ValidationInfo) -> int:
        plan = catalog_of(info).find_type(info.data.get("type", ""))
        image = image_named(info, info.data.get("image"))
        free = None if plan is None else plan.disk - (image.size if image else 0)
        if free is not None and value > free:
            raise refuse(f"Must be 0-{max(free, 0)}: the plan's disk holds the image and the swap")
        return value


class UpdateAlerts(Body):
    """Thresholds; 0 disables one."""

    cpu: Number | None = None
    """Percent of one processor."""
    io: Number | None = None
    """Disk operations in a second."""
    network_in: Number | None = None
    """Mbit/s."""
    network_out: Number | None = None
    """Mbit/s."""
    transfer_quota: Number | None = None
    """Percent of the month's traffic."""


class UpdateInstance(Body):
    """PUT /compute/instances/{computeId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": _UPDATE_EXAMPLES})

    label: Label | None = None
    """The new name."""
    tags: Tags | None = None
    """Labels in place of those that it has; for unrestricted users only."""
    group: Annotated[Annotated[str, Length(0, MAX_GROUP)] | None, DEPRECATED] = None
    """A group of your own choice; use tags instead."""
    alerts: UpdateAlerts | None = None
    """Averages over two hours above which it is reported; 0 disables one."""
    backups: UpdateBackups | None = None
    """When backups are made."""
    watchdog_enabled: bool | None = None
    """Whether it is booted again when it powers off without having been asked to."""


class BootInstance(Body):
    """POST …/boot and …/reboot."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    config_id: Id | None = None
    """The config to boot; omitted, the only one, or the one that was booted last."""
