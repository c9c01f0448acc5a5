"""What the group consists of."""

from roost.core.group import Group
from roost.resources.transfers import endpoints, jobs, service_endpoints
from roost.resources.transfers.queries import TRANSFER

GROUP = Group(
    endpoints=(endpoints, service_endpoints),
    entities=(TRANSFER,),
    jobs=(jobs.DUE,),
    schedules=(jobs.EVERY_MINUTE,),
)
