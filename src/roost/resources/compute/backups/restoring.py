"""Which backups can be restored where, and the disks that an instance gets from one."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from roost.core.access import require_all
from roost.core.context import Context
from roost.errors import invalid
from roost.resources.compute.args import CreateArgs
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.args import CreateFromBackupArgs
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.backups.saved import DISKS, SavedDisk
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import NewInstance
from roost.store import Queries


class _Backups:
    """How a new instance names the backup that it is made of."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, BackupFacts]:
        """403 without write access to the instance, also when there is no such backup."""
        found = await queries.find_all(context.db, context.account_id, ids)
        computes = [found[each].compute_id if each in found else 0 for each in ids]
        await require_all(context, COMPUTE.name, computes, "read_write")
        return found


BACKUP = _Backups()


async def find_usable(context: Context, backup_id: int) -> BackupFacts:
    """A successful backup of the account; else 400."""
    backup = (await queries.find_all(context.db, context.account_id, [backup_id])).get(backup_id)
    if backup is None:
        raise invalid("backup_id is not valid", "backup_id")
    if backup.status != "successful":
        raise invalid("The backup is not successful", "backup_id")
    return backup


async def place(
    db: Queries, held: Sequence[SavedDisk], compute_id: int, now: datetime
) -> dict[int, int]:
    """Rows for the disks of a backup; the new disks' ids by those that it holds."""
    places = dict[int, int]()
    for disk in held:
        new = await disks.insert(db, disk.for_instance(compute_id), now)
        places[disk.id] = new.id
    return places


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
        disks=await place(context.db, held, new["id"], new["now"]),
    )
