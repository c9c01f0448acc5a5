"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.firewalls import (
    conditions,
    endpoints,
    fsck,
    jobs,
    queries,
    service,
    watch_jobs,
)
from roost.resources.firewalls.neighbours import FirewallDevices
from roost.resources.firewalls.queries import FIREWALL


async def _end(context: Context, firewall_id: str) -> None:
    await service.delete(context, int(firewall_id))


GROUP = Group(
    endpoints=(endpoints,),
    entities=(FIREWALL,),
    jobs=(jobs.APPLY, jobs.APPLY_ON_HOST, watch_jobs.WATCH),
    schedules=(watch_jobs.EVERY_MINUTE,),
    at_start=(watch_jobs.EVERY_MINUTE,),
    on_each_host=True,
    bindings=(fsck.STRANGERS, fsck.BALANCED_STRANGERS),
    checks=(fsck.check_firewalls,),
    limits=(queries.LIMIT,),
    endings=(Ending("firewall", queries.HELD, _end),),
    neighbours=(FirewallDevices(),),
    watches=(conditions.WATCH,),
)
