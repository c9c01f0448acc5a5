"""Long-running work on compute instances, as tables of steps.

kind               while it runs    done       failed
compute_create     provisioning     offline    offline; then compute_boot when wanted
compute_boot       booting          running    offline
compute_shutdown   shutting_down    offline    running, as it is started again
compute_reboot     rebooting        running    offline
compute_delete     deleting         gone       offline
"""

from roost.jobs.kinds import Effect, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute import queries
from roost.resources.compute.args import CreateArgs, InstanceArgs
from roost.resources.compute.configs import choice
from roost.resources.compute.configs.entity import config_entity
from roost.resources.compute.configs.queries import ConfigName
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.entity import COMPUTE, resource_of
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus
from roost.resources.compute.steps import (
    GRACE,
    cut,
    facts_of,
    forget,
    keep,
    make,
    make_ready,
    remove,
    start,
    stop,
    unmake,
)
from roost.resources.events import log
from roost.store import Queries


async def settle(run: Run[CreateArgs]) -> Verdict:
    """The instance exists: boot it, when that is wanted, as a job of its own."""
    facts = await facts_of(run)
    queue = run.get(JobQueue)

    async def write(db: Queries) -> None:
        await queries.set_status(db, facts.id, "offline", run.clock.now())
        if run.args.booted:
            actor = log.Actor(facts.account_id, run.args.username)
            await enqueue_boot(queue, db, BOOT, facts, actor)

    return next_step(write)


def becomes(status: InstanceStatus) -> Effect[InstanceArgs]:
    async def effect(db: Queries, job: Job, args: InstanceArgs) -> None:
        await queries.set_status(db, args.compute_id, status, job.finished or job.created)

    return effect


def _boots(status: InstanceStatus) -> Effect[InstanceArgs]:
    async def effect(db: Queries, job: Job, args: InstanceArgs) -> None:
        await queries.begin_boot(db, args.compute_id, status, args.config_id, job.created)

    return effect


async def _undelete(db: Queries, job: Job, args: InstanceArgs) -> None:
    await queries.undelete(db, args.compute_id, job.finished or job.created)
    await disks.settle(db, args.compute_id)


CREATE = JobKind(
    "compute_create",
    CreateArgs,
    steps=(
        Step("make", make, undo=remove, timeout=900),
        Step("settle", settle),
    ),
    on_failed=becomes("offline"),
)

BOOT = JobKind(
    "compute_boot",
    InstanceArgs,
    steps=(
        Step("make", make_ready, undo=unmake, timeout=900),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=_boots("booting"),
    on_done=becomes("running"),
    on_failed=becomes("offline"),
)

SHUTDOWN = JobKind(
    "compute_shutdown",
    InstanceArgs,
    steps=(Step("stop", stop, undo=start, timeout=2 * GRACE),),
    on_enqueued=becomes("shutting_down"),
    on_done=becomes("offline"),
    on_failed=becomes("running"),
)

REBOOT = JobKind(
    "compute_reboot",
    InstanceArgs,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=_boots("rebooting"),
    on_done=becomes("running"),
    on_failed=becomes("offline"),
)

DELETE = JobKind(
    "compute_delete",
    InstanceArgs,
    steps=(Step("remove", remove, undo=keep, timeout=120), Step("forget", forget)),
    on_failed=_undelete,
)

KINDS = (CREATE, BOOT, SHUTDOWN, REBOOT, DELETE)


async def enqueue_boot(
    queue: JobQueue,
    db: Queries,
    kind: JobKind[InstanceArgs],
    facts: InstanceFacts,
    actor: log.Actor,
    config: ConfigName | None = None,
    action: str | None = None,
    message: str = "",
) -> None:
    """Enqueue BOOT or REBOOT; None: with the only config, else the last booted."""
    chosen = config or await choice.find_default(db, facts)
    await enqueue_power(queue, db, kind, facts, actor, action, chosen, message)


async def enqueue_power(
    queue: JobQueue,
    db: Queries,
    kind: JobKind[InstanceArgs],
    facts: InstanceFacts,
    actor: log.Actor,
    action: str | None = None,
    config: ConfigName | None = None,
    message: str = "",
) -> None:
    """Enqueue a job that changes an instance's power, with its event.

    `action` is the event's, when it is not the kind's name; `config` is what is to be booted;
    `message` is what the event says of the reason.
    """
    entity = COMPUTE.entity(facts.id, facts.label)
    second = None if config is None else config_entity(facts.id, config)
    now, config_id = queue.clock.now(), None if config is None else config.id
    event_id = await log.schedule(db, now, actor, action or kind.name, entity, second, message)
    await queue.enqueue(
        db,
        kind,
        InstanceArgs(compute_id=facts.id, username=actor.username, config_id=config_id),
        resource=resource_of(facts.id),
        account_id=actor.account_id,
        event_id=event_id,
    )
