"""Live migrations: begun as moves to another host, ended when the instance rests again."""

from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.resources.compute.lifecycle.move_service import begin_move
from roost.resources.maintenance import queries
from roost.resources.maintenance.queries import Maintenance


async def go_on(context: Context, row: Maintenance, facts: InstanceFacts) -> None:
    """Begin what is due, or see how it has ended; nothing works on the instance.

    Raises MoveError and ApiError when no host can have it.
    """
    if row.status == "started":
        arrived = facts.host != row.host
        await queries.set_status(context.db, row.id, "completed" if arrived else "canceled")
    elif facts.status == "running":
        await begin_move(context, facts.id, None, live=True)
        await queries.begin_live(context.db, row.id, facts.host)
    else:
        await queries.set_status(context.db, row.id, "completed")
