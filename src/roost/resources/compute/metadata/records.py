"""What a guest is told about itself, as clients of the metadata service expect it.

Decision 0069 says where the formats are from.
"""

from typing import Literal

from typing_extensions import TypedDict

BackupsStatus = Literal["pending", "running", "complete"]


class Specs(TypedDict):
    """What the plan has; memory and disk in MB, transfer in GB a month."""

    vcpus: int
    memory: int
    disk: int
    transfer: int
    gpus: int


class Backups(TypedDict):
    enabled: bool
    status: BackupsStatus | None
    """None without the service."""


class Image(TypedDict):
    id: str
    label: str


class InstanceDocument(TypedDict):
    """`/v1/instance`."""

    id: int
    label: str
    region: str
    type: str
    host_uuid: str
    tags: list[str]
    specs: Specs
    backups: Backups
    image: Image | None
    """What the guest began as; None for an empty one."""
    account_euuid: str


class InterfaceDocument(TypedDict):
    purpose: str
    label: str | None
    ipam_address: str | None


class IPv4Document(TypedDict):
    """Single addresses with the prefix length 32."""

    public: list[str]
    private: list[str]
    shared: list[str]


class IPv6Document(TypedDict):
    """Single addresses with the prefix length 128."""

    slaac: str | None
    link_local: str
    ranges: list[str]
    shared_ranges: list[str]


class NetworkDocument(TypedDict):
    """`/v1/network`."""

    interfaces: list[InterfaceDocument]
    """Of the config; none where there is nothing but the public one."""
    ipv4: IPv4Document
    ipv6: IPv6Document


class SshKeysDocument(TypedDict):
    """`/v1/ssh-keys`: by the guest's user."""

    users: dict[str, list[str]]
