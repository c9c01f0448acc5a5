"""Deleting an instance."""

from roost.core import instance_queries
from roost.core.billing.ledger import end
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.billing_queries import ALL_CHARGED
from roost.resources.compute.deletion_steps import Kept
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.jobs import start_delete
from roost.resources.compute.locks import BUSY, lock, resource_of
from roost.resources.compute.neighbours import InstanceImages


async def delete(context: Context, compute_id: int, *, keeps: bool) -> None:
    """A job that works on it is stopped. Raises 404, and 400 while a copy of it is made.

    `keeps`: whether its disk may be kept as an image.
    """
    facts = await lock(context, compute_id)
    if facts.status == "deleting":
        return
    if facts.status in ("cloning", "restoring"):
        raise invalid(BUSY)
    reason = "The instance was deleted."
    await context.get(JobQueue).preempt(context.db, resource_of(facts.id), reason)
    await context.get(InstanceImages).call_off(context, facts.id)
    await instance_queries.set_status(context.db, facts.id, "deleting", context.clock.now())
    await start_delete(context, facts, await _keep(context, facts) if keeps else None)


async def _keep(context: Context, facts: InstanceFacts) -> Kept | None:
    """Keep the first disk that is no swap space as an image."""
    held = await disks.of_instance(context.db, facts.id)
    disk = next((each for each in held if each.made and each.filesystem != "swap"), None)
    if disk is None:
        return None
    number = await context.get(InstanceImages).keep(context, facts, disk.spec, disk.label)
    return None if number is None else Kept(disk_id=disk.id, number=number)


async def foresee_end(context: Context, compute_id: int) -> None:
    """In the ledger, what the job writes there when the instance is gone."""
    for billable in ALL_CHARGED:
        await end(context.db, billable, compute_id, context.clock.now())
