"""Request bodies of configs and their interfaces (reference: Config, Interface, operations)."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator, model_validator

from roost.resources.compute.configs import rules
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.configs.records import Helpers, RunLevel, VirtMode
from roost.resources.compute.engine import SLOTS, Slot
from roost.resources.compute.interface_bodies import (
    Interface,
    InterfaceIpv4,
    Interfaces,
    Ranges,
    check_together,
)
from roost.web.bodies import Body
from roost.web.checks import catalog_of
from roost.web.fields import Between, Length, ShortText, refuse

_CREATE_EXAMPLES: list[JsonValue] = [
    {"label": "empty", "devices": {}},
    {
        "label": "single user",
        "devices": {"sda": None},
        "kernel": "roost/grub2",
        "run_level": "single",
        "comments": "For repairs",
        "helpers": {"network": False},
        "interfaces": [{"purpose": "public", "primary": True}],
    },
]

_ADD_INTERFACE_EXAMPLES: list[JsonValue] = [
    {"purpose": "vlan", "label": "back-end", "ipam_address": "10.0.0.1/24"}
]

Label = Annotated[str, Length(1, rules.MAX_LABEL)]
Id = Annotated[int, Between(1, 2**63 - 1)]
Megabytes = Annotated[int, Between(0, 2**31 - 1)]

MAX_COMMENTS = 65535


class Device(Body):
    """A disk or a volume at a slot."""

    disk_id: Id | None = None
    """A disk of the instance."""
    volume_id: Id | None = None
    """A volume that is attached to the instance, or to none."""

    @model_validator(mode="after")
    def _check_one(self) -> "Device":
        if (self.disk_id is None) == (self.volume_id is None):
            raise refuse("Must name either a disk_id or a volume_id")
        return self


class Devices(Body):
    """What is at each slot; null for nothing."""

    sda: Device | None = None
    """What the guest finds as /dev/sda."""
    sdb: Device | None = None
    """What the guest finds as /dev/sdb."""
    sdc: Device | None = None
    """What the guest finds as /dev/sdc."""
    sdd: Device | None = None
    """What the guest finds as /dev/sdd."""
    sde: Device | None = None
    """What the guest finds as /dev/sde."""
    sdf: Device | None = None
    """What the guest finds as /dev/sdf."""
    sdg: Device | None = None
    """What the guest finds as /dev/sdg."""
    sdh: Device | None = None
    """What the guest finds as /dev/sdh."""

    def taken(self) -> list[SlotFacts]:
        """The slots that are not empty, in their order."""
        devices: list[tuple[Slot, Device | None]] = [(slot, getattr(self, slot)) for slot in SLOTS]
        return [SlotFacts(slot, d.disk_id, d.volume_id) for slot, d in devices if d is not None]

    @model_validator(mode="after")
    def _check_once(self) -> "Devices":
        named = [(at.disk_id, at.volume_id) for at in self.taken()]
        if len(set(named)) < len(named):
            raise refuse("A disk or volume can be at one slot only")
        return self


class HelpersBody(Body):
    """What is set up inside the guest; what is omitted keeps its value."""

    updatedb_disabled: bool | None = None
    """Keep the index of file names from being built at night."""
    distro: bool | None = None
    """Set up the console and what else the distribution needs."""
    modules_dep: bool | None = None
    """Make the list of modules that fits the kernel."""
    network: bool | None = None
    """Write the network's configuration into the guest; omitted, the account's setting."""
    devtmpfs_automount: bool | None = None
    """Let the kernel mount /dev."""

    def over(self, former: Helpers) -> Helpers:
        """All five: those of the body, else the former ones."""
        return {
            "updatedb_disabled": _either(self.updatedb_disabled, former["updatedb_disabled"]),
            "distro": _either(self.distro, former["distro"]),
            "modules_dep": _either(self.modules_dep, former["modules_dep"]),
            "network": _either(self.network, former["network"]),
            "devtmpfs_automount": _either(self.devtmpfs_automount, former["devtmpfs_automount"]),
        }


def _either(value: bool | None, former: bool) -> bool:
    return former if value is None else value


class _Fields(Body):
    """What both bodies check."""

    @field_validator("root_device", check_fields=False)
    @classmethod
    def _check_root_device(cls, value: str | None) -> str | None:
        if value is not None and value not in rules.ROOT_DEVICES:
            raise refuse("Must be one of " + ", ".join(rules.ROOT_DEVICES))
        return value

    @field_validator("interfaces", check_fields=False)
    @classmethod
    def _check_interfaces(cls, value: list[Interface] | None) -> list[Interface] | None:
        check_together(value or ())
        return value


class CreateConfig(_Fields):
    """POST …/configs. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _CREATE_EXAMPLES})

    label: Label
    """The name of the config."""
    virt_mode: VirtMode = "paravirt"
    """How devices are shown to the guest; `fullvirt` has only the slots sda to sdd."""
    devices: Devices
    """The disks and volumes by their slots."""
    kernel: ShortText = rules.DEFAULT_KERNEL
    """The id of the kernel."""
    comments: Annotated[str, Length(0, MAX_COMMENTS)] | None = None
    """Notes of your own."""
    memory_limit: Megabytes = 0
    """MB that the guest gets; 0 for all that the plan has."""
    run_level: RunLevel = "default"
    """`single` and `binbash` boot into a shell for repairs."""
    root_device: ShortText = rules.DEFAULT_ROOT
    """The device that holds the root file system."""
    interfaces: Interfaces = []
    """The network interfaces, eth0 first: three at most; empty for one public interface."""
    helpers: HelpersBody = Field(default_factory=HelpersBody)
    """What is set up inside the guest when it boots."""

    @field_validator("devices")
    @classmethod
    def _check_devices(cls, value: Devices, info: ValidationInfo) -> Devices:
        check_slots(value, info.data.get("virt_mode", "paravirt"))
        return value

    @field_validator("kernel")
    @classmethod
    def _check_kernel(cls, value: str, info: ValidationInfo) -> str:
        if value != rules.DEFAULT_KERNEL and not catalog_of(info).has_kernel(value):
            raise refuse("kernel is not valid")
        return value


