"""Records of regions (spec B, Region; reference: Region, Region availability)."""

from typing import Literal

from typing_extensions import TypedDict


class Resolvers(TypedDict):
    """DNS servers, each a comma-separated list of addresses."""

    ipv4: str
    ipv6: str


class RegionRow(TypedDict):
    id: str
    label: str
    country: str
    capabilities: list[str]
    status: Literal["ok", "outage"]
    site_type: Literal["core", "distributed"]
    resolvers: Resolvers


class AvailabilityRow(TypedDict):
    """Whether a region has a plan of limited supply left."""

    region: str
    plan: str
    available: bool


class ServicesRow(TypedDict):
    """Which of four services the account can and can't use in a region.

    They are Block Storage, Computes, Kubernetes and NodeBalancers.
    """

    region: str
    available: list[str]
    unavailable: list[str]
