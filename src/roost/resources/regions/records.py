"""Records of regions (spec B regions; reference: Region, Region availability)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Filtered


class Resolvers(TypedDict):
    """DNS servers, each a comma-separated list of addresses."""

    ipv4: str
    """IPv4 addresses, with commas between them."""
    ipv6: str
    """IPv6 addresses, with commas between them."""


class RegionRow(TypedDict):
    """A place where things can be made."""

    id: str
    """The name that requests use, such as `us-lake`."""
    label: str
    """Where it is, for people."""
    country: Filtered[str]
    """Two letters of ISO 3166, in lower case."""
    capabilities: list[str]
    """What the region offers, such as `Computes` or `Block Storage`."""
    status: Literal["ok", "outage"]
    """`outage` while a service of it is disturbed."""
    site_type: Filtered[Literal["core", "distributed"]]
    """Whether it is one of the large sites or one near its users."""
    resolvers: Resolvers
    """The DNS servers for its instances."""


class AvailabilityRow(TypedDict):
    """Whether a region has a plan of limited supply left."""

    region: str
    """The id of the region."""
    plan: str
    """The id of the compute type."""
    available: bool
    """Whether one can be made there now."""


class ServicesRow(TypedDict):
    """Which of four services the account can and can't use in a region.

    They are Block Storage, Computes, Kubernetes and NodeBalancers.
    """

    region: str
    """The id of the region."""
    available: list[str]
    """What the account can use there."""
    unavailable: list[str]
    """What it cannot use there."""
