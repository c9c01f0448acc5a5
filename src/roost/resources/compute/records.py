"""The record of a compute instance (spec B compute; reference: Compute instance)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import (
    Created,
    Filtered,
    Folded,
    Grouping,
    Id,
    Ipv4,
    TagLabels,
    Timestamp,
    Updated,
    Uuid,
)
from roost.core.instance_queries import InstanceStatus

Day = Literal[
    "Scheduling", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"
]
Window = Literal[
    "Scheduling", "W0", "W2", "W4", "W6", "W8", "W10", "W12", "W14", "W16", "W18", "W20", "W22"
]
"""Two hours of UTC, named by the first (spec B compute backups)."""


class Specs(TypedDict):
    """disk and memory in MB, transfer in GB a month."""

    disk: int
    """MB, for all disks together."""
    memory: int
    """MB."""
    vcpus: int
    """Virtual processors."""
    gpus: int
    """Graphics processors."""
    transfer: int
    """GB of outbound traffic in a month that the plan includes."""


class Alerts(TypedDict):
    """Thresholds of averages over two hours; 0 disables one.

    cpu in percent of one core, io in operations a second, network in Mbit/s, transfer in percent.
    """

    cpu: int
    """Percent of one processor, so 200 is two at full load."""
    io: int
    """Disk operations in a second."""
    network_in: int
    """Mbit/s."""
    network_out: int
    """Mbit/s."""
    transfer_quota: int
    """Percent of the month's traffic."""


class BackupSchedule(TypedDict):
    """When backups are made."""

    day: str | None
    """The day of the weekly backup; `Scheduling` until one is chosen, null while backups are
    disabled."""
    window: str | None
    """The two hours in which backups are made, by their first hour (UTC): `W10` is 10:00 to 12:00.
    `Scheduling` until one is chosen, null while backups are disabled."""


class Backups(TypedDict):
    """Whether and when an instance is backed up."""

    enabled: bool
    """Whether backups are made."""
    available: bool
    """Whether there is one that can be restored."""
    schedule: BackupSchedule
    """When they are made."""
    last_successful: Timestamp | None
    """When the last one was complete (UTC); null when there is none."""


class InstanceRow(TypedDict):
    """A virtual machine."""

    id: Filtered[Id]
    label: Folded[str]
    """The name that you gave it; unique in the account."""
    group: Filtered[Grouping]
    status: InstanceStatus
    """What it is doing. A new one is `provisioning`, then `booting`, then `running`."""
    created: Created
    updated: Updated
    type: str
    """The id of its compute type, also called its plan."""
    ipv4: Filtered[list[Ipv4]]
    """Its IPv4 addresses, the public ones first."""
    ipv6: str | None
    """Its IPv6 address with the prefix length; null when the region has none."""
    image: Filtered[str | None]
    """The id of the image that it was made from; null when from none."""
    region: Filtered[str]
    """The id of the region that it runs in."""
    specs: Specs
    """What its plan gives it."""
    alerts: Alerts
    """Averages over two hours above which it is reported; 0 disables one."""
    backups: Backups
    """Whether and when it is backed up."""
    hypervisor: Literal["kvm"]
    """What it runs on."""
    watchdog_enabled: bool
    """Whether it is booted again when it powers off without having been asked to."""
    tags: Filtered[TagLabels]
    host_uuid: Uuid
    """The name of the host that it runs on."""
    has_user_data: bool
    """Whether `metadata.user_data` was given when it was made."""


class ConsoleRow(TypedDict):
    """What a guest wrote to its serial console."""

    output: str
    """As a terminal would get it; what is no UTF-8 is replaced."""


class ConsoleTicketRow(TypedDict):
    """Where somebody can type in a guest's serial console."""

    url: str
    """Of a WebSocket, for one connection. It is as good as a password until it is used."""
    expires: Timestamp
    """Until when a connection can begin."""


class VpcAddressRow(TypedDict):
    """An address in a VPC, or a network that is routed to an interface in it."""

    address: str | None
    """The address; null for a network."""
    address_range: str | None
    """The network; null for an address."""
    active: bool
    """Whether the instance was booted with the interface."""
    compute_id: int
    """The instance."""
    config_id: int
    """The config that has the interface."""
    interface_id: int
    """The interface."""
    vpc_id: int
    """The VPC."""
    subnet_id: int
    """The subnet."""
    region: str
    """The region that the VPC is in."""
    gateway: str | None
    """The subnet's router; null for a network."""
    prefix: int | None
    """The prefix length of the subnet; null for a network."""
    subnet_mask: str
    """The same as a mask; empty for a network."""
    nat_1_1: str | None
    """The public address that stands for it; null for none."""