class UpdateConfig(_Fields):
    """PUT …/configs/{configId}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "main", "memory_limit": 512}]}
    )

    label: Label | None = None
    """The new name."""
    virt_mode: VirtMode | None = None
    """How devices are shown to the guest; `fullvirt` has only the slots sda to sdd."""
    devices: Devices | None = None
    """The disks and volumes by their slots, in place of all that it names."""
    kernel: ShortText | None = None
    """The id of the kernel."""
    comments: Annotated[str, Length(0, MAX_COMMENTS)] | None = None
    """Notes of your own."""
    memory_limit: Megabytes | None = None
    """MB that the guest gets; 0 for all that the plan has."""
    run_level: RunLevel | None = None
    """`single` and `binbash` boot into a shell for repairs."""
    root_device: ShortText | None = None
    """The device that holds the root file system."""
    interfaces: Interfaces | None = None
    """The network interfaces, in place of all that it has; three at most."""
    helpers: HelpersBody | None = None
    """What is set up inside the guest when it boots."""


def check_slots(devices: Devices, virt_mode: VirtMode) -> None:
    """Raises for a device where such a config can have none."""
    for at in devices.taken():
        if at.slot not in rules.slots_of(virt_mode):
            raise refuse(rules.NO_SLOT, at.slot)


class AddInterface(Interface):
    """POST …/interfaces."""

    model_config = ConfigDict(json_schema_extra={"examples": _ADD_INTERFACE_EXAMPLES})


class UpdateInterface(Body):
    """PUT …/interfaces/{interfaceId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"primary": True}]})

    primary: bool | None = None
    """Whether the guest's default route is here; no VLAN can be."""
    ipv4: InterfaceIpv4 | None = None
    """Addresses in a VPC; for this purpose only."""
    ip_ranges: Ranges | None = None
    """IPv4 networks that a VPC routes here, in place of those before."""


class OrderInterfaces(Body):
    """POST …/interfaces/order: the ids of all interfaces, the one that is to be eth0 first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": [100002, 100001]}]})

    ids: Annotated[list[Annotated[int, Between(1, 2**63 - 1)]], Length(0, 16)]
    """All interfaces of the config, eth0 first."""
