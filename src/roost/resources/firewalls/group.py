"""What the group consists of."""

from roost.core.group import Group
from roost.resources.firewalls import endpoints, fsck, jobs, queries
from roost.resources.firewalls.entity import FIREWALL
from roost.resources.firewalls.neighbour import FirewallDevices

GROUP = Group(
    endpoints=(endpoints,),
    entities=(FIREWALL,),
    jobs=jobs.KINDS,
    schedules=(jobs.EVERY_MINUTE,),
    at_start=(jobs.EVERY_MINUTE,),
    checks=(fsck.check_firewalls,),
    limits=(queries.LIMIT,),
    neighbours=(FirewallDevices(),),
)
