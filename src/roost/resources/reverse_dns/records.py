"""The record of an address (spec B, IP address)."""

from typing import Literal

from typing_extensions import TypedDict


class AddressNat(TypedDict):
    """The address inside a VPC that is reached by this one."""

    vpc_id: int
    subnet_id: int
    address: str


class AddressRow(TypedDict):
    """An address of an instance."""

    address: str
    gateway: str | None
    subnet_mask: str
    prefix: int
    type: Literal["ipv4", "ipv6", "ipv6/pool", "ipv6/range"]
    public: bool
    rdns: str | None
    compute_id: int
    region: str
    vpc_nat_1_1: AddressNat | None
