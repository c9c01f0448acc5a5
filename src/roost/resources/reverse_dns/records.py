"""The record of an address (spec B ip address record)."""

from typing import Literal

from typing_extensions import TypedDict


class AddressNat(TypedDict):
    """The address inside a VPC that is reached by this one."""

    vpc_id: int
    """The VPC."""
    subnet_id: int
    """The subnet of the VPC."""
    address: str
    """The address inside it."""


class AddressRow(TypedDict):
    """An address of an instance, or of a NodeBalancer."""

    address: str
    """The address itself."""
    gateway: str | None
    """Where traffic goes out; null for private addresses."""
    subnet_mask: str
    """The mask of its network."""
    prefix: int
    """The same as a number of bits."""
    type: Literal["ipv4", "ipv6", "ipv6/pool", "ipv6/range"]
    """What kind of address it is."""
    public: bool
    """Whether the Internet reaches it."""
    rdns: str | None
    """The name that reverse DNS answers; null for none."""
    compute_id: int | None
    """The instance that has it; null for an address of a NodeBalancer."""
    region: str
    """The region that it belongs to."""
    vpc_nat_1_1: AddressNat | None
    """The address in a VPC that it stands for; null for none."""
