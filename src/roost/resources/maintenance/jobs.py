"""Maintenance as jobs: each minute begins what is due, one job then does it to its instance.

type             instance meanwhile    event              done       failed
reboot           rebooting             host_reboot        running    offline
cold_migration   migrating             compute_migrate    running    offline

A live_migration is a move to another host of the region, which the next minute finds ended.

An instance that does not run then has nothing done to it. What else works on it comes first, and
from then on everything else waits or is refused, as the job holds the instance.
"""

import structlog

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceStatus
from roost.core.neighbours import Neighbours
from roost.errors import ApiError
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, done, next_step, writing
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.jobs import REBOOT
from roost.resources.compute.lifecycle.move_service import MoveError
from roost.resources.compute.locks import InstanceArgs, on_instance, resource_of
from roost.resources.maintenance import queries, service
from roost.resources.maintenance.queries import Maintenance
from roost.resources.maintenance.records import MaintenanceStatus, MaintenanceType
from roost.store import Queries

_log = structlog.get_logger(__name__)

_STATUSES: dict[MaintenanceType, InstanceStatus] = {
    "reboot": "rebooting",
    "cold_migration": "migrating",
}
_ACTIONS: dict[MaintenanceType, str] = {
    "reboot": "host_reboot",
    "cold_migration": "compute_migrate",
}


class MaintenanceArgs(InstanceArgs):
    maintenance_id: int
    type: MaintenanceType


async def _leave(run: Run[MaintenanceArgs]) -> Verdict:
    """Take a running instance out of service; one that does not run needs nothing done."""
    facts = await instance_queries.find(run.store, run.args.compute_id)
    if facts is None or facts.status != "running":
        return done()
    status = _STATUSES[run.args.type]
    return next_step(writing(instance_queries.set_status, facts.id, status, run.clock.now()))


async def _on_enqueued(db: Queries, job: Job, args: MaintenanceArgs) -> None:
    await queries.set_status(db, args.maintenance_id, "started")


async def _on_done(db: Queries, job: Job, args: MaintenanceArgs) -> None:
    await _end(db, job, args, "running", "completed")


async def _on_failed(db: Queries, job: Job, args: MaintenanceArgs) -> None:
    await _end(db, job, args, "offline", "canceled")


async def _end(
    db: Queries,
    job: Job,
    args: MaintenanceArgs,
    instance: InstanceStatus,
    maintenance: MaintenanceStatus,
) -> None:
    """The instance gets a status only if it was taken out of service."""
    facts = await instance_queries.lock_any(db, args.compute_id)
    if facts is not None and facts.status == _STATUSES[args.type]:
        await instance_queries.set_status(db, facts.id, instance, job.finished or job.created)
    await queries.set_status(db, args.maintenance_id, maintenance)


RUN = JobKind(
    "maintenance_run",
    MaintenanceArgs,
    resource=on_instance,
    steps=(Step("leave", _leave), *REBOOT.steps[1:]),
    on_enqueued=_on_enqueued,
    on_done=_on_done,
    on_failed=_on_failed,
)


async def begin_due(run: Run[JobArgs]) -> Verdict:
    """Enqueue what is due, each in a transaction of its own.

    One that fails does not keep the later ones waiting; it is tried again in a minute.
    """
    for row in await queries.due(run.store, run.clock.now()):
        try:
            async with run.store.transaction() as db:
                await _begin(
                    Context(caller=None, db=db, services=run.tools.services, clock=run.clock), row
                )
        except (MoveError, ApiError) as error:
            _log.warning("maintenance_canceled", maintenance=row.id, reason=str(error))
            await queries.set_status(run.store, row.id, "canceled")
        except Exception:
            _log.exception("maintenance_not_begun", maintenance=row.id)
    return next_step()


async def _begin(context: Context, seen: Maintenance) -> None:
    """While a job works on a volume of the instance its power stays as it is: in a minute again."""
    db, queue, neighbours = context.db, context.get(JobQueue), context.get(Neighbours)
    facts = await instance_queries.lock_any(db, seen.compute_id)
    row = await queries.lock(db, seen.id)
    if facts is None or row is None or facts.status == "deleting":
        return
    if await neighbours.busy(db, queue, facts.id):
        return
    busy = await queue.busy(db, resource_of(facts.id))
    if row.type == "live_migration":
        if not busy and row.status in ("pending", "started"):
            await service.go_on(context, row, facts)
        return
    # What has started without a job lost it to a deletion that failed, and begins again.
    if row.status == "pending" or (row.status == "started" and not busy):
        if facts.status == "running" or busy:
            await start_run(log.Starter(queue, db, row.account_id), row, facts)
        else:
            await queries.set_status(db, row.id, "completed")


async def start_run(
    by: log.Starter, row: Maintenance, facts: instance_queries.InstanceFacts
) -> None:
    """Have a job do it as soon as the instance is free."""
    args = MaintenanceArgs(compute_id=facts.id, maintenance_id=row.id, type=row.type)
    await log.start(by, RUN, args, COMPUTE.of(facts), action=_ACTIONS[row.type])


DUE = JobKind("maintenance_due", JobArgs, steps=(Step("begin", begin_due),), deadline=300)

EVERY_MINUTE = Schedule("maintenance_due", "* * * * *", DUE, JobArgs())
