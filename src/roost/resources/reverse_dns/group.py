"""What the group consists of."""

from roost.core.group import Group
from roost.resources.reverse_dns import endpoints, fsck, jobs, neighbours
from roost.resources.reverse_dns.entity import IP_ADDRESS

GROUP = Group(
    endpoints=(endpoints,),
    entities=(IP_ADDRESS,),
    jobs=(jobs.SYNC, jobs.NAMES),
    schedules=(jobs.EVERY_MINUTE,),
    at_start=(jobs.EVERY_MINUTE,),
    neighbours=(neighbours.NamesOfAddresses(),),
    checks=(fsck.check_reverse_zones,),
)
