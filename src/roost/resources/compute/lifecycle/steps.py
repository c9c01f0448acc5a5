"""Steps of jobs on whole instances, and what takes them back."""

from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.compute import making
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import NoDisksError
from roost.resources.compute.lifecycle import queries
from roost.resources.compute.lifecycle.args import RebuildArgs, RescueArgs, ResizeArgs
from roost.resources.compute.lifecycle.plans import Specs
from roost.resources.compute.specification import specify_rescue
from roost.resources.compute.steps import IMAGE_POLL, engine_of, facts_of, start
from roost.store import Queries


async def clear(run: Run[RebuildArgs]) -> Verdict:
    """Remove the disks and configs that there were, once all is there for the new ones."""
    facts = await facts_of(run)
    new = [d for d in await disks.of_instance(run.store, facts.id) if d.id not in run.args.disks]
    if making.awaits_image(run.tools.services, facts.region, new):
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
    try:
        await engine_of(run, facts).start(spec)
    except NoDisksError as error:
        raise Fatal(str(error)) from None
    return next_step()


async def start_again(run: Run[ResizeArgs]) -> Verdict:
    """Power a guest on that ran before."""
    return await start(run) if run.args.booted else next_step()


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
