"""Instances that rest while their account is suspended, as a table of steps.

kind             while it runs    done                  failed
compute_suspend  shutting_down    billing_suspension    as before, and tried again
"""

from datetime import datetime

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceStatus
from roost.core.suspensions import SUSPENDED, Suspension
from roost.errors import invalid
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.resources.compute import suspension_queries
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.jobs import BOOT, becomes, start_boot
from roost.resources.compute.locks import CreateArgs, check_idle, lock, on_instance
from roost.resources.compute.steps import GRACE, start_again, stop
from roost.store import Queries


class SuspendArgs(CreateArgs):
    """`booted`: whether it ran."""


async def _rests(db: Queries, job: Job, args: SuspendArgs) -> None:
    now = job.finished or job.created
    await suspension_queries.suspend(db, args.compute_id, _status(args), now)


async def _goes_on(db: Queries, job: Job, args: SuspendArgs) -> None:
    await instance_queries.set_status(
        db, args.compute_id, _status(args), job.finished or job.created
    )


def _status(args: SuspendArgs) -> InstanceStatus:
    return "running" if args.booted else "offline"


SUSPEND = JobKind(
    "compute_suspend",
    SuspendArgs,
    resource=on_instance,
    event="compute_shutdown",
    steps=(Step("stop", stop, undo=start_again, timeout=2 * GRACE),),
    retry=Retry(attempts=3),
    on_enqueued=becomes("shutting_down"),
    on_done=_rests,
    on_failed=_goes_on,
)


async def rest(context: Context, instance_id: str) -> None:
    facts = await lock(context, int(instance_id))
    await check_idle(context, facts)
    if facts.status not in ("running", "offline"):
        raise invalid("Compute busy.")
    booted = facts.status == "running"
    args = SuspendArgs(compute_id=facts.id, booted=booted)
    await log.start(context, SUSPEND, args, COMPUTE.of(facts), message=SUSPENDED)


async def resume(context: Context, instance_id: str) -> None:
    """What ran before is booted."""
    facts = await lock(context, int(instance_id))
    now: datetime = context.clock.now()
    if await suspension_queries.resume(context.db, facts.id, now) == "running":
        await start_boot(context, BOOT, facts, message="The account is no longer suspended.")


INSTANCES = Suspension(suspension_queries.RUNNING, suspension_queries.RESTING, rest, resume)
