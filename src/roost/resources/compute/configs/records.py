"""Records of configs and their interfaces (reference: Config, Interface)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.compute.interfaces import Purpose

RunLevel = Literal["default", "single", "binbash"]
VirtMode = Literal["paravirt", "fullvirt"]


class InterfaceAddresses(TypedDict):
    """Addresses of a vpc interface."""

    vpc: str | None
    nat_1_1: str | None


class InterfaceRow(TypedDict):
    """A network interface of a config."""

    id: int
    label: str | None
    ipam_address: str | None
    purpose: Purpose
    active: bool
    primary: bool
    vpc_id: int | None
    subnet_id: int | None
    ipv4: InterfaceAddresses | None
    ip_ranges: list[str]


class Helpers(TypedDict):
    """What is set up inside the guest when it boots."""

    updatedb_disabled: bool
    distro: bool
    modules_dep: bool
    network: bool
    devtmpfs_automount: bool


class DeviceRow(TypedDict):
    """A disk or a volume at a slot."""

    disk_id: int | None
    volume_id: int | None


class DevicesRow(TypedDict):
    sda: DeviceRow | None
    sdb: DeviceRow | None
    sdc: DeviceRow | None
    sdd: DeviceRow | None
    sde: DeviceRow | None
    sdf: DeviceRow | None
    sdg: DeviceRow | None
    sdh: DeviceRow | None


class ConfigRow(TypedDict):
    """A configuration that an instance can boot with."""

    id: int
    label: str
    kernel: str
    comments: str
    memory_limit: int
    run_level: RunLevel
    virt_mode: VirtMode
    interfaces: list[InterfaceRow]
    helpers: Helpers
    devices: DevicesRow
    root_device: str
    initrd: None
    created: str
    updated: str
