"""The steps of work on volumes, and what jobs change at their beginning and end."""

from dataclasses import replace
from datetime import datetime

from roost.core import instance_queries
from roost.core.billing.ledger import record
from roost.core.planes import Engines
from roost.core.turns import QueuedArgs
from roost.jobs.kinds import JobArgs
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.turns import awaited
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.configs import device_queries as slots
from roost.resources.volumes import queries
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine, VolumeSpec
from roost.resources.volumes.locks import resource_of
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


class VolumeArgs(QueuedArgs):
    """Which volume."""

    volume_id: int


def on_volume(args: VolumeArgs) -> str:
    """The resource of jobs on a volume."""
    return resource_of(args.volume_id)


class CreateArgs(VolumeArgs):
    compute_id: int | None = None
    """The instance that gets the volume as soon as it is made."""


class AttachmentArgs(VolumeArgs):
    """To or from which instance."""

    compute_id: int


class CloneArgs(VolumeArgs):
    """The volume is a clone of this one."""

    source_id: int


class ResizeArgs(VolumeArgs):
    """GiB"""

    size: int


async def _set_size(db: Queries, volume_id: int, size: int, now: datetime) -> None:
    """GiB, which are charged for."""
    await queries.set_size(db, volume_id, size)
    await record(db, queries.CHARGED, volume_id, now)


async def _delete(db: Queries, volume_id: int, now: datetime) -> None:
    await queries.delete(db, volume_id)
    await record(db, queries.CHARGED, volume_id, now)


async def set_active(db: Queries, job: Job, args: VolumeArgs) -> None:
    """Again, after a change or a try of one."""
    await queries.set_status(db, args.volume_id, "active", job.finished or job.created)


async def set_made(db: Queries, job: Job, args: VolumeArgs) -> None:
    """The engine holds it, and it can be used."""
    now = job.finished or job.created
    await queries.set_status(db, args.volume_id, "active", now, made=True)


async def show_new_size(db: Queries, job: Job, args: ResizeArgs) -> None:
    """The new size is shown at once, the status when the volume's turn has come."""
    await _set_size(db, args.volume_id, args.size, job.created)
    if not args.queued:
        await queries.set_status(db, args.volume_id, "resizing", job.created)


async def drop_row(db: Queries, job: Job, args: VolumeArgs) -> None:
    """Nothing half-made stays."""
    await _delete(db, args.volume_id, job.finished or job.created)


async def undelete(db: Queries, job: Job, args: VolumeArgs) -> None:
    now = job.finished or job.created
    await queries.undelete(db, args.volume_id, now)
    await record(db, queries.CHARGED, args.volume_id, now)


async def set_detached(db: Queries, job: Job, args: AttachmentArgs) -> None:
    """The instance's row is locked before."""
    await instance_queries.lock_any(db, args.compute_id)
    now = job.finished or job.created
    await take_from_instance(db, args.volume_id, args.compute_id, now)


async def take_from_instance(db: Queries, volume_id: int, compute_id: int, now: datetime) -> None:
    """No config of the instance names the volume any more."""
    await slots.remove_volume(db, compute_id, volume_id)
    await queries.detach(db, volume_id, compute_id, now)


async def make(run: Run[CreateArgs]) -> Verdict:
    """Make an empty volume, and give it to its instance, if that still exists.

    Only once, as what is gone must not be replaced by something empty. Others may attach it before
    it is made; then it is for their job to plug it in.
    """
    facts = await _facts(run)
    if not facts.made:
        await _engine(run, facts).create(facts.spec)
    waits = await awaited(run)
    if waits is not None:
        return replace(waits, write=writing(queries.set_made, facts.id))
    if run.args.compute_id is not None and facts.compute_id == run.args.compute_id:
        await _plug(run, facts)
    return next_step()


async def copy(run: Run[CloneArgs]) -> Verdict:
    """Make a volume with the data of another one."""
    facts, source = await _facts(run), await queries.find(run.store, run.args.source_id)
    if source is None or not source.made:
        raise Fatal("The volume that was to be cloned is gone.")
    if source.host != facts.host:
        raise Fatal("The volume that was to be cloned is on another host.")
    engine, spec = _engine(run, facts), facts.spec
    await engine.copy(source.id, replace(spec, size=min(spec.size, source.size)), run.progress)
    if spec.size > source.size:  # It was to grow, and did not.
        await engine.resize(spec)
    return next_step()


