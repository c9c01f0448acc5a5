"""Steps of jobs on backups, and what takes them back."""

from roost.core import instance_queries
from roost.core.instance_queries import InstanceStatus
from roost.jobs.run import Run
from roost.jobs.turns import awaited
from roost.jobs.verdicts import Fatal, Verdict, Write, next_step, writing
from roost.resources.compute import queries as instances
from roost.resources.compute.backups import queries, rules
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.backups.records import DISKS, dump_disks
from roost.resources.compute.configs import copy_queries
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.jobs import part_of
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.locks import CreateArgs, InstanceArgs, engine_of, facts_of
from roost.resources.compute.steps import GRACE, go_off
from roost.store import Queries


class BackupArgs(InstanceArgs):
    """Which backup of the instance."""

    backup_id: int


class CopyArgs(BackupArgs):
    """`disks`: the instance's new disks by those that the backup holds."""

    disks: dict[int, int]


class RestoreArgs(CopyArgs):
    """`former` is the instance's status when it was asked for."""

    overwrite: bool
    former: InstanceStatus


class CreateFromBackupArgs(CreateArgs, CopyArgs):
    """A new instance with what a backup of another one holds."""


NO_DISKS = "The Compute has no disks to back up."


async def saveable(db: Queries, compute_id: int) -> list[DiskFacts]:
    """The disks that the engine holds."""
    return [disk for disk in await disks.of_instance(db, compute_id) if disk.made]


async def content(db: Queries, compute_id: int) -> tuple[str, str]:
    """JSON of an instance's configs and of its disks as they are now."""
    configs = copy_queries.CONFIGS.dump_json(await copy_queries.read(db, compute_id)).decode()
    return configs, dump_disks(await saveable(db, compute_id))


SWITCH = "switch"
"""The step after which a restore is not taken back."""


async def _backup(run: Run[BackupArgs]) -> BackupFacts:
    backup = await queries.find(run.store, run.args.backup_id)
    if backup is None:
        raise Fatal("The backup is gone.")
    return backup


async def begin(run: Run[BackupArgs]) -> Verdict:
    """Show that the backup is being made, of what there is when its turn has come."""
    waits = await awaited(run)
    if waits is not None:
        return waits
    if run.args.queued and not await saveable(run.store, run.args.compute_id):
        raise Fatal(NO_DISKS)

    async def write(db: Queries) -> None:
        if run.args.queued:
            configs, held = await content(db, run.args.compute_id)
            await queries.set_content(db, run.args.backup_id, configs, held)
        await queries.set_status(db, run.args.backup_id, "running", run.clock.now())

    return next_step(write)


async def save(run: Run[BackupArgs]) -> Verdict:
    """Copy the disks as of one moment."""
    facts, backup = await facts_of(run), await _backup(run)
    saved = DISKS.validate_json(backup.disks)
    specs = [DiskSpec(d.id, facts.id, d.size, d.filesystem, d.image) for d in saved]
    await engine_of(run, facts).backups.save(backup.id, specs, run.progress)
    return next_step(writing(queries.set_status, backup.id, "needsPostProcessing", run.clock.now()))


async def discard(run: Run[BackupArgs]) -> Verdict:
    """Remove what was saved, wholly or in part; a backup that became successful stays."""
    facts, backup = await facts_of(run), await _backup(run)
    if backup.status != "successful":
        await engine_of(run, facts).backups.delete(backup.id)
    return next_step()


async def keep(run: Run[BackupArgs]) -> Verdict:
    """The backup is whole; from now on nothing takes it back."""
    return next_step(writing(queries.set_success, run.args.backup_id, run.clock.now()))


async def prune(run: Run[BackupArgs]) -> Verdict:
    """Remove the backups in whose place this one comes."""
    facts, outdated = await facts_of(run), await _outdated(run, await _backup(run))
    for backup_id in outdated:
        await engine_of(run, facts).backups.delete(backup_id)
    return next_step(writing(instances.delete_backups, outdated))


async def _outdated(run: Run[BackupArgs], backup: BackupFacts) -> list[int]:
    """A snapshot takes the place of all others; automatic ones are kept for a while."""
    db, compute_id = run.store, backup.compute_id
    if backup.type == "snapshot":
        return await queries.finished_snapshots(db, compute_id, but=backup.id)
    whole, failed = await queries.finished_automatic(db, compute_id, but=backup.id)
    own = rules.Kept(backup.id, await queries.created(db, backup.id))
    day = await queries.week_day(db, compute_id)
    return failed + rules.outdated([*whole, own], day, compute_id, run.clock.now())


