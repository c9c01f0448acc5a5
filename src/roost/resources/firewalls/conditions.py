"""What operators have to know of firewalls."""

from collections.abc import Sequence

from roost.core.conditions import Condition, Watch
from roost.core.context import Context
from roost.core.losses import lately
from roost.resources.firewalls.watch_jobs import WATCH as JOB


async def lost(context: Context) -> Sequence[Condition]:
    """Regions whose firewalls somebody removed from the hosts."""
    return await lately(context, "firewalls_lost", JOB.name, "firewalls")


WATCH = Watch(("firewalls_lost",), lost)
