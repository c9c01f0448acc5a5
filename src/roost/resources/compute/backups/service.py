"""Changes of backups: their rules, rows, events and jobs."""

from collections.abc import Sequence
from datetime import datetime

from roost.core import instance_queries
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.planes import Engines
from roost.core.turns import FIRST, Turn
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.compute.backups import jobs, queries, records, steps
from roost.resources.compute.backups.bodies import RestoreBackup, UpdateSchedule
from roost.resources.compute.backups.queries import BackupFacts, NewBackup
from roost.resources.compute.backups.records import DISKS, BackupType, SavedDisk
from roost.resources.compute.backups.steps import BackupArgs, CreateFromBackupArgs, RestoreArgs
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.service import check_space
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import CreateArgs, InstanceArgs, check_idle
from roost.resources.compute.queries import NewInstance
from roost.settings import MAIN_HOST
from roost.store import Queries


async def enable(context: Context, instance: InstanceFacts) -> None:
    """Nothing happens when they are enabled."""
    region = context.get(Catalog).find_region(instance.region)
    if region is None or "Backups" not in region.capabilities:
        raise invalid("The region does not offer backups")
    if await queries.enable(context.db, instance.id):
        await charge(context.db, instance.id, context.clock.now())
        await log.notify(context, "backups_enable", COMPUTE.of(instance))


async def set_schedule(context: Context, instance: InstanceFacts, body: UpdateSchedule) -> bool:
    """Whether it is another one; 400 for a time that is chosen before backups are enabled."""
    chosen = body.model_dump(exclude_none=True)
    if chosen and not await queries.is_enabled(context.db, instance.id):
        reason = "Backups are not enabled"
        raise invalid_fields([Problem(reason, f"backups.schedule.{key}") for key in chosen])
    now = context.clock.now()
    return await queries.set_schedule(context.db, instance.id, body.day, body.window, now)


async def cancel(context: Context, instance: InstanceFacts, turn: Turn) -> None:
    """All backups go, also those that are being made."""
    if not await queries.is_enabled(context.db, instance.id):
        raise invalid("Backups are not enabled.")
    args = InstanceArgs(compute_id=instance.id, queued=turn.queued, after=turn.after)
    await log.start(context, jobs.CANCEL, args, COMPUTE.of(instance))


async def take_snapshot(context: Context, instance: InstanceFacts, turn: Turn, label: str) -> int:
    """The backup's id."""
    if not await queries.is_enabled(context.db, instance.id):
        raise invalid("Backups are not enabled.")
    if not turn.queued and not await steps.saveable(context.db, instance.id):
        raise invalid(steps.NO_DISKS)
    engine = context.get(Engines).holding(INSTANCE_PLANE, instance).name
    return await begin(context, instance, engine, "snapshot", label, turn)


async def begin(
    by: Context | log.Starter,
    instance: InstanceFacts,
    engine: str,
    kind: BackupType,
    label: str | None = None,
    turn: Turn = FIRST,
) -> int:
    """A new backup's row and job; returns its id."""
    configs, held = await steps.content(by.db, instance.id)
    new = NewBackup(
        compute_id=instance.id,
        type=kind,
        label=label,
        region=instance.region,
        engine=engine,
        configs=configs,
        disks=held,
    )
    now = log.Starter.of(by).queue.clock.now()
    backup_id = await queries.insert(by.db, new, now)
    args = BackupArgs(
        compute_id=instance.id, backup_id=backup_id, queued=turn.queued, after=turn.after
    )
    await log.start(by, jobs.SNAPSHOT, args, COMPUTE.of(instance))
    return backup_id


async def restore(context: Context, compute_id: int, backup_id: int, body: RestoreBackup) -> None:
    """Its disks and configs come to an instance, beside or in place of those that are there."""
    target = await _lock_both(context, compute_id, body.compute_id)
    backup = await find_usable(context, backup_id)
    if backup.region != target.region:
        raise invalid("Backup and Compute must be in the same region.", "compute_id")
    if await host_of_backup(context, backup_id) != target.host:
        raise invalid("Backup and Compute must be on the same host.", "compute_id")
    held = records.DISKS.validate_json(backup.disks)
    size = sum(disk.size for disk in held)
    if not body.overwrite:
        await check_space(context, target, size, field=None)
    elif size > target.disk:
        raise invalid(f"The backup needs {size} MB of disk, but the plan has {target.disk} MB")
    args = RestoreArgs(
        compute_id=target.id,
        backup_id=backup.id,
        disks=await place_disks(context.db, held, target.id, context.clock.now()),
        overwrite=body.overwrite,
        former=target.status,
    )
    await log.start(context, jobs.RESTORE, args, COMPUTE.of(target))


async def _lock_both(context: Context, source_id: int, target_id: int) -> InstanceFacts:
    """The target, with the backup's own instance, both idle and held in the order of their ids.

    Raises 400 when one is gone.
    """
    found = dict[int, InstanceFacts]()
    for compute_id in sorted({target_id, source_id}):
        instance = await instance_queries.lock(context.db, context.account_id, compute_id)
        if instance is None:
            raise invalid("compute_id is not valid", "compute_id")
        found[compute_id] = instance
    for instance in found.values():
        await check_idle(context, instance)
    return found[target_id]


async def find_usable(context: Context, backup_id: int) -> BackupFacts:
    """A successful backup of the account; else 400."""
    backup = (await queries.find_all(context.db, context.account_id, [backup_id])).get(backup_id)
    if backup is None:
        raise invalid("backup_id is not valid", "backup_id")
    if backup.status != "successful":
        raise invalid("The backup is not successful", "backup_id")
    return backup


async def place_disks(
    db: Queries, held: Sequence[SavedDisk], compute_id: int, now: datetime
) -> dict[int, int]:
    """Rows for the disks of a backup; the new disks' ids by those that it holds."""
    places = dict[int, int]()
    for disk in held:
        new = await disks.insert(db, disk.for_instance(compute_id), now)
        places[disk.id] = new.id
    return places


async def host_of_backup(context: Context, backup_id: int) -> str:
    """Where its copies are: with those of its instance, while that exists. 400 for no backup."""
    backup = await find_usable(context, backup_id)
    instance = await instance_queries.find(context.db, backup.compute_id)
    return MAIN_HOST if instance is None else instance.host


async def place_in_new(
    context: Context, backup_id: int, new: NewInstance, args: CreateArgs
) -> CreateFromBackupArgs:
    """What the job needs that makes a new instance from a backup (spec B compute create backup)."""
    backup = await find_usable(context, backup_id)
    held = DISKS.validate_json(backup.disks)
    size = sum(disk.size for disk in held)
    if size > new["disk"]:
        raise invalid(f"The backup needs {size} MB of disk, the plan has {new['disk']}", "type")
    return CreateFromBackupArgs(
        **args.model_dump(),
        backup_id=backup.id,
        disks=await place_disks(context.db, held, new["id"], new["now"]),
    )
