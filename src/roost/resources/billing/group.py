"""What the group consists of."""

from roost.core.group import Group
from roost.resources.billing import endpoints, fsck, jobs, mail_jobs
from roost.resources.billing.settings import Papers

GROUP = Group(
    endpoints=(endpoints,),
    jobs=(jobs.INVOICE, mail_jobs.SEND),
    schedules=(jobs.EVERY_HOUR,),
    at_start=(jobs.EVERY_HOUR,),
    checks=(fsck.check_invoices,),
    services=lambda settings: (Papers.of(settings),),
)
