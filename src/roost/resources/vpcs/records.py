"""Records of VPCs, subnets and addresses in them (reference: VPC)."""

from pydantic import JsonValue
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Updated


class SubnetInterface(TypedDict):
    """An interface in a subnet."""

    id: int
    """The id of the interface."""
    active: bool
    """Whether the instance was booted with it."""


class SubnetCompute(TypedDict):
    """An instance with interfaces in a subnet."""

    id: int
    """The id of the instance."""
    interfaces: list[SubnetInterface]
    """Those of its interfaces that are in the subnet."""


_SUBNET: dict[str, JsonValue] = {
    "id": 100002,
    "label": "front",
    "ipv4": "10.0.1.0/24",
    "computes": [{"id": 100001, "interfaces": [{"id": 100003, "active": True}]}],
    "created": "2030-01-31T12:00:00",
    "updated": "2030-01-31T12:00:00",
}


class SubnetRow(TypedDict):
    """A subnet of a VPC."""

    id: Filtered[Id]
    label: Folded[str]
    """The name of the subnet."""
    ipv4: str
    """Its network. The first address that can be used is the gateway."""
    computes: list[SubnetCompute]
    """The instances that are in it."""
    created: Created
    updated: Filtered[Updated]


class VpcRow(TypedDict):
    """A VPC."""

    id: Filtered[Id]
    label: Folded[str]
    """The name of the VPC."""
    description: str
    """What it is for."""
    region: Filtered[str]
    """The region that it is in."""
    subnets: list[SubnetRow]
    """Its subnets, by id."""
    created: Created
    updated: Filtered[Updated]
