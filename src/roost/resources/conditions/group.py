"""What the group consists of."""

from datetime import timedelta

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.conditions import jobs, queries
from roost.resources.conditions.letters import LETTER
from roost.resources.conditions.watches import WATCHES

GROUP = Group(
    jobs=(jobs.WATCH, LETTER),
    schedules=(jobs.EVERY_MINUTE,),
    at_start=(jobs.EVERY_MINUTE,),
    watches=WATCHES,
    retention=(
        retention("condition_retention", "41 3 * * *", Old(queries.delete_old, timedelta(days=90))),
    ),
)
