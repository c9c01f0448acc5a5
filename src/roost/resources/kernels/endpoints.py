"""What the API offers: kernels, for everyone (reference: operations)."""

from roost.resources.kernels import queries
from roost.resources.kernels.records import KernelRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_CACHE_SECONDS = 60


@endpoint(
    "GET",
    "/compute/kernels",
    public=True,
    returns=Page(KernelRow),
    filters=queries.KERNELS.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_kernels(call: Call) -> bytes:
    """List kernels.

    Kernels that a config can name.
    """
    return await call.collection(queries.KERNELS)


@endpoint(
    "GET",
    "/compute/kernels/{kernelId:path}",
    public=True,
    returns=KernelRow,
    cache_seconds=_CACHE_SECONDS,
)
async def view_kernel(call: Call) -> bytes:
    """View a kernel.

    A kernel that a config can name.
    """
    return await fetch_record(call.db, queries.EVERY_KERNEL, (), call.text("kernelId"))
