"""Records of usage (reference: Account transfer, and the instance's stats and transfer)."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

Series = list[tuple[int, float]]
"""Pairs of a time, in milliseconds since 1970 (UTC), and the mean from then on."""


class IoSeries(TypedDict):
    """Blocks of 4 KiB read and written, a second."""

    io: Series
    """On disks with data."""
    swap: Series
    """On disks for swapping."""


_Ways = TypedDict(
    "_Ways",
    {
        "in": Annotated[Series, Field(description="From public addresses.")],
        "out": Annotated[Series, Field(description="To public addresses.")],
    },
)


class FamilySeries(_Ways):
    """Traffic of one family of addresses, in bits a second."""

    private_in: Series
    """From private addresses."""
    private_out: Series
    """To private addresses."""


class StatsRow(TypedDict):
    """What an instance used, as series to be drawn."""

    title: str
    """Of a chart: the instance's label, and for how long each point stands."""
    cpu: Series
    """Percent of one processor: 200 are two that never rest."""
    io: IoSeries
    """Of its disks."""
    netv4: FamilySeries
    """Of IPv4."""
    netv6: FamilySeries
    """Of IPv6, which has no private addresses here."""


class InstanceTransferRow(TypedDict):
    """What an instance sent out this month."""

    used: int
    """Bytes sent to public addresses."""
    quota: int
    """GB that its plan gives for this month."""
    billable: int
    """GB beyond its plan that the account's pool has no room for."""


class MonthTransferRow(TypedDict):
    """An instance's traffic with public addresses in a month; bytes."""

    bytes_in: int
    """Received."""
    bytes_out: int
    """Sent."""
    bytes_total: int
    """Both."""


class RegionTransfer(TypedDict):
    """A region with a pool of its own; GB of this month."""

    id: str
    """The id of the region."""
    billable: int
    """GB beyond the pool."""
    quota: int
    """GB that the pool holds."""
    used: int
    """GB used."""


class AccountTransferRow(TypedDict):
    """The pool of outbound transfer; GB of this month."""

    billable: int
    """GB beyond the pool."""
    quota: int
    """GB that the pool holds: what the plans of the account's instances and object storage give."""
    used: int
    """GB that the instances sent to public addresses, those too that are gone, and that clients
    have got from object storage."""
    region_transfers: list[RegionTransfer]
    """Regions with a pool of their own."""
