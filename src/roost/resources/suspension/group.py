"""What the group consists of."""

from roost.core.group import Group
from roost.resources.suspension import jobs, mail_jobs, notices, watch_jobs
from roost.resources.suspension.settings import Grace

GROUP = Group(
    jobs=(jobs.SETTLE, mail_jobs.SEND, watch_jobs.WATCH),
    schedules=(watch_jobs.EVERY_MINUTE,),
    at_start=(watch_jobs.EVERY_MINUTE,),
    causes=(notices.suspended,),
    services=lambda settings: (Grace.of(settings),),
)
