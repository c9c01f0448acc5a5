"""What operators have to know of instances."""

from collections.abc import Sequence

from roost.core.conditions import Condition, Watch
from roost.core.context import Context
from roost.core.losses import lately
from roost.resources.compute.filter_watch_jobs import WATCH as JOB


async def lost(context: Context) -> Sequence[Condition]:
    """Regions whose guests' filters somebody removed from the hosts."""
    return await lately(context, "filters_lost", JOB.name, "filters of guests")


WATCH = Watch(("filters_lost",), lost)
