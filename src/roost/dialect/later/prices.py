"""Price lists of later revisions, from the catalogue."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from roost.core.catalog import Catalog
from roost.core.catalog.entries import Entries, Priced
from roost.store.paging import page_of
from roost.web.call import Call
from roost.web.registry import Page, endpoint


class PriceRow(TypedDict):
    """US dollars."""

    hourly: float
    """An hour, up to the price of a month; of what is charged once, the price."""
    monthly: float | None
    """A month; null for what is charged once."""


class RegionPriceRow(PriceRow):
    """The price of a region where it is another."""

    id: str
    """The region."""


class PricedRow(TypedDict):
    """What something costs."""

    id: str
    """What it is."""
    label: str
    """What people call it."""
    price: PriceRow
    """Of one GiB of a volume, of a NodeBalancer, of one GB in a bucket or sent."""
    region_prices: Sequence[RegionPriceRow]
    """Where it costs something else."""
    transfer: int
    """What it adds to the transfer pool: nothing."""


@endpoint("GET", "/volumes/types", public=True, returns=Page(PricedRow))
async def list_volume_types(call: Call) -> bytes:
    """List the prices of volumes.

    There is one kind of volume.
    """
    priced = _entries(call).volume_price
    return _page(call, _by_time("volume", "Storage Volume", priced))


@endpoint("GET", "/nodebalancers/types", public=True, returns=Page(PricedRow))
async def list_nodebalancer_types(call: Call) -> bytes:
    """List the prices of NodeBalancers.

    There is one kind of NodeBalancer. What it sends counts against the account's pool.
    """
    priced = _entries(call).nodebalancer_price
    return _page(call, _by_time("nodebalancer", "NodeBalancer", priced))


@endpoint("GET", "/object-storage/types", public=True, returns=Page(PricedRow))
async def list_object_storage_types(call: Call) -> bytes:
    """List the prices of object storage.

    What is kept in buckets is charged by the whole GB.
    """
    priced = _entries(call).bucket_price
    return _page(call, _by_time("objectstorage", "Object Storage", priced))


@endpoint("GET", "/network-transfer/prices", public=True, returns=Page(PricedRow))
async def list_network_transfer_prices(call: Call) -> bytes:
    """List the prices of transfer beyond the pool.

    Regions with another price have a pool of their own.
    """
    priced = _entries(call).transfer_price
    row = PricedRow(
        id="network_transfer",
        label="Network Transfer",
        price=_once(priced.price),
        region_prices=[
            RegionPriceRow(id=each.id, **_once(each.price)) for each in priced.region_prices
        ],
        transfer=0,
    )
    return _page(call, row)


PRICES = (
    list_volume_types,
    list_nodebalancer_types,
    list_object_storage_types,
    list_network_transfer_prices,
)


def _entries(call: Call) -> Entries:
    return call.services.get(Catalog).entries


def _page(call: Call, row: PricedRow) -> bytes:
    return page_of([row], call.page, call.page_size)


def _by_time(name: str, label: str, priced: Priced) -> PricedRow:
    return PricedRow(
        id=name,
        label=label,
        price=PriceRow(hourly=priced.price.hourly, monthly=priced.price.monthly),
        region_prices=[
            RegionPriceRow(id=each.id, hourly=each.hourly, monthly=each.monthly)
            for each in priced.region_prices
        ],
        transfer=0,
    )


def _once(price: float) -> PriceRow:
    return PriceRow(hourly=price, monthly=None)
