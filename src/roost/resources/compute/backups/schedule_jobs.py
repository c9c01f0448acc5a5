"""Automatic backups: each day in the window that was chosen (spec B compute backups)."""

import structlog

from roost.core import instance_queries
from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.backups import queries, rules, service
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import resource_of

_log = structlog.get_logger(__name__)


class DueArgs(JobArgs):
    """Every instance with backups."""


async def begin_due(run: Run[DueArgs]) -> Verdict:
    """Begin the backups of the window that is open; a busy instance gets its turn later in it."""
    window, number, opened = rules.window_at(run.clock.now())
    for compute_id in await queries.due(run.store, window, number, opened):
        try:
            await _begin(run, compute_id)
        except EngineError as error:
            _log.warning("backup_not_begun", compute=compute_id, reason=str(error))
    return next_step()


async def _begin(run: Run[DueArgs], compute_id: int) -> None:
    queue, neighbours = run.get(JobQueue), run.get(Neighbours)
    async with run.store.transaction() as db:
        instance = await instance_queries.lock_any(db, compute_id)
        if instance is None or instance.status not in ("running", "offline"):
            return
        busy = await queue.busy(db, resource_of(compute_id))
        if not busy and not await neighbours.busy(db, queue, compute_id):
            engine = run.get(Engines).holding(INSTANCE_PLANE, instance).name
            by = log.Starter(queue, db, instance.account_id)
            await service.begin(by, instance, engine, "auto")


DUE = JobKind(
    "backups_due",
    DueArgs,
    steps=(Step("begin", begin_due),),
    retry=Retry(attempts=2),
    deadline=600,
)

EVERY_TEN_MINUTES = Schedule("backups_due", "*/10 * * * *", DUE, DueArgs())
