"""Refusing what a region's host cannot hold."""

from collections.abc import Awaitable, Callable

from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.core.context import Context
from roost.core.limits import queries
from roost.core.limits.host import Capacity, Promised, fits
from roost.errors import invalid
from roost.store import Queries

FULL = "The region has no capacity for this plan type"

Promise = Callable[[Queries, str], Awaitable[Promised]]
"""What one group promises in a region."""


class Promises:
    """All that is promised in a region."""

    def __init__(self, *promises: Promise) -> None:
        self._promises = promises

    async def in_region(self, db: Queries, region: str) -> Promised:
        parts = [await promise(db, region) for promise in self._promises]
        return Promised(sum(p.memory for p in parts), sum(p.storage for p in parts))


async def check_capacity(
    context: Context, region_id: str, field: str | None, reason: str = FULL
) -> None:
    """The last thing that a handler does that promises more of a region than before.

    Whoever else does waits until the commit. ApiError 400 when the region's host has not enough.
    """
    region = context.get(Catalog).find_region(region_id)
    capacity = None if region is None else await _capacity(context, region)
    if region is None or capacity is None:
        return
    await queries.hold(context.db, f"host {region_id}", 0)
    promised = await context.get(Promises).in_region(context.db, region_id)
    if not fits(capacity, promised, region.overcommit):
        raise invalid(reason, field)


async def _capacity(context: Context, region: RegionEntry) -> Capacity | None:
    """What the catalogue says, else what the engine last said; None: as much as anybody wants."""
    if region.capacity is not None:
        has = region.capacity
        return Capacity(has.memory, has.storage, has.storage)
    if region.engine_of("instances") == "simulated":
        return None
    found = await queries.measured(context.db, region.id)
    return None if found is None else Capacity(*found)
