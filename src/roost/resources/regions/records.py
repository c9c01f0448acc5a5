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
    resolvers: Resolvers


class AvailabilityRow(TypedDict):
    """Whether a region has a plan of limited supply left."""

    region: str
    plan: str
    available: bool


class ServicesRow(TypedDict):
    """What the account can and can't use in a region, by the names of capabilities."""

    region: str
    available: list[str]
    unavailable: list[str]
