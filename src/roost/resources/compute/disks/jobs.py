"""Long-running work on disks, as tables of steps.

kind             while it runs    done         failed
disk_create      not ready        ready        gone
disk_delete      deleting         gone         ready; not ready when nothing of it is left
disk_resize      not ready        ready        ready, of its former size
disk_duplicate   not ready        ready        gone; its source stays ready all the time
"""

from collections.abc import Sequence

from roost.core.catalog import Catalog
from roost.core.instance_queries import InstanceFacts
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.turns import awaited, in_turn
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.compute.disk_engine import Progress
from roost.resources.compute.disks import queries, rules
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.engine import InstanceEngine
from roost.resources.compute.locks import InstanceArgs, engine_of, facts_of, on_instance
from roost.secrets import Box
from roost.services import Services
from roost.store import Queries

IMAGE_POLL = 1.0
"""Seconds between two looks for an image that is being built."""

IN_USE = "The disk is in use: shut the Compute down first."


class DiskArgs(InstanceArgs):
    disk_id: int


class ResizeArgs(DiskArgs):
    """Sizes in MB."""

    size: int
    former: int


class CloneArgs(DiskArgs):
    """`disk_id` is the copy."""

    source_id: int


async def is_used(db: Queries, instance: InstanceFacts, disk_id: int) -> bool:
    """Whether the instance runs with the disk."""
    if instance.status != "running" or instance.config_id is None:
        return False
    return await queries.is_in_config(db, instance.config_id, disk_id)


async def _disk(run: Run[DiskArgs]) -> DiskFacts:
    disk = await queries.find(run.store, run.args.compute_id, run.args.disk_id)
    if disk is None:
        raise Fatal("The disk is gone.")
    return disk


async def make(run: Run[DiskArgs]) -> Verdict:
    """Make the disk, from its image or empty."""
    facts, disk = await facts_of(run), await _disk(run)
    if awaits_image(run.tools.services, facts.region, [disk]):
        return again(IMAGE_POLL)
    setups = await make_disks(run.tools.services, engine_of(run, facts), [disk])
    return next_step(writing(queries.set_made, setups, run.clock.now()))


async def copy(run: Run[CloneArgs]) -> Verdict:
    """Make the disk with the content of its source as of one moment."""
    facts, disk = await facts_of(run), await _disk(run)
    source = await queries.find(run.store, facts.id, run.args.source_id)
    if source is None or not source.made:
        raise Fatal("The disk that was to be copied is gone.")
    await engine_of(run, facts).disks.copy(source.spec, disk.spec, run.progress)
    return next_step(writing(queries.set_made, {disk.id: disk.setup}, run.clock.now()))


async def discard(run: Run[DiskArgs]) -> Verdict:
    """Remove what was made, wholly or in part."""
    facts = await facts_of(run)
    await engine_of(run, facts).disks.delete(facts.id, run.args.disk_id)
    return next_step()


async def remove(run: Run[DiskArgs]) -> Verdict:
    """Remove the disk and what it holds."""
    if run.args.queued and await is_used(run.store, await facts_of(run), run.args.disk_id):
        raise Fatal(IN_USE)
    return await discard(run)


async def inspect(run: Run[DiskArgs]) -> Verdict:
    """See whether anything is left of a disk that was to be deleted."""
    facts = await facts_of(run)
    state = await engine_of(run, facts).disks.inspect(facts.id, run.args.disk_id)
    return next_step(None if state else writing(queries.set_unmade, run.args.disk_id))


async def begin_resize(run: Run[ResizeArgs]) -> Verdict:
    """What was queued depends on what the disk and its neighbours have become meanwhile."""
    if not run.args.queued:
        return next_step()
    facts, disk, waits = await facts_of(run), await _disk(run), await awaited(run)
    if waits is not None:
        return waits
    if not disk.made:
        raise Fatal("The disk is not ready.")
    wanted, allocated = run.args.size - disk.size, await queries.allocated(run.store, facts.id)
    reason = rules.space_reason(facts.disk, allocated, wanted)
    if wanted > 0 and reason is not None:
        raise Fatal(reason)
    return next_step()


async def resize(run: Run[ResizeArgs]) -> Verdict:
    """Bring the disk, and its file system, to its new size."""
    return await _resize(run, run.args.size)


async def shrink_back(run: Run[ResizeArgs]) -> Verdict:
    return await _resize(run, run.args.former)


async def _resize(run: Run[ResizeArgs], size: int) -> Verdict:
    facts, disk = await facts_of(run), await _disk(run)
    await engine_of(run, facts).disks.resize(disk.of_size(size))
    return next_step(writing(queries.set_size, disk.id, size))


def awaits_image(services: Services, region: str, disks: Sequence[DiskFacts]) -> bool:
    """Whether the image of a disk is on its way to the region, but not there yet."""
    catalog = services.get(Catalog)
    return any(disk.image and catalog.awaits_image(region, disk.image) for disk in disks)


async def make_disks(
    services: Services, engine: InstanceEngine, disks: Sequence[DiskFacts]
) -> dict[int, bytes | None]:
    """Make disks; returns the setups that their rows are to have from now on, by disk.

    The plain password is forgotten in them.
    """
    box, setups = services.get(Box), dict[int, bytes | None]()
    for disk in disks:
        await engine.disks.make(disk.spec)
        setups[disk.id] = await _without_password(box, disk.setup)
    return setups


async def _without_password(box: Box, sealed: bytes | None) -> bytes | None:
    """A disk's setup with a hash in place of a plain password."""
    if sealed is None:
        return None
    return (await SealedSetup.unseal(box, sealed).hashed()).seal(box)


def part_of(progress: Progress, number: int, count: int) -> Progress:
    """The progress of one copy of several, as a part of the whole."""

    async def report(percent: int) -> None:
        await progress((100 * number + percent) // count)

    return report


_RETRY = Retry(attempts=3, base=0.25)
"""What an engine refuses it seldom does later."""


async def _begin_delete(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.set_status(db, args.disk_id, "deleting", job.created)


async def _begin_resize(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.set_status(db, args.disk_id, "not ready", job.created)


async def _forget(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.delete(db, args.disk_id)


async def _settle(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.settle(db, args.compute_id)


CREATE = JobKind(
    "disk_create",
    DiskArgs,
    resource=on_instance,
    steps=(Step("make", in_turn(make), undo=discard, timeout=900),),
    retry=_RETRY,
    on_failed=_forget,
)

DELETE = JobKind(
    "disk_delete",
    DiskArgs,
    resource=on_instance,
    steps=(Step("remove", in_turn(remove), undo=inspect),),
    retry=_RETRY,
    on_enqueued=_begin_delete,
    on_done=_forget,
    on_failed=_settle,
)

RESIZE = JobKind(
    "disk_resize",
    ResizeArgs,
    resource=on_instance,
    steps=(
        Step("begin", begin_resize),
        Step("resize", resize, undo=shrink_back, timeout=900),
    ),
    retry=_RETRY,
    on_enqueued=_begin_resize,
    on_done=_settle,
    on_failed=_settle,
)

DUPLICATE = JobKind(
    "disk_duplicate",
    CloneArgs,
    resource=on_instance,
    steps=(Step("copy", in_turn(copy), undo=discard, timeout=3600),),
    retry=_RETRY,
    on_failed=_forget,
)

KINDS = (CREATE, DELETE, RESIZE, DUPLICATE)
