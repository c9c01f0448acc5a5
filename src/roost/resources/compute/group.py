"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.compute import (
    address_fsck,
    conditions,
    deletion_service,
    endpoints,
    filter_fsck,
    filter_watch_jobs,
    fsck,
    jobs,
    leftover_jobs,
    limits,
    notices,
    overlay_fsck,
    queries,
    suspension_jobs,
    totals_queries,
    transfer_queries,
    watch_jobs,
)
from roost.resources.compute.backups import endpoints as backups
from roost.resources.compute.backups import fsck as backup_fsck
from roost.resources.compute.backups import jobs as backup_jobs
from roost.resources.compute.backups import schedule_jobs
from roost.resources.compute.billing_queries import ALL_CHARGED
from roost.resources.compute.configs import endpoints as configs
from roost.resources.compute.disks import endpoints as disks
from roost.resources.compute.disks import jobs as disk_jobs
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.holdings import INSTANCES
from roost.resources.compute.lifecycle import endpoints as lifecycle
from roost.resources.compute.lifecycle import jobs as lifecycle_jobs
from roost.resources.compute.lifecycle import live_jobs, migration_jobs, move_jobs


async def _end(context: Context, instance_id: str) -> None:
    await deletion_service.delete(context, int(instance_id), keeps=False)


GROUP = Group(
    endpoints=(endpoints, backups, configs, disks, lifecycle),
    entities=(COMPUTE,),
    jobs=(
        *jobs.KINDS,
        *watch_jobs.KINDS,
        filter_watch_jobs.WATCH,
        *backup_jobs.KINDS,
        schedule_jobs.DUE,
        *disk_jobs.KINDS,
        *lifecycle_jobs.KINDS,
        migration_jobs.MIGRATE,
        move_jobs.MOVE,
        leftover_jobs.CLEAR,
        live_jobs.MOVE_LIVE,
        suspension_jobs.SUSPEND,
    ),
    schedules=(
        schedule_jobs.EVERY_TEN_MINUTES,
        jobs.EVERY_MINUTE,
        watch_jobs.EVERY_MINUTE,
        filter_watch_jobs.EVERY_MINUTE,
    ),
    at_start=(jobs.EVERY_MINUTE, watch_jobs.EVERY_MINUTE, filter_watch_jobs.EVERY_MINUTE),
    bindings=(transfer_queries.GRANTS,),
    on_each_host=True,
    checks=(
        fsck.check_instances,
        backup_fsck.check_backups,
        address_fsck.check_addresses,
        filter_fsck.check_filters,
        overlay_fsck.check_overlays,
    ),
    causes=(notices.outages, notices.stranded),
    billables=ALL_CHARGED,
    limits=(limits.COMPUTES,),
    holders=((INSTANCE_PLANE, totals_queries.engines_in_use),),
    promises=(limits.promise,),
    holdings=(INSTANCES,),
    endings=(Ending("compute", queries.HELD, _end),),
    suspensions=(suspension_jobs.INSTANCES,),
    watches=(conditions.WATCH,),
)
