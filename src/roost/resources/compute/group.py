"""What the group consists of."""

from roost.core.group import Group
from roost.resources.compute import (
    capacity,
    endpoints,
    engine_queries,
    fsck,
    fsck_addresses,
    jobs,
    limits,
    notices,
    watch,
)
from roost.resources.compute.backups import endpoints as backups
from roost.resources.compute.backups import fsck as backup_fsck
from roost.resources.compute.backups import jobs as backup_jobs
from roost.resources.compute.backups import schedule
from roost.resources.compute.configs import endpoints as configs
from roost.resources.compute.configs import interface_endpoints as interfaces
from roost.resources.compute.disks import endpoints as disks
from roost.resources.compute.disks import jobs as disk_jobs
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import endpoints as lifecycle
from roost.resources.compute.lifecycle import jobs as lifecycle_jobs

GROUP = Group(
    endpoints=(endpoints, backups, configs, interfaces, disks, lifecycle),
    entities=(COMPUTE,),
    jobs=(
        *jobs.KINDS,
        capacity.CAPACITY,
        *watch.KINDS,
        *backup_jobs.KINDS,
        schedule.DUE,
        *disk_jobs.KINDS,
        *lifecycle_jobs.KINDS,
    ),
    schedules=(schedule.EVERY_TEN_MINUTES, capacity.EVERY_MINUTE, watch.EVERY_MINUTE),
    at_start=(capacity.EVERY_MINUTE, watch.EVERY_MINUTE),
    checks=(fsck.check_instances, backup_fsck.check_backups, fsck_addresses.check_addresses),
    causes=(notices.outages,),
    limits=(limits.COMPUTES,),
    holders=((INSTANCE_PLANE, engine_queries.engines_in_use),),
    promises=(limits.promise,),
)
