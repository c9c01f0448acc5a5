"""The addresses of one instance (reference: Compute views)."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

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
    vpc: list[AddressRow]
    """Always empty: no interface is in a VPC."""


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


# This key is a Python keyword, so it is named outside of a class body.
_Global = TypedDict(
    "_Global",
    {
        "global": Annotated[
            list[RangeRow], Field(description="Always empty: no ranges are routed to guests.")
        ]
    },
)


class Ipv6OfInstance(_Global):
    """By kind."""

    slaac: AddressRow
    """That which the guest gives itself from the router's advertisements."""
    link_local: AddressRow
    """That which the guest has on the link."""


class AddressesRow(TypedDict):
    """All addresses of an instance."""

    ipv4: Ipv4OfInstance
    """Of IPv4."""
    ipv6: Ipv6OfInstance
    """Of IPv6."""
