"""What the group consists of."""

from roost.core.group import Group
from roost.resources.maintenance import endpoints, jobs, notices
from roost.resources.maintenance.host_queries import MAINTENANCE
from roost.resources.maintenance.neighbours import PlannedMaintenance

GROUP = Group(
    endpoints=(endpoints,),
    jobs=(jobs.DUE, jobs.RUN),
    schedules=(jobs.EVERY_MINUTE,),
    causes=(notices.maintenance,),
    neighbours=(PlannedMaintenance(),),
    holdings=(MAINTENANCE,),
)
