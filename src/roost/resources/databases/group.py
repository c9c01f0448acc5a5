"""What the group consists of."""

from roost.core.group import Group
from roost.resources.databases import (
    backup_endpoints,
    endpoints,
    fsck,
    jobs,
    limits,
    queries,
    schedule,
)
from roost.resources.databases.engine import DATABASE_PLANE
from roost.resources.databases.entity import DATABASE

GROUP = Group(
    endpoints=(endpoints, backup_endpoints),
    entities=(DATABASE,),
    jobs=(*jobs.KINDS, schedule.BACKUPS_DUE, schedule.WATCH),
    schedules=(schedule.EVERY_TEN_MINUTES, schedule.EVERY_MINUTE),
    at_start=(schedule.EVERY_MINUTE,),
    checks=(fsck.check_databases,),
    limits=(limits.DATABASES,),
    promises=(limits.promise,),
    holders=((DATABASE_PLANE, queries.engines_in_use),),
)