async def remove_all(run: Run[InstanceArgs]) -> Verdict:
    """Remove every backup of the instance."""
    facts = await facts_of(run)
    engine = engine_of(run, facts).backups
    for backup_id in await instances.backup_ids(run.store, facts.id):
        await engine.delete(backup_id)
    return next_step(writing(queries.forget, facts.id))


async def keep_rest(run: Run[InstanceArgs]) -> Verdict:
    """Forget the backups that are gone; the others stay."""
    return next_step(await _forget_gone(run))


async def _forget_gone(run: Run[InstanceArgs]) -> Write:
    facts = await facts_of(run)
    held = {state.id for state in await engine_of(run, facts).backups.list()}
    gone = [each for each in await instances.backup_ids(run.store, facts.id) if each not in held]
    return writing(instances.delete_backups, gone)


async def copy(run: Run[CopyArgs]) -> Verdict:
    """Make the new disks with what the backup holds."""
    facts, backup = await facts_of(run), await _backup(run)
    engine, places = engine_of(run, facts).backups, run.args.disks
    new = {d.id: d for d in await disks.of_instance(run.store, facts.id)}
    for number, (saved_id, disk_id) in enumerate(sorted(places.items())):
        part = part_of(run.progress, number, len(places))
        await engine.restore(backup.id, saved_id, new[disk_id].spec, part)
    setups = {each: new[each].setup for each in places.values()}
    return next_step(writing(disks.set_made, setups, run.clock.now()))


async def undo_copy(run: Run[CopyArgs]) -> Verdict:
    """Remove the new disks, whole or begun, unless the instance has switched to them."""
    if SWITCH in run.job.results:
        return next_step()
    facts = await facts_of(run)
    for disk_id in run.args.disks.values():
        await engine_of(run, facts).disks.delete(facts.id, disk_id)
    return next_step()


async def configure(run: Run[CopyArgs]) -> Verdict:
    """Write the configs that the backup remembers."""
    return next_step(writing(_configure, run, await _backup(run)))


async def _configure(db: Queries, run: Run[CopyArgs], backup: BackupFacts) -> None:
    """An instance that remembers no boot gets the config of the last one, else the first."""
    saved, compute_id = copy_queries.CONFIGS.validate_json(backup.configs), run.args.compute_id
    ids = await copy_queries.write(db, compute_id, saved, run.args.disks, run.clock.now())
    booted = [config_id for config_id, config in zip(ids, saved, strict=True) if config.booted]
    if ids:
        await queries.remember_boot(db, compute_id, (booted or ids)[0])


async def power_off(run: Run[RestoreArgs]) -> Verdict:
    """A guest whose disks are to be replaced goes off, now that the new ones are there."""
    if not run.args.overwrite:
        return next_step()
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, GRACE)
    return next_step(writing(go_off, run))


async def cut_off(run: Run[RestoreArgs]) -> Verdict:
    """A guest that was to lose its disks stays off."""
    if not run.args.overwrite:
        return next_step()
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, 0)

    async def write(db: Queries) -> None:
        await go_off(db, run)
        await instance_queries.set_status(db, facts.id, "offline", run.clock.now())

    return next_step(write)


async def switch(run: Run[RestoreArgs]) -> Verdict:
    """The instance has what the backup held; from now on nothing takes that back."""
    backup = await _backup(run)

    async def write(db: Queries) -> None:
        if run.args.overwrite:
            await copy_queries.delete_all(db, run.args.compute_id)
        await _configure(db, run, backup)

    return next_step(write, result={})


async def clear(run: Run[RestoreArgs]) -> Verdict:
    """Remove the disks whose place the backup's have taken."""
    if not run.args.overwrite:
        return next_step()
    facts = await facts_of(run)
    new = set(run.args.disks.values())
    old = [d.id for d in await disks.of_instance(run.store, facts.id) if d.id not in new]
    for disk_id in old:
        await engine_of(run, facts).disks.delete(facts.id, disk_id)
    return next_step(writing(disks.delete_all, old))


async def leave(run: Run[RestoreArgs]) -> Verdict:
    """Former disks that cannot be removed stay, beside the new ones."""
    facts = await facts_of(run)
    guest = await engine_of(run, facts).inspect(facts.id)
    held = set() if guest is None else {disk.id for disk in guest.disks}
    new = set(run.args.disks.values())
    found = {disk.id for disk in await disks.of_instance(run.store, facts.id)}
    return next_step(writing(disks.delete_all, found - new - held))
