"""What the API offers: regions, for everyone (spec B regions)."""

from roost.resources.regions import queries
from roost.resources.regions.records import AvailabilityRow, RegionRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.registry import Array, Page, endpoint

_CACHE_SECONDS = 60


@endpoint(
    "GET",
    "/regions",
    public=True,
    returns=Page(RegionRow),
    filters=queries.REGIONS.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_regions(call: Call) -> bytes:
    """List regions.

    A region is a place with engines of its own; what it offers is in its `capabilities`.
    """
    return await call.collection(queries.REGIONS)


@endpoint(
    "GET",
    "/regions/availability",
    public=True,
    returns=Page(AvailabilityRow),
    filters=queries.AVAILABILITY.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_region_availability(call: Call) -> bytes:
    """List which regions have the plans of limited supply.

    Only plans of limited supply are named; all others are to be had.
    """
    return await call.collection(queries.AVAILABILITY)


@endpoint(
    "GET", "/regions/{regionId}", public=True, returns=RegionRow, cache_seconds=_CACHE_SECONDS
)
async def view_region(call: Call) -> bytes:
    """View a region.

    What it offers and its DNS servers.
    """
    return await fetch_record(call.db, queries.EVERY_REGION, (), call.text("regionId"))


@endpoint(
    "GET",
    "/regions/{regionId}/availability",
    public=True,
    returns=Array(AvailabilityRow),
    cache_seconds=_CACHE_SECONDS,
)
async def view_region_availability(call: Call) -> str:
    """View which plans of limited supply a region has.

    Only plans of limited supply are named; all others are to be had.
    """
    return await queries.availability_of(call.db, call.text("regionId"))
