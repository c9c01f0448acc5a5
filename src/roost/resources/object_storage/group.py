"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.object_storage import (
    adoption_jobs,
    certificate_endpoints,
    conditions,
    endpoints,
    fsck,
    jobs,
    key_endpoints,
    limits,
    name_jobs,
    object_endpoints,
    queries,
    service,
    watch_jobs,
)
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.resources.object_storage.key_queries import KEY
from roost.resources.object_storage.queries import BUCKET


async def _end(context: Context, _account_id: str) -> None:
    await service.cancel(context)


GROUP = Group(
    endpoints=(endpoints, object_endpoints, key_endpoints, certificate_endpoints),
    entities=(BUCKET, KEY),
    jobs=(
        *(jobs.APPLY_BUCKET, jobs.APPLY_KEY, jobs.BRING_BUCKET, jobs.BRING_KEY),
        *(jobs.PURGE, adoption_jobs.TAKE_UP),
        *(watch_jobs.WATCH, watch_jobs.COUNT, name_jobs.NAMES),
    ),
    schedules=(watch_jobs.EVERY_MINUTE, watch_jobs.COUNTED, name_jobs.EVERY_MINUTE),
    at_start=(watch_jobs.EVERY_MINUTE, watch_jobs.COUNTED, name_jobs.EVERY_MINUTE),
    watches=(conditions.WATCH,),
    billables=(queries.CHARGED,),
    checks=(fsck.check_buckets, fsck.check_keys),
    limits=(limits.BUCKETS, limits.KEYS),
    endings=(Ending("object storage", queries.HELD, _end),),
    holders=((OBJECT_PLANE, queries.engines_in_use),),
)
