"""What operators decide: to have maintenance at a time, or not to."""

from datetime import datetime

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.resources.compute.lifecycle.move_service import begin_move
from roost.resources.maintenance import queries
from roost.resources.maintenance.queries import Maintenance
from roost.resources.maintenance.records import MaintenanceType
from roost.store import Queries


class MaintenanceError(Exception):
    """What an operator asked for makes no sense."""


async def schedule(
    db: Queries, compute_id: int, type_: MaintenanceType, when: datetime, reason: str
) -> int:
    """The id of the new maintenance; a time that is past means within the next minute.

    Raises MaintenanceError.
    """
    instance = await instance_queries.lock_any(db, compute_id)
    if instance is None or instance.status == "deleting":
        raise MaintenanceError(f"there is no instance {compute_id}")
    return await queries.insert(db, compute_id, instance.account_id, type_, reason, when)


async def cancel(db: Queries, maintenance_id: int) -> None:
    """Raises MaintenanceError unless it is still to come."""
    row = await queries.lock(db, maintenance_id)
    if row is None:
        raise MaintenanceError(f"there is no maintenance {maintenance_id}")
    if row.status != "pending":
        raise MaintenanceError(f"maintenance {maintenance_id} is {row.status} already")
    await queries.set_status(db, maintenance_id, "canceled")


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
