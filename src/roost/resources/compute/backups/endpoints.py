"""What the API offers: backups of instances (reference: operations, Compute instances)."""

from roost.errors import not_found
from roost.resources.compute.backups import queries, service
from roost.resources.compute.backups.bodies import RestoreBackup, TakeSnapshot
from roost.resources.compute.backups.queries import BACKUPS
from roost.resources.compute.backups.records import BackupRow, BackupsRow
from roost.resources.compute.locks import check_exists, lock, lock_turn
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import DryRun, endpoint

_READ = ("computes:read_only",)
_WRITE = ("computes:read_write",)
_ALL = "/compute/instances/{computeId:int}/backups"
_ONE = f"{_ALL}/{{backupId:int}}"


@endpoint("GET", _ALL, scopes=_READ, grant=Read("compute"), returns=BackupsRow)
async def list_backups(call: Call) -> str:
    """List the backups of a compute instance.

    Those of the schedule and the snapshots, also those that are being made.
    """
    return await queries.all_of(call.db, await check_exists(call, call.number("computeId")))


@endpoint("GET", _ONE, scopes=_READ, grant=Read("compute"), returns=BackupRow)
async def view_backup(call: Call) -> bytes:
    """View a backup.

    Its `status` says how far it is.
    """
    return await _view(call, call.number("backupId"))


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Write("compute"),
    body=TakeSnapshot,
    of=list_backups,
    returns=BackupRow,
    events=("compute_snapshot",),
)
async def take_snapshot(call: Call, body: TakeSnapshot) -> bytes:
    """Take a snapshot of a compute instance.

    All disks are copied as of one moment, while the guest runs. When the copy is whole, it
    takes the place of the snapshot before it. Backups must be enabled.
    """
    instance, turn = await lock_turn(call, call.number("computeId"))
    return await _view(call, await service.take_snapshot(call, instance, turn, body.label))


@endpoint(
    "POST",
    f"{_ALL}/enable",
    scopes=_WRITE,
    grant=Write("compute"),
    events=("backups_enable",),
    dry_run=DryRun(),
)
async def enable_backups(call: Call) -> None:
    """Enable the backups of a compute instance.

    From now on one is made each day, at the hours of the schedule; it costs extra.
    """
    await service.enable(call, await lock(call, call.number("computeId")))


@endpoint(
    "POST",
    f"{_ALL}/cancel",
    scopes=_WRITE,
    grant=Write("compute"),
    events=("backups_cancel",),
    dry_run=DryRun(),
)
async def cancel_backups(call: Call) -> None:
    """Cancel the backups of a compute instance.

    All that were made are deleted, snapshots too.
    """
    await service.cancel(call, *await lock_turn(call, call.number("computeId")))


@endpoint(
    "POST",
    f"{_ONE}/restore",
    scopes=_WRITE,
    grant=Write("compute"),
    body=RestoreBackup,
    of=view_backup,
    events=("backups_restore",),
)
async def restore_backup(call: Call, body: RestoreBackup) -> None:
    """Restore a backup to a compute instance.

    The disks and configs of the backup are added to the instance, or with `overwrite` take the
    place of all that it has; it is powered off then and stays so.
    """
    backup_id = call.number("backupId")
    found = await queries.find(call.db, backup_id)
    own = found is not None and found.compute_id == call.number("computeId")
    if found is None or not own or found.account_id != call.account_id:
        raise not_found()
    await service.restore(call, found.compute_id, backup_id, body)


async def _view(call: Call, backup_id: int) -> bytes:
    return await call.record(backup_id, BACKUPS, call.account_id, call.number("computeId"))
