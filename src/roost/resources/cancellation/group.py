"""What the group consists of."""

from roost.core.group import Group
from roost.resources.cancellation import endpoints, fsck, jobs, watch_jobs
from roost.resources.cancellation.settings import Cancellation

GROUP = Group(
    endpoints=(endpoints,),
    jobs=(jobs.CLOSE, jobs.ERASE, watch_jobs.WATCH),
    schedules=(jobs.NIGHTLY, watch_jobs.EVERY_TEN_MINUTES),
    at_start=(watch_jobs.EVERY_TEN_MINUTES,),
    checks=(fsck.check_canceled,),
    services=lambda settings: (Cancellation.of(settings),),
)
