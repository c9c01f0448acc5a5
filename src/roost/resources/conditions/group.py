"""What the group consists of."""

from datetime import timedelta

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.conditions import jobs, queries
from roost.resources.conditions.conditions import WATCHES
from roost.resources.conditions.letter_jobs import LETTER

GROUP = Group(
    jobs=(jobs.WATCH, LETTER),
    schedules=(jobs.EVERY_MINUTE,),
    at_start=(jobs.EVERY_MINUTE,),
    watches=WATCHES,
    retention=(
        retention("condition_retention", "41 3 * * *", Old(queries.delete_old, timedelta(days=90))),
    ),
)
