"""What the group consists of."""

from roost.core.group import Group
from roost.resources.support import endpoints, fsck, jobs, notices, queries
from roost.resources.support.queries import TICKET

GROUP = Group(
    endpoints=(endpoints,),
    entities=(TICKET,),
    jobs=(jobs.SEND,),
    checks=(fsck.check_attachments,),
    causes=(notices.tickets,),
    limits=(queries.LIMIT,),
)
