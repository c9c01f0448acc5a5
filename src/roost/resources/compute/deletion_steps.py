"""Steps of the deletion of an instance."""

import structlog
from pydantic import BaseModel

from roost.core import instance_queries
from roost.core.addresses.queries import release
from roost.core.engine import EngineError
from roost.core.neighbours import Neighbours
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.compute import queries
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.leftover_jobs import call_off
from roost.resources.compute.locks import InstanceArgs, engine_of, facts_of
from roost.resources.compute.neighbours import InstanceImages
from roost.resources.compute.steps import go_off
from roost.store import Queries

_log = structlog.get_logger(__name__)


class Kept(BaseModel):
    """The disk that is kept as an image, and that image's number."""

    disk_id: int
    number: int


class DeleteArgs(InstanceArgs):
    kept: Kept | None = None


async def set_aside(run: Run[DeleteArgs]) -> Verdict:
    """Save the disk that is kept, while it is there. An instance goes even if that fails."""
    facts, kept, images = await facts_of(run), run.args.kept, run.get(InstanceImages)
    if kept is None:
        return next_step()
    try:
        disk = await disks.find(run.store, facts.id, kept.disk_id)
        if disk is not None and disk.made:
            await engine_of(run, facts).stop(facts.id, 0)
            await images.set_aside(run.tools.services, facts, disk.spec, kept.number)
            return next_step()
    except EngineError as error:
        _log.warning("disk_not_kept", compute=facts.id, disk=kept.disk_id, reason=str(error))
    return next_step(writing(images.forget, kept.number))


async def take_back(run: Run[DeleteArgs]) -> Verdict:
    """Keep no image of an instance that stays, powered off."""
    facts, kept, images = await facts_of(run), run.args.kept, run.get(InstanceImages)
    await engine_of(run, facts).stop(facts.id, 0)
    if kept is not None:
        await images.discard(run.tools.services, facts, kept.number)

    async def write(db: Queries) -> None:
        await go_off(db, run)
        if kept is not None:
            await images.forget(db, kept.number)

    return next_step(write)


async def remove(run: Run[InstanceArgs]) -> Verdict:
    """Remove everything of the guest from its engine, its backups too, and from a host that it was
    to go to."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    await engine.delete(facts.id)
    await run.get(Neighbours).settle(run.store, run.tools.services, facts.id)
    for backup_id in await queries.backup_ids(run.store, facts.id):
        await engine.backups.delete(backup_id)

    async def write(db: Queries) -> None:
        await call_off(db, run.tools.services, facts.id)
        await disks.set_lost(db, facts.id)

    return next_step(write)


async def keep(run: Run[InstanceArgs]) -> Verdict:
    """Leave what a deletion has not removed, powered off."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    await engine.stop(facts.id, 0)
    guest = await engine.inspect(facts.id)
    kept = [] if guest is None else [disk.id for disk in guest.disks]
    saved = {state.id for state in await engine.backups.list()}
    gone = [each for each in await queries.backup_ids(run.store, facts.id) if each not in saved]

    async def write(db: Queries) -> None:
        await call_off(db, run.tools.services, facts.id)
        await disks.set_lost(db, facts.id, kept)
        await queries.delete_backups(db, gone)
        await go_off(db, run)

    return next_step(write)


async def forget(run: Run[DeleteArgs]) -> Verdict:
    """Let go of neighbours and addresses, and drop the row."""
    compute_id, now = run.args.compute_id, run.clock.now()
    facts, kept = await facts_of(run), run.args.kept

    async def write(db: Queries) -> None:
        await instance_queries.lock_any(db, compute_id)
        await run.get(Neighbours).left(db, run.tools.services, compute_id)
        await release(db, compute_id, now)
        if kept is not None:
            await run.get(InstanceImages).finish(db, run.tools.services, facts, kept.number)
        await queries.delete(db, compute_id)
        await charge(db, compute_id, now)

    return next_step(write)
