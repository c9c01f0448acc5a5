"""Request bodies of config interfaces (reference: Interface, operations)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.resources.compute.configs import examples
from roost.resources.compute.interfaces import Interface, InterfaceIpv4, Ranges
from roost.web.bodies import Body
from roost.web.fields import Between, Length


class AddInterface(Interface):
    """POST …/interfaces."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.ADD_INTERFACE})


class UpdateInterface(Body):
    """PUT …/interfaces/{interfaceId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.UPDATE_INTERFACE})

    primary: bool | None = None
    """Whether the guest's default route is here; no VLAN can be."""
    ipv4: InterfaceIpv4 | None = None
    """Addresses in a VPC; for this purpose only."""
    ip_ranges: Ranges | None = None
    """IPv4 networks that a VPC routes here, in place of those before."""


class OrderInterfaces(Body):
    """POST …/interfaces/order: the ids of all interfaces, the one that is to be eth0 first."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.ORDER})

    ids: Annotated[list[Annotated[int, Between(1, 2**63 - 1)]], Length(0, 16)]
    """All interfaces of the config, eth0 first."""
