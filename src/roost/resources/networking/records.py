"""The addresses of one instance (reference: Compute views)."""

from typing import Annotated

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from roost.resources.compute.records import VpcAddressRow
from roost.resources.reverse_dns.records import AddressRow


class Ipv4OfInstance(TypedDict):
    """By kind."""

    public: list[AddressRow]
    """Those that the Internet reaches."""
    private: list[AddressRow]
    """Those that the region's guests reach."""
    shared: list[AddressRow]
    """Those of other instances that this one may take over."""
    reserved: list[AddressRow]
    """Always empty."""
    vpc: list[VpcAddressRow]
    """Those that its interfaces have in VPCs, in all of its configs."""


_TARGET = "2001:db8:101:0:5000:ff:fe01:86a1"


class RangeRow(TypedDict):
    """A range of IPv6 addresses."""

    range: str
    """The first address, without the length of the prefix."""
    prefix: int
    """The length of the prefix."""
    region: str
    """The region that it belongs to."""
    route_target: str
    """The address that it is routed to."""


class PoolRow(TypedDict):
    """A network in which a region's guests give themselves addresses."""

    range: str
    """The first address, without the length of the prefix."""
    prefix: int
    """The length of the prefix."""
    region: str
    """The region that it belongs to."""
    route_target: str | None
    """Null: it is routed to the region."""


class ViewedRangeRow(TypedDict):
    """A range, and who uses it."""

    range: str
    """The first address, without the length of the prefix."""
    prefix: int
    """The length of the prefix."""
    region: str
    """The region that it belongs to."""
    is_bgp: bool
    """Whether it is shared with other instances."""
    computes: list[int]
    """The instance to which it is routed, and those with which it is shared."""


class CreatedRangeRow(TypedDict):
    """A range that was created."""

    range: str
    """With the length of the prefix."""
    route_target: str
    """The address that it is routed to."""


# This key is a Python keyword, so it is named outside of a class body.
_Global = TypedDict(
    "_Global",
    {"global": Annotated[list[RangeRow], Field(description="Ranges that are routed to it.")]},
)


class Ipv6OfInstance(_Global):
    """By kind."""

    slaac: AddressRow
    """That which the guest gives itself from the router's advertisements."""
    link_local: AddressRow
    """That which the guest has on the link."""


_PUBLIC: dict[str, JsonValue] = {
    "address": "192.0.2.10",
    "gateway": "192.0.2.1",
    "subnet_mask": "255.255.255.0",
    "prefix": 24,
    "type": "ipv4",
    "public": True,
    "rdns": "www.example.com",
    "compute_id": 100001,
    "region": "us-lake",
    "vpc_nat_1_1": None,
}
_SLAAC: dict[str, JsonValue] = {
    **_PUBLIC,
    "address": "2001:db8:101:0:5000:ff:fe01:86a1",
    "gateway": "fe80::1",
    "subnet_mask": "ffff:ffff:ffff:ffff::",
    "prefix": 64,
    "type": "ipv6",
    "rdns": None,
}


class AddressesRow(TypedDict):
    """All addresses of an instance."""

    ipv4: Ipv4OfInstance
    """Of IPv4."""
    ipv6: Ipv6OfInstance
    """Of IPv6."""
