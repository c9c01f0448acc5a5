"""Long-running work on compute instances, as tables of steps.

A job that was queued behind others shows what it does, or that there is nothing to do any more,
when its turn comes.

kind               while it runs    done       failed
compute_create     provisioning     offline    offline; then compute_boot when wanted
compute_boot       booting          running    offline
compute_shutdown   shutting_down    offline    running, as it is started again
compute_reboot     rebooting        running    offline; running when it had not begun
compute_delete     deleting         gone       offline
"""

from typing import Literal

import structlog

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.engine import EngineError, Host
from roost.core.events import log
from roost.core.hosts.queries import measure
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.planes import Engines
from roost.core.turns import BEGIN, FIRST, Turn, at_once, begun
from roost.jobs.kinds import Effect, JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Fatal, Verdict, done, next_step
from roost.resources.compute import queries
from roost.resources.compute.configs.queries import ConfigName, config_entity
from roost.resources.compute.configs.service import find_default_config
from roost.resources.compute.deletion_steps import (
    DeleteArgs,
    Kept,
    forget,
    keep,
    remove,
    set_aside,
    take_back,
)
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import (
    Begin,
    CreateArgs,
    InstanceArgs,
    begin,
    facts_of,
    jobs_on,
    on_instance,
    resource_of,
)
from roost.resources.compute.steps import (
    GRACE,
    cut,
    make,
    make_ready,
    start,
    stop,
    undo_make,
)
from roost.store import Queries

Shown = Literal["booting", "offline"]

NOT_RUNNING = "Compute is not running."

_MB = 1024**2

_log = structlog.get_logger(__name__)


async def settle(run: Run[CreateArgs], shown: Shown = "booting") -> Verdict:
    """The instance exists: boot it, when that is wanted, as a job of its own.

    A boot or shutdown that somebody has asked for meanwhile takes the place of that job.
    """
    facts = await facts_of(run)
    queue = run.get(JobQueue)

    async def write(db: Queries) -> None:
        await instance_queries.lock_any(db, facts.id)
        await instance_queries.set_status(db, facts.id, "offline", run.clock.now())
        waiting = await jobs_on(db, run.tools.services, facts.id)
        others = [job for job in waiting if job.id != run.job.id]
        if run.args.booted and not any(job.kind in (BOOT.name, SHUTDOWN.name) for job in others):
            by = log.Starter(queue, db, facts.account_id, run.args.username)
            turn = Turn.behind(others, resource_of(facts.id))
            await start_boot(by, BOOT, facts, turn=turn, shown=shown)

    return next_step(write)


def becomes(status: InstanceStatus) -> Effect[InstanceArgs]:
    async def effect(db: Queries, job: Job, args: InstanceArgs) -> None:
        await instance_queries.set_status(db, args.compute_id, status, job.finished or job.created)

    return effect


def _boots(status: InstanceStatus) -> Effect[InstanceArgs]:
    async def effect(db: Queries, job: Job, args: InstanceArgs) -> None:
        shown = args.shown if status == "booting" else status
        await queries.begin_boot(db, args.compute_id, shown, args.config_id, job.created)

    return effect


def _begins(status: InstanceStatus) -> Begin[InstanceArgs]:
    async def show(db: Queries, run: Run[InstanceArgs]) -> None:
        await instance_queries.set_status(db, run.args.compute_id, status, run.clock.now())

    return show


def _begins_boot(status: InstanceStatus) -> Begin[InstanceArgs]:
    async def show(db: Queries, run: Run[InstanceArgs]) -> None:
        args, shown = run.args, run.args.shown if status == "booting" else status
        await queries.begin_boot(db, args.compute_id, shown, args.config_id, run.clock.now())

    return show


def _unless_running(facts: InstanceFacts) -> Verdict | None:
    return done() if facts.status == "running" else None


def _unless_off(facts: InstanceFacts) -> Verdict | None:
    return None if facts.status == "running" else done()


def _if_running(facts: InstanceFacts) -> Verdict | None:
    if facts.status != "running":
        raise Fatal(NOT_RUNNING)
    return None


async def _not_rebooted(db: Queries, job: Job, args: InstanceArgs) -> None:
    """Until the first step has been done the guest runs as before."""
    await becomes("running" if job.step == BEGIN else "offline")(db, job, args)


async def _undelete(db: Queries, job: Job, args: InstanceArgs) -> None:
    await queries.undelete(db, args.compute_id, job.finished or job.created)
    await disks.settle(db, args.compute_id)


