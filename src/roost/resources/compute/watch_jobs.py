"""The power watch: a guest that went off by itself is booted again, or shown as offline.

Engines tell of guests as they go off, and then that one is looked at. Every minute, and when a
worker starts, all are, as nobody may have been there to be told.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from roost.core import instance_queries
from roost.core.engine import EngineError
from roost.core.fsck import Installation
from roost.core.instance_queries import InstanceStatus
from roost.core.planes import Engines
from roost.core.reconcile import ChangedError
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.compute import queries
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceState
from roost.resources.compute.fsck import DriftKind, Instances, power_differs
from roost.resources.compute.locks import InstanceArgs, resource_of
from roost.store import Queries

_BUSY_POLL = 0.5
_BUSY_LIMIT = timedelta(minutes=1)
"""After that the watch of all instances takes over."""
_GOING_OFF: tuple[InstanceStatus, ...] = ("shutting_down", "offline", "deleting")

_log = structlog.get_logger(__name__)


class WatchArgs(JobArgs):
    """Every instance of every region."""


async def look(run: Run[WatchArgs]) -> Verdict:
    """Set right every instance whose guest's power is not what its status says."""
    installation = Installation(run.store, run.tools.services)
    for region, engine in run.get(Engines).by_region(INSTANCE_PLANE).items():
        powers = _Powers(installation, region, engine, served=True)
        try:
            async for compute_id in powers.suspects():
                await powers.set_right(compute_id)
        except EngineError as error:
            _log.warning("compute_watch_failed", region=region, reason=str(error))
    return next_step()


@dataclass(frozen=True, slots=True)
class _Powers(Instances):
    """Which guests are on, and nothing else of them."""

    async def page(
        self, held: Mapping[int, InstanceState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        found = await queries.statuses(store, self.region, self.host, after or 0, limit)
        return {key: power_differs(status, held.get(key)) for key, status in found.items()}

    async def set_right(self, compute_id: int) -> None:
        """Not while a job works on a volume of the instance: it would miss a boot."""
        with suppress(ChangedError):
            case = await self.examine(compute_id)
            if case is not None and _is_due(case.drift.kind, case.seen):
                await self.mend(case)


def _is_due(kind: DriftKind, guest: InstanceState | None) -> bool:
    """A guest that runs although its instance is on another host by now is one of two."""
    runs = guest is not None and guest.power == "running"
    return kind == "power" or (kind == "abroad" and runs)


async def look_at_one(run: Run[InstanceArgs]) -> Verdict:
    """Look at one instance, once no job works on it."""
    compute_id = run.args.compute_id
    row = await instance_queries.find(run.store, compute_id)
    if row is None:
        return next_step()
    if await run.get(JobQueue).busy(run.store, resource_of(compute_id)):
        late = run.clock.now() - run.job.created > _BUSY_LIMIT
        return next_step() if late else again(_BUSY_POLL)
    engine = run.get(Engines).on_host(INSTANCE_PLANE, row)
    installation = Installation(run.store, run.tools.services)
    await _Powers(installation, row.region, engine, served=True).set_right(compute_id)
    return next_step()


async def went_off(db: Queries, queue: JobQueue, compute_id: int) -> None:
    """A guest's engine has told that it is off: have a look, unless it was to go off."""
    row, args = await instance_queries.find(db, compute_id), InstanceArgs(compute_id=compute_id)
    if row is None or row.status in _GOING_OFF or await queue.busy(db, _on_power(args)):
        return
    await queue.enqueue(db, CHECK, args, account_id=row.account_id)


def _on_power(args: InstanceArgs) -> str:
    """Not the instance, as the check gives way to jobs on that."""
    return f"power:{args.compute_id}"


WATCH = JobKind(
    "compute_watch",
    WatchArgs,
    steps=(Step("look", look, timeout=300),),
    retry=Retry(attempts=2),
    deadline=300,
)

CHECK = JobKind(
    "compute_power_check",
    InstanceArgs,
    resource=_on_power,
    steps=(Step("look", look_at_one),),
    retry=Retry(attempts=2),
)

KINDS = (WATCH, CHECK)

EVERY_MINUTE = Schedule("compute_watch", "* * * * *", WATCH, WatchArgs(), per_host=True)
