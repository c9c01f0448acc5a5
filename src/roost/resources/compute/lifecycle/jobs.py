"""Long-running work on whole instances, as tables of steps.

kind              while it runs         done                      failed
compute_rebuild   rebuilding            offline, then booted      offline, with the disks it has
compute_rescue    booting, rebooting    running                   offline
compute_resize    resizing              offline, booted if it ran as before, with the former plan
                                        (and offline until then)
compute_clone     cloning (both)        both as before            as before; a new target gone
"""

from functools import partial
from typing import Literal

from pydantic import Base64Bytes

from roost.core import instance_queries
from roost.core.addresses.queries import release
from roost.core.instance_queries import InstanceStatus
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.compute import queries as instances
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.jobs import IMAGE_POLL, awaits_image, part_of
from roost.resources.compute.jobs import becomes, settle
from roost.resources.compute.lifecycle import queries
from roost.resources.compute.lifecycle.rules import Specs
from roost.resources.compute.locks import CreateArgs, InstanceArgs, engine_of, facts_of, on_instance
from roost.resources.compute.steps import (
    GRACE,
    cut,
    make,
    power_on,
    specify_rescue,
    start_again,
    stop,
    undo_make,
)
from roost.store import Queries


class RebuildArgs(CreateArgs):
    """What the instance consisted of; `user_data` is sealed."""

    disks: list[int]
    configs: list[int]
    image: str | None
    user_data: Base64Bytes | None
    specs: Specs


class RescueArgs(InstanceArgs):
    slots: tuple[SlotFacts, ...]
    status: Literal["booting", "rebooting"]


class ResizeArgs(CreateArgs):
    """`booted`: whether it ran. Sizes of the disk that grows, if one does, in MB."""

    specs: Specs
    former: Specs
    disk_id: int | None = None
    disk_size: int = 0
    disk_former: int = 0


class CloneArgs(InstanceArgs):
    """`compute_id` is the target; `disks`: its new disks by those of the source."""

    source_id: int
    new: bool
    disks: dict[int, int]
    configs: list[int]


async def clear(run: Run[RebuildArgs]) -> Verdict:
    """Remove the disks and configs that there were, once all is there for the new ones."""
    facts = await facts_of(run)
    new = [d for d in await disks.of_instance(run.store, facts.id) if d.id not in run.args.disks]
    if awaits_image(run.tools.services, facts.region, new):
        return again(IMAGE_POLL)
    for disk_id in run.args.disks:
        await engine_of(run, facts).disks.delete(facts.id, disk_id)

    async def write(db: Queries) -> None:
        await disks.delete_all(db, run.args.disks)
        await queries.delete_configs(db, run.args.configs)

    return next_step(write)


async def keep_rest(run: Run[RebuildArgs]) -> Verdict:
    """Forget the former disks that are gone; the others stay."""
    facts = await facts_of(run)
    guest = await engine_of(run, facts).inspect(facts.id)
    held = set() if guest is None else {disk.id for disk in guest.disks}
    former = [d for d in await disks.of_instance(run.store, facts.id) if d.id in run.args.disks]
    gone = [disk.id for disk in former if disk.made and disk.id not in held]
    return next_step(writing(disks.delete_all, gone))


async def start_rescue(run: Run[RescueArgs]) -> Verdict:
    """Power the guest on with the rescue system."""
    facts = await facts_of(run)
    spec = await specify_rescue(run.store, run.tools.services, facts, run.args.slots)
    return await power_on(run, facts, spec)


async def grow(run: Run[ResizeArgs]) -> Verdict:
    """Bring the disk that grows with the plan to its new size."""
    return await _resize_disk(run, run.args.disk_size)


async def shrink_back(run: Run[ResizeArgs]) -> Verdict:
    """Only a disk that did grow, as an engine may refuse to touch it."""
    disk_id = run.args.disk_id
    if disk_id is None:
        return next_step()
    facts = await facts_of(run)
    state = await engine_of(run, facts).disks.inspect(facts.id, disk_id)
    if state is None or state.size == run.args.disk_former:
        return next_step(writing(disks.set_size, disk_id, run.args.disk_former))
    return await _resize_disk(run, run.args.disk_former)


async def _resize_disk(run: Run[ResizeArgs], size: int) -> Verdict:
    disk_id = run.args.disk_id
    if disk_id is None:
        return next_step()
    facts = await facts_of(run)
    disk = await disks.find(run.store, facts.id, disk_id)
    if disk is None:
        raise Fatal("The disk that was to grow is gone.")
    await engine_of(run, facts).disks.resize(disk.of_size(size))
    return next_step(writing(disks.set_size, disk_id, size))


async def change_plan(run: Run[ResizeArgs]) -> Verdict:
    """The instance has what its new plan gives it."""
    return _set_specs(run, run.args.specs)


async def change_back(run: Run[ResizeArgs]) -> Verdict:
    return _set_specs(run, run.args.former)


def _set_specs(run: Run[ResizeArgs], specs: Specs) -> Verdict:
    return next_step(writing(queries.set_specs, run.args.compute_id, specs, run.clock.now()))


