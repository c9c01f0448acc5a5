"""Steps of jobs on compute instances, and what takes them back."""

from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.addresses import allocation
from roost.resources.compute import making, queries
from roost.resources.compute.args import InstanceArgs
from roost.resources.compute.backups import queries as backups
from roost.resources.compute.configs import choice
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.queries import BootConfig
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine, NoDisksError
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.specification import specify
from roost.store import Queries

GRACE = 60.0
"""Seconds that a guest has to power itself off."""

IMAGE_POLL = 1.0
"""Seconds between two looks for an image that is being built."""


async def facts_of(run: Run[InstanceArgs]) -> InstanceFacts:
    """Raises Fatal when the instance is gone."""
    facts = await queries.find(run.store, run.args.compute_id)
    if facts is None:
        raise Fatal("The instance is gone.")
    return facts


def engine_of(run: Run[InstanceArgs], facts: InstanceFacts) -> InstanceEngine:
    return run.get(Engines).holding(INSTANCE_PLANE, facts)


async def make(run: Run[InstanceArgs]) -> Verdict:
    """Make the disks that are not made yet.

    Only those: what has been made and is gone must not be replaced by something empty.
    """
    setups = await _make(run)
    if setups is None:
        return again(IMAGE_POLL)
    return next_step(writing(disks.set_made, setups, run.clock.now()))


async def make_ready(run: Run[InstanceArgs]) -> Verdict:
    """The same, and let go of volumes that were attached for the last boot only."""
    setups = await _make(run)
    if setups is None:
        return again(IMAGE_POLL)

    async def write(db: Queries) -> None:
        await go_off(db, run)
        if setups:
            await disks.set_made(db, setups, run.clock.now())

    return next_step(write)


async def _make(run: Run[InstanceArgs]) -> dict[int, bytes | None] | None:
    """Setups by the disks that were made; None when an image is not there yet."""
    facts = await facts_of(run)
    unmade = [disk for disk in await disks.of_instance(run.store, facts.id) if not disk.made]
    if making.awaits_image(run.tools.services, facts.region, unmade):
        return None
    return await making.make(run.tools.services, engine_of(run, facts), unmade)


async def go_off(db: Queries, run: Run[InstanceArgs]) -> None:
    """What goes when a guest goes off."""
    await queries.lock_any(db, run.args.compute_id)
    await run.get(Neighbours).went_off(db, run.tools.services, run.args.compute_id)


async def remove(run: Run[InstanceArgs]) -> Verdict:
    """Remove everything of the guest from its engine, its backups too."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    await engine.delete(facts.id)
    for backup_id in await backups.ids_of(run.store, facts.id):
        await engine.backups.delete(backup_id)
    return next_step(writing(disks.set_lost, facts.id))


async def keep(run: Run[InstanceArgs]) -> Verdict:
    """Leave what a deletion has not removed, powered off."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    await engine.stop(facts.id, 0)
    guest = await engine.inspect(facts.id)
    kept = [] if guest is None else [disk.id for disk in guest.disks]
    saved = {state.id for state in await engine.backups.list()}
    gone = [each for each in await backups.ids_of(run.store, facts.id) if each not in saved]

    async def write(db: Queries) -> None:
        await disks.set_lost(db, facts.id, kept)
        await backups.delete(db, gone)
        await go_off(db, run)

    return next_step(write)


async def unmake(run: Run[InstanceArgs]) -> Verdict:
    """Remove what was only half made; disks that were made before stay."""
    facts = await facts_of(run)
    found = await disks.of_instance(run.store, facts.id)
    engine = engine_of(run, facts)
    if not any(disk.made for disk in found):
        await engine.delete(facts.id)
        return next_step()
    for disk in found:
        if not disk.made:
            await engine.disks.delete(facts.id, disk.id)
    return next_step()


async def start(run: Run[InstanceArgs]) -> Verdict:
    """Power the guest on."""
    facts = await facts_of(run)
    config = await _config(run, facts)
    spec = await specify(run.store, run.tools.services, facts, config)
    try:
        await engine_of(run, facts).start(spec)
    except NoDisksError as error:
        raise Fatal(str(error)) from None
    return next_step()


async def _config(run: Run[InstanceArgs], facts: InstanceFacts) -> BootConfig:
    """The one that was chosen; if that is gone by now, the only one that there is."""
    chosen = run.args.config_id or facts.config_id
    config = None if chosen is None else await configs.find_boot(run.store, chosen)
    if config is None:
        name = await choice.find_default(run.store, facts)
        config = None if name is None else await configs.find_boot(run.store, name.id)
    if config is None:
        raise Fatal("The instance has no configuration to boot with.")
    return config


async def stop(run: Run[InstanceArgs]) -> Verdict:
    """Ask the guest to power off, and pull the plug after a while."""
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, GRACE)
    return next_step(writing(go_off, run))


async def cut(run: Run[InstanceArgs]) -> Verdict:
    """Pull the plug."""
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, 0)
    return next_step()


async def forget(run: Run[InstanceArgs]) -> Verdict:
    """Let go of neighbours and addresses, and drop the row."""
    compute_id, now = run.args.compute_id, run.clock.now()

    async def write(db: Queries) -> None:
        await queries.lock_any(db, compute_id)
        await run.get(Neighbours).left(db, run.tools.services, compute_id)
        await allocation.release(db, compute_id, now)
        await queries.delete(db, compute_id)

    return next_step(write)
