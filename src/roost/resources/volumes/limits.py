"""What an account and a region may have of volumes (docs/catalog.md, Limits)."""

from roost.core.context import Context
from roost.core.limits.capacity import check_capacity
from roost.core.limits.check import check_limits
from roost.core.limits.host import Promised
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.resources.volumes.queries import promised_in
from roost.store import Queries

VOLUMES = LimitGroup(
    "volumes",
    "volume v where v.account_id = $1",
    (
        LimitKind("volumes", "volumes", 500),
        LimitKind("volume_storage", "GiB in volumes", 100 * 1024, "sum(v.size)"),
    ),
)

FULL = "The region has no capacity for a volume of this size"


async def promise(db: Queries, region: str) -> Promised:
    """What volumes have of a region's host."""
    return Promised(0, 1024 * await promised_in(db, region))


async def check_new(context: Context, region: str) -> None:
    """400 when a new volume, which is written already, is too much for account or region."""
    await check_limits(context, VOLUMES)
    await check_capacity(context, region, "size", FULL)


async def check_resized(context: Context, region: str) -> None:
    """The same for one that is to grow."""
    await check_limits(context, VOLUMES, "volume_storage")
    await check_capacity(context, region, "size", FULL)
