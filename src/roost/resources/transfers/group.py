"""What the group consists of."""

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.transfers import endings, endpoints, jobs, queries
from roost.resources.transfers.queries import TRANSFER

GROUP = Group(
    endpoints=(endpoints,),
    entities=(TRANSFER,),
    endings=(endings.TRANSFERS,),
    jobs=(jobs.DUE,),
    schedules=(jobs.EVERY_MINUTE,),
    retention=(
        retention("transfer_retention", "52 3 * * *", Old(queries.delete_old, queries.KEPT)),
    ),
)
