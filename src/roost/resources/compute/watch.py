"""The power watch: a guest that went off by itself is booted again, or shown as offline."""

from datetime import timedelta

import structlog

from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute import queries
from roost.resources.compute.drift import compare
from roost.resources.compute.engine import EngineError, InstanceEngine, InstanceState
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.examine import examine
from roost.resources.compute.guest import InstanceEngines
from roost.resources.compute.jobs import BOOT, enqueue_power
from roost.resources.compute.queries import InstanceFacts
from roost.resources.events import log
from roost.resources.events import queries as events
from roost.store import Queries

_REBOOT = "lassie_reboot"
_TRIES, _PERIOD = 5, timedelta(minutes=15)
"""A guest that goes off again and again is left alone in the end."""

_log = structlog.get_logger(__name__)


class WatchArgs(JobArgs):
    """Every instance of every region."""


async def look(run: Run[WatchArgs]) -> Verdict:
    """Set right every instance whose guest's power is not what its status says."""
    for region, engine in run.get(InstanceEngines).by_region.items():
        try:
            await _look_at(run, region, engine)
        except EngineError as error:
            _log.warning("compute_watch_failed", region=region, reason=str(error))
    return next_step()


async def _look_at(run: Run[WatchArgs], region: str, engine: InstanceEngine) -> None:
    guests = await engine.list()
    rows = {row.id: row for row in await queries.in_region(run.store, region)}
    for guest in guests:
        drift = compare(rows.get(guest.id), guest)
        if drift is not None and drift.kind == "power":
            await _set_right(run, region, engine, guest.id)


async def _set_right(
    run: Run[WatchArgs], region: str, engine: InstanceEngine, compute_id: int
) -> None:
    queue = run.get(JobQueue)
    async with run.store.transaction() as db:
        case = await examine(db, queue, engine, region, compute_id)
        if case is not None and case.drift.kind == "power" and case.row and case.guest:
            await follow_power(db, queue, case.row, case.guest)


async def follow_power(
    db: Queries, queue: JobQueue, row: InstanceFacts, guest: InstanceState
) -> str:
    """Let an instance's status follow its guest, or have the watchdog boot it again.

    The caller holds the row, on which no job works. Returns what was done.
    """
    now, actor = queue.clock.now(), log.Actor(row.account_id, None)
    if guest.power == "running":
        await queries.set_status(db, row.id, "running", now)
        return "set its status to running"
    entity = COMPUTE.entity(row.id, row.label)
    since = now - _PERIOD
    tries = await events.count_since(db, row.account_id, entity, _REBOOT, since)
    if row.watchdog_enabled and tries < _TRIES:
        await enqueue_power(queue, db, BOOT, row, actor, _REBOOT)
        return "its watchdog boots it again"
    await queries.set_status(db, row.id, "offline", now)
    await log.notify(db, now, actor, "compute_shutdown", entity)
    return "set its status to offline"


WATCH = JobKind(
    "compute_watch", WatchArgs, steps=(Step("look", look),), retry=Retry(attempts=2), deadline=300
)

EVERY_MINUTE = Schedule("compute_watch", "* * * * *", WATCH, WatchArgs())
