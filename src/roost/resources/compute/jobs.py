"""Long-running work on compute instances, as tables of steps.

kind               while it runs    done       failed
compute_create     provisioning     offline    offline; then compute_boot when wanted
compute_boot       booting          running    offline
compute_shutdown   shutting_down    offline    running, as it is started again
compute_reboot     rebooting        running    offline
compute_delete     deleting         gone       offline
"""

from roost.jobs.kinds import Effect, JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step
from roost.resources.addresses import allocation
from roost.resources.catalog import Catalog
from roost.resources.compute import queries
from roost.resources.compute.engine import InstanceEngine, NoDisksError
from roost.resources.compute.entity import COMPUTE, resource_of
from roost.resources.compute.guest import InstanceEngines, SealedSetup, specify
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus
from roost.resources.events import log
from roost.secrets import Box
from roost.store import Queries
from roost.web.grant_queries import forget_entity

GRACE = 60.0
"""Seconds that a guest has to power itself off."""

_IMAGE_POLL = 1.0
"""Seconds between two looks for an image that is being built."""


class InstanceArgs(JobArgs):
    """Which instance, and who asked."""

    compute_id: int
    username: str | None = None


class CreateArgs(InstanceArgs):
    booted: bool = False


async def _facts(run: Run[InstanceArgs]) -> InstanceFacts:
    facts = await queries.find(run.store, run.args.compute_id)
    if facts is None:
        raise Fatal("The instance is gone.")
    return facts


def _engine(run: Run[InstanceArgs], facts: InstanceFacts) -> InstanceEngine:
    return run.get(InstanceEngines).holding(facts)


async def provision(run: Run[InstanceArgs]) -> Verdict:
    """Make the guest's disks and set-up; the plain password is forgotten afterwards.

    Only once: what has been made and is gone must not be replaced by something empty.
    """
    facts = await _facts(run)
    if facts.provisioned:
        return next_step()
    if _awaits_image(run, facts):
        return again(_IMAGE_POLL)
    box = run.get(Box)
    setup = await SealedSetup.unseal(box, facts.setup).hashed()
    await _engine(run, facts).create(await specify(run.store, run.get(Catalog), facts, setup))

    async def write(db: Queries) -> None:
        await queries.set_provisioned(db, facts.id, setup.seal(box))

    return next_step(write)


def _awaits_image(run: Run[InstanceArgs], facts: InstanceFacts) -> bool:
    return facts.image is not None and run.get(Catalog).awaits_image(facts.region, facts.image)


async def remove(run: Run[InstanceArgs]) -> Verdict:
    """Remove everything of the guest from its engine."""
    facts = await _facts(run)
    await _engine(run, facts).delete(facts.id)

    async def write(db: Queries) -> None:
        await queries.set_removed(db, facts.id)

    return next_step(write)


async def keep(run: Run[InstanceArgs]) -> Verdict:
    """Leave what a deletion has not removed, powered off."""
    facts = await _facts(run)
    engine = _engine(run, facts)
    await engine.stop(facts.id, 0)
    removed = await engine.inspect(facts.id) is None

    async def write(db: Queries) -> None:
        if removed:
            await queries.set_removed(db, facts.id)

    return next_step(write)


async def unmake(run: Run[InstanceArgs]) -> Verdict:
    """Remove a guest that was only half made; one that was made before keeps its disks."""
    facts = await _facts(run)
    if not facts.provisioned:
        await _engine(run, facts).delete(facts.id)
    return next_step()


async def start(run: Run[InstanceArgs]) -> Verdict:
    """Power the guest on."""
    facts = await _facts(run)
    setup = SealedSetup.unseal(run.get(Box), facts.setup)
    try:
        await _engine(run, facts).start(await specify(run.store, run.get(Catalog), facts, setup))
    except NoDisksError:
        raise Fatal("The instance's disks are gone.") from None
    return next_step()


async def stop(run: Run[InstanceArgs]) -> Verdict:
    """Ask the guest to power off, and pull the plug after a while."""
    facts = await _facts(run)
    await _engine(run, facts).stop(facts.id, GRACE)
    return next_step()


async def cut(run: Run[InstanceArgs]) -> Verdict:
    """Pull the plug."""
    facts = await _facts(run)
    await _engine(run, facts).stop(facts.id, 0)
    return next_step()


async def settle(run: Run[CreateArgs]) -> Verdict:
    """The instance exists: boot it, when that is wanted, as a job of its own."""
    facts = await _facts(run)
    queue = run.get(JobQueue)

    async def write(db: Queries) -> None:
        await queries.set_status(db, facts.id, "offline", run.clock.now())
        if run.args.booted:
            actor = log.Actor(facts.account_id, run.args.username)
            await enqueue_power(queue, db, BOOT, facts, actor)

    return next_step(write)


async def forget(run: Run[InstanceArgs]) -> Verdict:
    """Give back the addresses and drop the row."""

    async def write(db: Queries) -> None:
        await allocation.release(db, run.args.compute_id, run.clock.now())
        await forget_entity(db, COMPUTE.name, run.args.compute_id)
        await queries.delete(db, run.args.compute_id)

    return next_step(write)


def _becomes(status: InstanceStatus) -> Effect[InstanceArgs]:
    async def effect(db: Queries, job: Job, args: InstanceArgs) -> None:
        await queries.set_status(db, args.compute_id, status, job.finished or job.created)

    return effect


async def _undelete(db: Queries, job: Job, args: InstanceArgs) -> None:
    await queries.undelete(db, args.compute_id, job.finished or job.created)


CREATE = JobKind(
    "compute_create",
    CreateArgs,
    steps=(
        Step("provision", provision, undo=remove, timeout=900),
        Step("settle", settle),
    ),
    on_failed=_becomes("offline"),
)

BOOT = JobKind(
    "compute_boot",
    InstanceArgs,
    steps=(
        Step("provision", provision, undo=unmake, timeout=900),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=_becomes("booting"),
    on_done=_becomes("running"),
    on_failed=_becomes("offline"),
)

SHUTDOWN = JobKind(
    "compute_shutdown",
    InstanceArgs,
    steps=(Step("stop", stop, undo=start, timeout=2 * GRACE),),
    on_enqueued=_becomes("shutting_down"),
    on_done=_becomes("offline"),
    on_failed=_becomes("running"),
)

REBOOT = JobKind(
    "compute_reboot",
    InstanceArgs,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("start", start, undo=cut, timeout=120),
    ),
    on_enqueued=_becomes("rebooting"),
    on_done=_becomes("running"),
    on_failed=_becomes("offline"),
)

DELETE = JobKind(
    "compute_delete",
    InstanceArgs,
    steps=(Step("remove", remove, undo=keep, timeout=120), Step("forget", forget)),
    on_failed=_undelete,
)

KINDS = (CREATE, BOOT, SHUTDOWN, REBOOT, DELETE)


async def enqueue_power(
    queue: JobQueue,
    db: Queries,
    kind: JobKind[InstanceArgs],
    facts: InstanceFacts,
    actor: log.Actor,
    action: str | None = None,
) -> None:
    """Enqueue a job that changes an instance's power, with its event.

    `action` is the event's, when it is not the kind's name.
    """
    entity = COMPUTE.entity(facts.id, facts.label)
    now = queue.clock.now()
    event_id = await log.schedule(db, now, actor, action or kind.name, entity)
    await queue.enqueue(
        db,
        kind,
        InstanceArgs(compute_id=facts.id, username=actor.username),
        resource=resource_of(facts.id),
        account_id=actor.account_id,
        event_id=event_id,
    )
