"""Records of compute types (reference: Compute type)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Filter, Filtered, Folded


class Price(TypedDict):
    """US dollars."""

    hourly: float
    """For an hour, up to the monthly price."""
    monthly: float
    """For a whole month."""


class RegionPrice(Price):
    """The price in a region that differs."""

    id: str
    """The id of the region."""


class Addon(TypedDict):
    """Something that an instance can have beside, and what it costs."""

    price: Price
    """What it costs in most regions."""
    region_prices: list[RegionPrice]
    """What it costs where that differs."""


class Addons(TypedDict):
    """What an instance can have beside."""

    backups: Addon
    """Backups of an instance of this type."""


# This key is a Python keyword, so it is named outside of a class body.
_Class = TypedDict(
    "_Class",
    {
        "class": Annotated[
            Literal["nanode", "standard", "dedicated", "premium", "gpu", "highmem"],
            Field(
                description="What it is good for; `dedicated` shares its processors with nobody."
            ),
            Filter(),
        ]
    },
)


class ComputeTypeRow(_Class):
    """disk and memory in MB, network_out in Mbit/s, transfer in GB a month."""

    id: str
    """The name that requests use, such as `g1-small`."""
    label: Folded[str]
    """The name for people."""
    disk: Filtered[int]
    """MB, for all disks of an instance together."""
    memory: Filtered[int]
    """MB."""
    vcpus: Filtered[int]
    """Virtual processors."""
    gpus: Filtered[int]
    """Graphics processors."""
    network_out: Filtered[int]
    """Mbit/s that an instance can send."""
    transfer: Filtered[int]
    """GB of outbound traffic in a month that the price includes."""
    price: Price
    """What it costs in most regions."""
    region_prices: list[RegionPrice]
    """What it costs where that differs."""
    addons: Addons
    """What can be had with it, and for how much."""
    successor: str | None
    """The type that `mutate` changes to; null for a type that is current."""
