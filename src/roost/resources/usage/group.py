"""What the group consists of."""

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.usage import (
    alert_jobs,
    alert_service,
    endpoints,
    jobs,
    pool_service,
    queries,
)

GROUP = Group(
    endpoints=(endpoints,),
    jobs=(jobs.READ, alert_jobs.WATCH, alert_jobs.SEND),
    schedules=(jobs.EVERY_FIVE_MINUTES, alert_jobs.EVERY_TEN_MINUTES),
    metered=(pool_service.TRANSFER,),
    causes=(alert_service.alerts,),
    retention=(
        retention(
            "usage_retention",
            "17 4 * * *",
            Old(queries.delete_old_steps, queries.KEPT_STEPS),
            Old(queries.delete_old_hours, queries.KEPT_HOURS),
        ),
    ),
)
