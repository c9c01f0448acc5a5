"""On which host something new is made, and refusing what no host can hold."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.core.context import Context
from roost.core.hosts import queries as hosts
from roost.core.hosts.queries import HostRoom
from roost.core.limits import queries
from roost.core.limits.host import Capacity, Promised, fits
from roost.errors import invalid
from roost.settings import MAIN_HOST
from roost.store import Queries

FULL = "The region has no capacity for this plan type"

Promise = Callable[[Queries, str, str], Awaitable[Promised]]
"""What one group promises of a region (its first text) on a host."""

NOTHING = Promised(0, 0)


class Promises:
    """All that is promised of a region on a host."""

    def __init__(self, *promises: Promise) -> None:
        self._promises = promises

    async def of(self, db: Queries, region: str, host: str) -> Promised:
        parts = [await promise(db, region, host) for promise in self._promises]
        return sum(parts, NOTHING)


@dataclass(frozen=True, slots=True)
class _Offer:
    """A host that has room."""

    host: str
    left: float
    """MB of memory that it may still promise; without an end of it, less is promised is more."""


async def choose_host(
    context: Context,
    region_id: str,
    needs: Promised,
    field: str,
    reason: str = FULL,
    besides: str | None = None,
    near: Callable[[], Awaitable[Mapping[str, int]]] | None = None,
) -> str:
    """The host with the most memory left to promise of those that have room for `needs`; before
    that counts how many things it has of those that this one goes with (`near`).

    Where one host serves the region, that one, whether it has room or not: `check_capacity`
    tells. A host that is drained, dead or fenced gets nothing, nor one to do without (`besides`).
    ApiError 400 when there is none.
    """
    region = context.get(Catalog).find_region(region_id)
    served = await hosts.serving(context.db, region_id)
    if region is None or not served:
        return MAIN_HOST
    open_ones = [each for each in served if each.state == "up" and each.host != besides]
    if len(served) > 1:
        open_ones = [each for each in open_ones if each.alive] or open_ones
    if len(served) == 1 and open_ones:
        return served[0].host
    offers = await _offers(context, region, open_ones, needs)
    if not offers:
        raise invalid(reason, field)
    beside = {} if near is None else await near()
    return max(offers, key=lambda each: (beside.get(each.host, 0), each.left)).host


async def _offers(
    context: Context, region: RegionEntry, served: Sequence[HostRoom], needs: Promised
) -> list[_Offer]:
    offers = list[_Offer]()
    for each in served:
        promised = await context.get(Promises).of(context.db, region.id, each.host) + needs
        capacity = _capacity_of(region, each)
        if capacity is None:
            offers.append(_Offer(each.host, -promised.memory))
        elif fits(capacity, promised, region.overcommit):
            left = capacity.memory * region.overcommit.memory - promised.memory
            offers.append(_Offer(each.host, left))
    return offers


async def check_capacity(
    context: Context,
    region_id: str,
    field: str | None,
    reason: str = FULL,
    host: str = MAIN_HOST,
) -> None:
    """The last thing that a handler does that promises more of a host than before.

    Whoever else does waits until the commit. ApiError 400 when the host has not enough.
    """
    if not await has_room(context, region_id, host):
        raise invalid(reason, field)


async def settle_host(
    context: Context, region_id: str, host: str, needs: Promised, field: str, reason: str = FULL
) -> str:
    """Like `check_capacity` for what has just been placed on a host by `choose_host`.

    Where others were faster, there may be room for it on another host, which is returned.
    """
    if await has_room(context, region_id, host):
        return host
    other = await choose_host(context, region_id, needs, field, reason)
    if other == host:
        raise invalid(reason, field)
    return other


async def has_room(context: Context, region_id: str, host: str, more: Promised = NOTHING) -> bool:
    """Whether all that is promised of a region on a host, by rows that are written, fits, with
    `more`.

    Whoever else promises something of the region waits until the end of the transaction.
    """
    region = context.get(Catalog).find_region(region_id)
    if region is None or (region.capacity is None and region.engine_of("instances") == "simulated"):
        return True
    found = await hosts.serving(context.db, region_id)
    room = next((each for each in found if each.host == host), None)
    capacity = _capacity_of(region, room)
    if capacity is None:
        return True
    await queries.hold(context.db, f"host {region_id}", 0)
    promised = await context.get(Promises).of(context.db, region_id, host) + more
    return fits(capacity, promised, region.overcommit)


def _capacity_of(region: RegionEntry, room: HostRoom | None) -> Capacity | None:
    """What the catalogue says, else what the engine last said; None: as much as anybody wants."""
    cpus = None if room is None else room.cpus
    if region.capacity is not None:
        has = region.capacity
        return Capacity(has.memory, has.storage, has.storage, has.cpus or cpus)
    if room is None or room.figures is None or region.engine_of("instances") == "simulated":
        return None
    return Capacity(*room.figures, cpus)
