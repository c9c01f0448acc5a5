"""What an account and a region may have of volumes (docs/catalog.md, Limits)."""

from roost.core.context import Context
from roost.core.limits.capacity import check_capacity, settle_host
from roost.core.limits.check import check_limits
from roost.core.limits.host import Promised
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.jobs.queue import JobQueue
from roost.resources.volumes.locks import resource_of
from roost.resources.volumes.queries import NewVolume, promised_in, set_host
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


async def promise(db: Queries, region: str, host: str) -> Promised:
    """What volumes have of a host."""
    return Promised(0, 1024 * await promised_in(db, region, host))


async def check_new(context: Context, volume_id: int, new: NewVolume, *, stays: bool) -> None:
    """400 when a new volume, which is written already, is too much for the account or for hosts.

    One that need not stay on its host goes to another one that has room, with its job.
    """
    await check_limits(context, VOLUMES)
    if stays:
        await check_capacity(context, new.region, "size", FULL, new.host)
        return
    needs = Promised(0, 1024 * new.size)
    settled = await settle_host(context, new.region, new.host, needs, "size", FULL)
    if settled != new.host:
        await set_host(context.db, volume_id, settled)
        await context.get(JobQueue).move(context.db, resource_of(volume_id), settled)


async def check_resized(context: Context, region: str, host: str) -> None:
    """Check a volume that is to grow."""
    await check_limits(context, VOLUMES, "volume_storage")
    await check_capacity(context, region, "size", FULL, host)