async def copy(run: Run[CloneArgs]) -> Verdict:
    """Make the target's disks with what those of the source hold, each as of one moment."""
    facts, places = await facts_of(run), run.args.disks
    owned = {d.id: d for d in await disks.of_instance(run.store, run.args.source_id)}
    new = {d.id: d for d in await disks.of_instance(run.store, facts.id)}
    for number, (source_id, disk_id) in enumerate(sorted(places.items())):
        if source_id not in owned:
            raise Fatal("A disk that was to be copied is gone.")
        part = part_of(run.progress, number, len(places))
        await engine_of(run, facts).disks.copy(owned[source_id].spec, new[disk_id].spec, part)
    setups = {disk_id: new[disk_id].setup for disk_id in places.values()}
    return next_step(writing(disks.set_made, setups, run.clock.now()))


async def undo_copy(run: Run[CloneArgs]) -> Verdict:
    """Remove the new disks, whole or begun, and with a new target all that there is of it."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    if run.args.new:
        await engine.delete(facts.id)
        return next_step()
    for disk_id in run.args.disks.values():
        await engine.disks.delete(facts.id, disk_id)
    return next_step()


async def restore_rows(db: Queries, job: Job, args: RebuildArgs) -> None:
    """With any of its former disks an instance is what it was; else it is what it was to become.

    The new disks are then made when it is booted.
    """
    compute_id, now = args.compute_id, job.finished or job.created
    if await instance_queries.lock_any(db, compute_id) is None:
        return
    owned = [disk.id for disk in await disks.of_instance(db, compute_id)]
    if any(disk_id in args.disks for disk_id in owned):
        await _forget_new(db, args, owned)
        await queries.set_specs(db, compute_id, args.specs, now)
        await queries.set_image(db, compute_id, args.image)
        await queries.set_user_data(db, compute_id, args.user_data)
    else:
        await queries.delete_configs(db, args.configs)
    await disks.settle(db, compute_id)
    await instance_queries.set_status(db, compute_id, "offline", now)


async def _forget_new(db: Queries, args: RebuildArgs, owned: list[int]) -> None:
    await disks.delete_all(db, set(owned) - set(args.disks))
    found = {config.id for config in await configs.names(db, args.compute_id)}
    await queries.delete_configs(db, found - set(args.configs))


async def abandon_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    """Nothing of the clone stays."""
    await queries.lock_both(db, args.source_id, args.compute_id)
    now = job.finished or job.created
    await queries.end_clone(db, args.source_id, args.compute_id, now)
    if args.new:
        await release(db, args.compute_id, now)
        await instances.delete(db, args.compute_id)
        await charge(db, args.compute_id, now)
    else:
        await disks.delete_all(db, args.disks.values())
        await queries.delete_configs(db, args.configs)


_RETRY = Retry(attempts=3)
"""What an engine refuses it seldom does later."""

_COPY_SECONDS = 3600


async def _begin_rescue(db: Queries, job: Job, args: RescueArgs) -> None:
    await instances.begin_boot(db, args.compute_id, args.status, None, job.created)
    await queries.set_rescued(db, args.compute_id)


async def _not_resized(db: Queries, job: Job, args: ResizeArgs) -> None:
    status: InstanceStatus = "running" if args.booted else "offline"
    await instance_queries.set_status(db, args.compute_id, status, job.finished or job.created)


async def _begin_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    former = await instance_queries.find(db, args.compute_id)
    assert former is not None
    status: InstanceStatus = "offline" if args.new else former.status
    await queries.begin_clone(db, args.source_id, args.compute_id, status, job.created)


async def _end_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    await queries.lock_both(db, args.source_id, args.compute_id)
    now = job.finished or job.created
    await queries.end_clone(db, args.source_id, args.compute_id, now)


REBUILD = JobKind(
    "compute_rebuild",
    RebuildArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("clear", clear, undo=keep_rest, timeout=120),
        Step("make", make, undo=undo_make, timeout=900),
        Step("settle", settle),
    ),
    retry=_RETRY,
    on_enqueued=becomes("rebuilding"),
    on_failed=restore_rows,
)

RESCUE = JobKind(
    "compute_rescue",
    RescueArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("start", start_rescue, undo=cut, timeout=120),
    ),
    retry=_RETRY,
    on_enqueued=_begin_rescue,
    on_done=becomes("running"),
    on_failed=becomes("offline"),
)

RESIZE = JobKind(
    "compute_resize",
    ResizeArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=start_again, timeout=2 * GRACE),
        Step("grow", grow, undo=shrink_back, timeout=900),
        Step("change_plan", change_plan, undo=change_back),
        Step("settle", partial(settle, shown="offline")),
    ),
    retry=_RETRY,
    on_enqueued=becomes("resizing"),
    on_failed=_not_resized,
)

CLONE = JobKind(
    "compute_clone",
    CloneArgs,
    resource=on_instance,  # The target, so that several clones are made at the same time.
    steps=(Step("copy", copy, undo=undo_copy, timeout=_COPY_SECONDS),),
    retry=_RETRY,
    on_enqueued=_begin_clone,
    on_done=_end_clone,
    on_failed=abandon_clone,
)

KINDS = (REBUILD, RESCUE, RESIZE, CLONE)
