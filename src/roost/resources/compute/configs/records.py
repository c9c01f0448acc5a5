"""Records of configs and their interfaces (reference: Config, Interface)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Folded, Id, Updated
from roost.resources.compute.interface_bodies import Purpose

RunLevel = Literal["default", "single", "binbash"]
VirtMode = Literal["paravirt", "fullvirt"]


class InterfaceAddresses(TypedDict):
    """Addresses of a vpc interface."""

    vpc: str | None
    """The address inside the VPC."""
    nat_1_1: str | None
    """The public address that reaches it; null when none does."""


class InterfaceRow(TypedDict):
    """A network interface of a config."""

    id: Id
    label: str | None
    """The VLAN that it is in; null for other purposes."""
    ipam_address: str | None
    """The address that the guest gives itself in the VLAN, with the prefix length; null for none.
    """
    purpose: Purpose
    """The network that it is in: the public one, a VLAN or a VPC."""
    active: bool
    """Whether the instance was booted with it."""
    primary: bool
    """Whether the guest's default route is here."""
    vpc_id: int | None
    """The VPC; null for other purposes."""
    subnet_id: int | None
    """The subnet of the VPC; null for other purposes."""
    ipv4: InterfaceAddresses | None
    """Addresses in a VPC; null for other purposes."""
    ip_ranges: list[str]
    """Networks that a VPC routes to it; empty for other purposes."""


class Helpers(TypedDict):
    """What is set up inside the guest when it boots."""

    updatedb_disabled: bool
    """Keep the index of file names from being built at night."""
    distro: bool
    """Set up the console and what else the distribution needs."""
    modules_dep: bool
    """Make the list of modules that fits the kernel."""
    network: bool
    """Write the network's configuration into the guest."""
    devtmpfs_automount: bool
    """Let the kernel mount /dev."""


class DeviceRow(TypedDict):
    """A disk or a volume at a slot."""

    disk_id: int | None
    """The disk; null when a volume is here."""
    volume_id: int | None
    """The volume; null when a disk is here."""


class DevicesRow(TypedDict):
    """What is at each slot."""

    sda: DeviceRow | None
    """What the guest finds as /dev/sda; null for nothing."""
    sdb: DeviceRow | None
    """What the guest finds as /dev/sdb; null for nothing."""
    sdc: DeviceRow | None
    """What the guest finds as /dev/sdc; null for nothing."""
    sdd: DeviceRow | None
    """What the guest finds as /dev/sdd; null for nothing."""
    sde: DeviceRow | None
    """What the guest finds as /dev/sde; null for nothing."""
    sdf: DeviceRow | None
    """What the guest finds as /dev/sdf; null for nothing."""
    sdg: DeviceRow | None
    """What the guest finds as /dev/sdg; null for nothing."""
    sdh: DeviceRow | None
    """What the guest finds as /dev/sdh; null for nothing."""


class ConfigRow(TypedDict):
    """A configuration that an instance can boot with."""

    id: Id
    label: Folded[str]
    """The name of the config."""
    kernel: str
    """The id of the kernel that it boots."""
    comments: str
    """Notes of your own."""
    memory_limit: int
    """MB that the guest gets; 0 for all that the plan has."""
    run_level: RunLevel
    """`single` and `binbash` boot into a shell for repairs."""
    virt_mode: VirtMode
    """How devices are shown to the guest; `fullvirt` has only the slots sda to sdd."""
    interfaces: list[InterfaceRow]
    """The network interfaces, eth0 first; empty for one public interface."""
    helpers: Helpers
    """What is set up inside the guest when it boots."""
    devices: DevicesRow
    """The disks and volumes by their slots."""
    root_device: str
    """The device that holds the root file system."""
    initrd: str | None
    """Always null."""
    created: Created
    updated: Updated
