"""The record of a compute instance (spec B, Compute instance; reference: Compute instance)."""

from typing import Literal

from typing_extensions import TypedDict

InstanceStatus = Literal[
    "running",
    "offline",
    "booting",
    "rebooting",
    "shutting_down",
    "provisioning",
    "deleting",
    "migrating",
    "rebuilding",
    "cloning",
    "restoring",
    "stopped",
    "billing_suspension",
    "resizing",
]


class Specs(TypedDict):
    """disk and memory in MB, transfer in GB a month."""

    disk: int
    memory: int
    vcpus: int
    gpus: int
    transfer: int


class Alerts(TypedDict):
    """Thresholds of averages over two hours; 0 disables one.

    cpu in percent of one core, io in operations a second, network in Mbit/s, transfer in percent.
    """

    cpu: int
    io: int
    network_in: int
    network_out: int
    transfer_quota: int


class BackupSchedule(TypedDict):
    day: str | None
    window: str | None


class Backups(TypedDict):
    enabled: bool
    available: bool
    schedule: BackupSchedule
    last_successful: str | None


class InstanceRow(TypedDict):
    """A virtual machine."""

    id: int
    label: str
    group: str
    status: InstanceStatus
    created: str
    updated: str
    type: str
    ipv4: list[str]
    ipv6: str | None
    image: str | None
    region: str
    specs: Specs
    alerts: Alerts
    backups: Backups
    hypervisor: Literal["kvm"]
    watchdog_enabled: bool
    tags: list[str]
    host_uuid: str
    has_user_data: bool
