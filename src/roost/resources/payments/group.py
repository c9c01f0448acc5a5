"""What the group consists of."""

from roost.core.group import Group
from roost.resources.payments import (
    card_jobs,
    collect_jobs,
    conditions,
    endpoints,
    fsck,
    jobs,
    mail_jobs,
    notices,
)

GROUP = Group(
    endpoints=(endpoints,),
    jobs=(jobs.PAYMENT, card_jobs.FORGET, collect_jobs.COLLECT, mail_jobs.SEND),
    schedules=(collect_jobs.EVERY_HOUR,),
    checks=(fsck.check_payments,),
    causes=(notices.payment_due,),
    watches=(conditions.WATCH,),
)
