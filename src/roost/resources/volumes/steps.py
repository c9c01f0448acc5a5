"""The steps of jobs on volumes, and their undos."""

from dataclasses import replace

from roost.core.planes import Engines
from roost.jobs.run import Run
from roost.jobs.turns import awaited
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.configs import queries as slots
from roost.resources.volumes import effects, queries, state_queries
from roost.resources.volumes.args import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    ResizeArgs,
    VolumeArgs,
)
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine, VolumeSpec
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


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
        return replace(waits, write=writing(state_queries.set_made, facts.id))
    if run.args.compute_id is not None and facts.compute_id == run.args.compute_id:
        await _plug(run, facts)
    return next_step()


async def copy(run: Run[CloneArgs]) -> Verdict:
    """Make a volume with the data of another one."""
    facts, source = await _facts(run), await queries.find(run.store, run.args.source_id)
    if source is None or not source.made:
        raise Fatal("The volume that was to be cloned is gone.")
    engine, spec = _engine(run, facts), facts.spec
    await engine.copy(source.id, replace(spec, size=min(spec.size, source.size)), run.progress)
    if spec.size > source.size:  # It was to grow, and did not.
        await engine.resize(spec)
    return next_step()


async def unmake(run: Run[VolumeArgs]) -> Verdict:
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
        await state_queries.set_size(db, facts.id, run.args.size)
        await state_queries.set_status(db, facts.id, "resizing", run.clock.now())

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
    return next_step(writing(state_queries.set_size, facts.id, state.size))


async def remove(run: Run[VolumeArgs]) -> Verdict:
    """Remove the volume with its data, and then its row."""
    facts = await _facts(run)
    if facts.compute_id is not None:
        raise Fatal("The volume was not detached.")
    await _engine(run, facts).delete(facts.id)
    return next_step(writing(effects.forget, facts.id))


async def keep(run: Run[VolumeArgs]) -> Verdict:
    """The volume is shown again, as large as it is, unless its data are gone already."""
    facts = await _facts(run)
    state = await _engine(run, facts).inspect(facts.id)

    async def write(db: Queries) -> None:
        if state is None:
            await effects.forget(db, facts.id)
        elif facts.made:
            await state_queries.set_size(db, facts.id, state.size)

    return next_step(write)


async def _facts(run: Run[VolumeArgs]) -> VolumeFacts:
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is None:
        raise Fatal("The volume is gone.")
    return facts


def _engine(run: Run[VolumeArgs], facts: VolumeFacts) -> VolumeEngine:
    return run.get(Engines).holding(VOLUME_PLANE, facts)


async def _plug(run: Run[VolumeArgs], facts: VolumeFacts) -> None:
    """Give a volume to its instance, unless that runs with a config that leaves it out."""
    compute_id = facts.compute_id
    if compute_id is not None and await slots.boots_with(run.store, compute_id, facts.id):
        await _engine(run, facts).plug(facts.id, facts.label, compute_id)
