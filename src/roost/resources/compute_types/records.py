"""Records of compute types (reference: Compute type)."""

from typing import Literal

from typing_extensions import TypedDict


class Price(TypedDict):
    """US dollars."""

    hourly: float
    monthly: float


class RegionPrice(Price):
    """The price in a region that differs."""

    id: str


class Addon(TypedDict):
    price: Price
    region_prices: list[RegionPrice]


class Addons(TypedDict):
    backups: Addon


# A key of the record is a Python keyword, so these are named outside of a class body.
ComputeTypeRow = TypedDict(
    "ComputeTypeRow",
    {
        "id": str,
        "label": str,
        "class": Literal["nanode", "standard", "dedicated", "premium", "gpu", "highmem"],
        "disk": int,
        "memory": int,
        "vcpus": int,
        "gpus": int,
        "network_out": int,
        "transfer": int,
        "price": Price,
        "region_prices": list[RegionPrice],
        "addons": Addons,
        "successor": str | None,
    },
)
"""disk and memory in MB, network_out in Mbit/s, transfer in GB a month."""