async def undo_make(run: Run[VolumeArgs]) -> Verdict:
    """Remove what was made, wholly or in part."""
    facts = await _facts(run)
    engine = _engine(run, facts)
    if facts.compute_id is not None:
        await engine.unplug(facts.id, facts.compute_id)
    await engine.delete(facts.id)
    return next_step()


async def plug(run: Run[AttachmentArgs]) -> Verdict:
    """Give the volume to its instance."""
    facts = await _facts(run)
    if not facts.made or facts.compute_id != run.args.compute_id:
        raise Fatal("The volume was detached meanwhile, as the instance went off or was deleted.")
    instance = await instance_queries.find(run.store, run.args.compute_id)
    if instance is None or instance.host != facts.host:
        raise Fatal("The volume could not be brought to the host of the Compute.")
    await _plug(run, facts)
    return next_step()


async def unplug(run: Run[AttachmentArgs]) -> Verdict:
    """Take the volume from its instance, if both still exist and belong together."""
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is not None and facts.compute_id == run.args.compute_id:
        await _engine(run, facts).unplug(facts.id, facts.compute_id)
    return next_step()


async def plug_again(run: Run[AttachmentArgs]) -> Verdict:
    """What was not detached stays with the instance."""
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is not None and facts.compute_id == run.args.compute_id:
        await _plug(run, facts)
    return next_step()


async def begin_resize(run: Run[ResizeArgs]) -> Verdict:
    """Show what a job that was queued does, now that its turn has come."""
    if not run.args.queued:
        return next_step()
    facts, waits = await _facts(run), await awaited(run)

    async def write(db: Queries) -> None:
        await _set_size(db, facts.id, run.args.size, run.clock.now())
        await queries.set_status(db, facts.id, "resizing", run.clock.now())

    return waits or next_step(write)


async def grow(run: Run[ResizeArgs]) -> Verdict:
    """Make the volume larger; a running guest sees it at once."""
    facts = await _facts(run)
    await _engine(run, facts).resize(VolumeSpec(facts.id, run.args.size))
    return next_step()


async def keep_size(run: Run[ResizeArgs]) -> Verdict:
    """A volume never shrinks: it is shown with the size that it has now."""
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is None or not facts.made:
        return next_step()
    state = await _engine(run, facts).inspect(facts.id)
    if state is None:
        return next_step()
    return next_step(writing(_set_size, facts.id, state.size, run.clock.now()))


async def remove(run: Run[VolumeArgs]) -> Verdict:
    """Remove the volume with its data, and then its row."""
    facts = await _facts(run)
    if facts.compute_id is not None:
        raise Fatal("The volume was not detached.")
    await _engine(run, facts).delete(facts.id)
    return next_step(writing(_delete, facts.id, run.clock.now()))


async def keep(run: Run[VolumeArgs]) -> Verdict:
    """The volume is shown again, as large as it is, unless its data are gone already."""
    facts = await _facts(run)
    state = await _engine(run, facts).inspect(facts.id)

    async def write(db: Queries) -> None:
        if state is None:
            await _delete(db, facts.id, run.clock.now())
        elif facts.made:
            await _set_size(db, facts.id, state.size, run.clock.now())

    return next_step(write)


async def _facts(run: Run[VolumeArgs]) -> VolumeFacts:
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is None:
        raise Fatal("The volume is gone.")
    return facts


def _engine(run: Run[VolumeArgs], facts: VolumeFacts) -> VolumeEngine:
    return run.get(Engines).on_host(VOLUME_PLANE, facts)


async def _plug(run: Run[VolumeArgs], facts: VolumeFacts) -> None:
    """Give a volume to its instance, unless that runs with a config that leaves it out."""
    compute_id = facts.compute_id
    if compute_id is not None and await slots.boots_with(run.store, compute_id, facts.id):
        await _engine(run, facts).plug(facts.id, facts.label, compute_id)


class LeftArgs(JobArgs):
    """What a host still has of a volume that is on another one."""

    volume_id: int
    region: str
    host: str
    left: str = ""
    """The resource of what is left there of its instance."""


def on_left(args: LeftArgs) -> str:
    return args.left


async def clear(run: Run[LeftArgs]) -> Verdict:
    """Nothing happens where it is, or is on its way to, by now."""
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is not None and facts.host == run.args.host:
        return next_step()
    await run.get(Engines).of(VOLUME_PLANE, run.args.region).delete(run.args.volume_id)
    return next_step()
