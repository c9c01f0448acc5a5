"""What the group consists of."""

from roost.core.group import Group
from roost.resources.firewalls import (
    conditions,
    endings,
    endpoints,
    fsck,
    jobs,
    queries,
    watch_jobs,
)
from roost.resources.firewalls.neighbours import FirewallDevices
from roost.resources.firewalls.queries import FIREWALL

GROUP = Group(
    endpoints=(endpoints,),
    entities=(FIREWALL,),
    jobs=(jobs.APPLY, jobs.APPLY_ON_HOST, watch_jobs.WATCH),
    schedules=(watch_jobs.EVERY_MINUTE,),
    at_start=(watch_jobs.EVERY_MINUTE,),
    on_each_host=True,
    bindings=(fsck.STRANGERS,),
    checks=(fsck.check_firewalls,),
    limits=(queries.LIMIT,),
    endings=(endings.FIREWALLS,),
    neighbours=(FirewallDevices(),),
    watches=(conditions.WATCH,),
)
