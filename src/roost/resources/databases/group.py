"""What the group consists of."""

from roost.core.group import Group
from roost.resources.databases import (
    backup_endpoints,
    endings,
    endpoints,
    fsck,
    jobs,
    limits,
    queries,
    suspension_service,
    watch_jobs,
)
from roost.resources.databases.engine import DATABASE_PLANE
from roost.resources.databases.queries import DATABASE

GROUP = Group(
    endpoints=(endpoints, backup_endpoints),
    entities=(DATABASE,),
    jobs=(*jobs.KINDS, watch_jobs.BACKUPS_DUE, watch_jobs.WATCH),
    schedules=(watch_jobs.EVERY_TEN_MINUTES, watch_jobs.EVERY_MINUTE),
    at_start=(watch_jobs.EVERY_MINUTE,),
    checks=(fsck.check_databases,),
    billables=(queries.CHARGED,),
    limits=(limits.DATABASES,),
    promises=(limits.promise,),
    endings=(endings.DATABASES,),
    suspensions=(suspension_service.DATABASES,),
    holders=((DATABASE_PLANE, queries.engines_in_use),),
)
