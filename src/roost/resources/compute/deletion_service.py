"""Deleting an instance."""

from roost.core.billing.ledger import end
from roost.core.context import Context
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute import jobs, queries
from roost.resources.compute.billing_queries import CHARGED, CHARGED_BACKUPS
from roost.resources.compute.jobs import start_power
from roost.resources.compute.locks import BUSY, lock, resource_of


async def delete(context: Context, compute_id: int) -> None:
    """A job that works on it is stopped. Raises 404, and 400 while a copy of it is made."""
    facts = await lock(context, compute_id)
    if facts.status == "deleting":
        return
    if facts.status in ("cloning", "restoring"):
        raise invalid(BUSY)
    reason = "The instance was deleted."
    await context.get(JobQueue).preempt(context.db, resource_of(facts.id), reason)
    await queries.set_status(context.db, facts.id, "deleting", context.clock.now())
    await start_power(context, jobs.DELETE, facts)


async def foresee_end(context: Context, compute_id: int) -> None:
    """In the ledger, what the job writes there when the instance is gone."""
    for billable in (CHARGED, CHARGED_BACKUPS):
        await end(context.db, billable, compute_id, context.clock.now())