CREATE = JobKind(
    "compute_create",
    CreateArgs,
    resource=on_instance,
    steps=(
        Step("make", make, undo=remove, timeout=900),
        Step("settle", settle),
    ),
    on_failed=becomes("offline"),
)

BOOT = JobKind(
    "compute_boot",
    InstanceArgs,
    resource=on_instance,
    steps=(
        Step(BEGIN, begin(_unless_running, _begins_boot("booting"))),
        Step("make", make_ready, undo=undo_make, timeout=900),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=at_once(_boots("booting")),
    on_done=becomes("running"),
    on_failed=begun(becomes("offline")),
)

SHUTDOWN = JobKind(
    "compute_shutdown",
    InstanceArgs,
    resource=on_instance,
    steps=(
        Step(BEGIN, begin(_unless_off, _begins("shutting_down"))),
        Step("stop", stop, undo=start, timeout=2 * GRACE),
    ),
    on_enqueued=at_once(becomes("shutting_down")),
    on_done=becomes("offline"),
    on_failed=begun(becomes("running")),
)

REBOOT = JobKind(
    "compute_reboot",
    InstanceArgs,
    resource=on_instance,
    steps=(
        Step(BEGIN, begin(_if_running, _begins_boot("rebooting"))),
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=at_once(_boots("rebooting")),
    on_done=becomes("running"),
    on_failed=begun(_not_rebooted),
)

DELETE = JobKind(
    "compute_delete",
    DeleteArgs,
    resource=on_instance,
    steps=(
        Step("set_aside", set_aside, undo=take_back, timeout=120),
        Step("remove", remove, undo=keep, timeout=120),
        Step("forget", forget),
    ),
    on_failed=_undelete,
)


async def start_boot(
    by: Context | log.Starter,
    kind: JobKind[InstanceArgs],
    facts: InstanceFacts,
    turn: Turn = FIRST,
    shown: Shown = "booting",
    action: str | None = None,
    message: str = "",
) -> None:
    """Start BOOT or REBOOT with the only config, else the last booted."""
    config = await find_default_config(by.db, facts)
    await start_power(by, kind, facts, config, turn, shown, action, message)


async def start_power(
    by: Context | log.Starter,
    kind: JobKind[InstanceArgs],
    facts: InstanceFacts,
    config: ConfigName | None = None,
    turn: Turn = FIRST,
    shown: Shown = "booting",
    action: str | None = None,
    message: str = "",
) -> None:
    """Start a job that changes an instance's power.

    `config` is what is to be booted, `shown` the status meanwhile; `action` and `message` are the
    event's.
    """
    second = None if config is None else config_entity(facts.id, config)
    args = InstanceArgs(
        compute_id=facts.id,
        username=log.Starter.of(by).username,
        config_id=None if config is None else config.id,
        queued=turn.queued,
        after=turn.after,
        shown=shown,
    )
    await log.start(by, kind, args, COMPUTE.of(facts), second, action=action, message=message)


async def start_delete(
    by: Context | log.Starter, facts: InstanceFacts, kept: Kept | None = None
) -> None:
    username = log.Starter.of(by).username
    args = DeleteArgs(compute_id=facts.id, username=username, kept=kept)
    await log.start(by, DELETE, args, COMPUTE.of(facts))


class CapacityArgs(JobArgs):
    """Every region."""


async def measure_hosts(run: Run[CapacityArgs]) -> Verdict:
    """Keep what each engine says; of one that says nothing, what it said before."""
    for region, engine in run.get(Engines).by_region(INSTANCE_PLANE).items():
        try:
            host = await engine.host()
        except EngineError as error:
            _log.warning("compute_capacity_failed", region=region, reason=str(error))
            continue
        figures = None if host is None else _megabytes(host)
        cpus, now = None if host is None else host.cpus, run.get(JobQueue).clock.now()
        await measure(run.store, region, figures, now, run.get(Engines).host, cpus)
    return next_step()


def _megabytes(host: Host) -> tuple[int, int, int]:
    """Memory, storage and what is free of that, where guests are."""
    storage = host.folders[0]
    return host.memory // _MB, storage.size // _MB, storage.free // _MB


CAPACITY = JobKind(
    "compute_capacity",
    CapacityArgs,
    steps=(Step("look", measure_hosts),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("compute_capacity", "* * * * *", CAPACITY, CapacityArgs(), per_host=True)

KINDS = (CREATE, BOOT, SHUTDOWN, REBOOT, DELETE, CAPACITY)
