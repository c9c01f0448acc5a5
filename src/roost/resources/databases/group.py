"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.errors import not_found
from roost.resources.databases import (
    backup_endpoints,
    conditions,
    disk_jobs,
    endpoints,
    fsck,
    instance_endpoints,
    jobs,
    limits,
    name_fsck,
    name_jobs,
    queries,
    service,
    suspension_service,
    upkeep_jobs,
    watch_jobs,
)
from roost.resources.databases.engine import PLANES
from roost.resources.databases.queries import DATABASE
from roost.resources.databases.settings import DatabaseZone, Verification


async def _end(context: Context, database_id: str) -> None:
    database = await queries.lock(context.db, context.account_id, int(database_id))
    if database is None:
        raise not_found()
    service.check_status(database, *service.REMOVABLE)
    await service.remove(context, database)


GROUP = Group(
    endpoints=(endpoints, instance_endpoints, backup_endpoints),
    entities=(DATABASE,),
    jobs=(
        *(*jobs.KINDS, *upkeep_jobs.KINDS),
        *(watch_jobs.BACKUPS_DUE, watch_jobs.WATCH, name_jobs.SYNC, disk_jobs.DISK),
    ),
    schedules=(
        *(watch_jobs.EVERY_TEN_MINUTES, watch_jobs.EVERY_MINUTE, name_jobs.EVERY_MINUTE),
        *upkeep_jobs.SCHEDULES,
    ),
    at_start=(watch_jobs.EVERY_MINUTE, name_jobs.EVERY_MINUTE),
    checks=(fsck.check_databases, name_fsck.check_database_names),
    watches=conditions.WATCHES,
    billables=tuple(queries.CHARGED.values()),
    limits=(limits.DATABASES,),
    promises=(limits.promise,),
    endings=(Ending("database", queries.HELD, _end),),
    suspensions=(suspension_service.DATABASES,),
    holders=tuple((plane, queries.engines_in_use(kind)) for kind, plane in PLANES.items()),
    services=lambda settings: (DatabaseZone.of(settings), Verification.of(settings)),
)
