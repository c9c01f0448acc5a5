"""Handing out IPv4 addresses, each to one instance or NodeBalancer at a time.

Free addresses are rows that concurrent transactions take without waiting for each other; pools
are laid out as rows piece by piece, so that a large pool costs nothing until it is used.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from roost.core.addresses import queries
from roost.store import Queries


class PoolExhaustedError(Exception):
    """The region has no free address left."""


@dataclass(frozen=True, slots=True)
class Allocated:
    interface: IPv4Interface
    gateway: IPv4Address | None
    """None for a private address."""
    public: bool


async def allocate(
    db: Queries, region: str, public: bool, account_id: int, compute_id: int
) -> Allocated:
    """An address that no one else holds, for an instance; raises PoolExhaustedError."""
    return await _allocate(db, region, public, account_id, compute_id, None)


async def allocate_balanced(
    db: Queries, region: str, account_id: int, nodebalancer_id: int
) -> Allocated:
    """The same for a NodeBalancer, in public."""
    return await _allocate(db, region, True, account_id, None, nodebalancer_id)


async def _allocate(
    db: Queries,
    region: str,
    public: bool,
    account_id: int,
    compute_id: int | None,
    nodebalancer_id: int | None,
) -> Allocated:
    wanted = (region, public, account_id, compute_id, nodebalancer_id)
    taken = await queries.take(db, *wanted)
    if taken is None:
        await queries.lock_layout(db, region)
        taken = await queries.take(db, *wanted)
    if taken is None and await queries.lay_out_more(db, region, public):
        taken = await queries.take(db, *wanted)
    if taken is None:
        raise PoolExhaustedError(region)
    return _allocated(taken)


async def held_by(db: Queries, compute_id: int) -> list[Allocated]:
    """Public addresses first."""
    return [_allocated(row) for row in await queries.held_by(db, compute_id)]


def _allocated(row: queries.AddressRow) -> Allocated:
    gateway = row.gateway
    return Allocated(
        IPv4Interface(f"{row.address}/{row.prefix}"),
        None if gateway is None else IPv4Address(gateway),
        row.public,
    )
