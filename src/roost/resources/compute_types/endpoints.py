"""What the API offers: compute types, for everyone (reference: operations)."""

from roost.resources.compute_types import queries
from roost.resources.compute_types.records import ComputeTypeRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_CACHE_SECONDS = 60


@endpoint(
    "GET",
    "/compute/types",
    public=True,
    returns=Page(ComputeTypeRow),
    filters=queries.TYPES.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_compute_types(call: Call) -> bytes:
    """List compute types with their prices.

    A compute type, also called a plan, is a size of instances with its price.
    """
    return await call.collection(queries.TYPES)


@endpoint(
    "GET",
    "/compute/types/{typeId}",
    public=True,
    returns=ComputeTypeRow,
    cache_seconds=_CACHE_SECONDS,
)
async def view_compute_type(call: Call) -> bytes:
    """View a compute type.

    Memory, disk, processors, traffic and prices.
    """
    return await fetch_record(call.db, queries.EVERY_TYPE, (), call.text("typeId"))
