"""Long-running work on backups, as tables of steps.

kind                         the instance    done                     failed
compute_snapshot             as before       the backup successful    the backup failed
backups_cancel               as before       no backups               enabled, with those left
backups_restore              restoring       offline, or as before    as before; offline when it
                                             beside other disks       was powered off
compute_create_from_backup   provisioning    offline, then booted     offline, without disks

A restore that replaces disks makes the new ones first: until they are whole nothing is lost.
"""

from roost.core import instance_queries
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.turns import in_turn
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.steps import (
    SWITCH,
    BackupArgs,
    CopyArgs,
    CreateFromBackupArgs,
    RestoreArgs,
    begin,
    clear,
    configure,
    copy,
    cut_off,
    discard,
    keep,
    keep_rest,
    leave,
    power_off,
    prune,
    remove_all,
    save,
    switch,
    undo_copy,
)
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.configs import copy_queries
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.jobs import becomes, settle
from roost.resources.compute.locks import InstanceArgs, on_instance
from roost.store import Queries

_RETRY = Retry(attempts=3)
"""What an engine refuses it seldom does later."""

_COPY_SECONDS = 3600


async def _fail(db: Queries, job: Job, args: BackupArgs) -> None:
    await queries.set_failed(db, args.backup_id, job.finished or job.created)


async def _disable(db: Queries, job: Job, args: InstanceArgs) -> None:
    await queries.set_enabled(db, args.compute_id, enabled=False)
    await charge(db, args.compute_id, job.finished or job.created)


async def _enable(db: Queries, job: Job, args: InstanceArgs) -> None:
    await queries.set_enabled(db, args.compute_id, enabled=True)
    await charge(db, args.compute_id, job.finished or job.created)


async def _restored(db: Queries, job: Job, args: RestoreArgs) -> None:
    status = "offline" if args.overwrite else args.former
    await instance_queries.set_status(db, args.compute_id, status, job.finished or job.created)


async def _drop(db: Queries, job: Job, args: CopyArgs) -> None:
    await disks.delete_all(db, args.disks.values())


async def _not_restored(db: Queries, job: Job, args: RestoreArgs) -> None:
    """As before, unless the new disks have taken their place."""
    if SWITCH in job.results:
        await _restored(db, job, args)
        return
    instance = await instance_queries.lock_any(db, args.compute_id)
    await _drop(db, job, args)
    if instance is not None and instance.status == "restoring":
        await instance_queries.set_status(db, instance.id, args.former, job.finished or job.created)


async def _not_created(db: Queries, job: Job, args: CreateFromBackupArgs) -> None:
    """Without disks, as a boot would make them empty, and without configs that name none."""
    await _drop(db, job, args)
    await copy_queries.delete_all(db, args.compute_id)
    await instance_queries.set_status(db, args.compute_id, "offline", job.finished or job.created)


SNAPSHOT = JobKind(
    "compute_snapshot",
    BackupArgs,
    resource=on_instance,
    steps=(
        Step("begin", begin),
        Step("save", save, undo=discard, timeout=_COPY_SECONDS),
        Step("keep", keep),
        Step("prune", prune, undo=keep_rest),
    ),
    retry=_RETRY,
    on_failed=_fail,
)

CANCEL = JobKind(
    "backups_cancel",
    InstanceArgs,
    resource=on_instance,
    steps=(Step("remove", in_turn(remove_all), undo=keep_rest, timeout=600),),
    retry=_RETRY,
    on_enqueued=_disable,
    on_failed=_enable,
)

RESTORE = JobKind(
    "backups_restore",
    RestoreArgs,
    resource=on_instance,
    steps=(
        Step("copy", copy, undo=undo_copy, timeout=_COPY_SECONDS),
        Step("power_off", power_off, undo=cut_off, timeout=180),
        Step(SWITCH, switch),
        Step("clear", clear, undo=leave, timeout=120),
    ),
    retry=_RETRY,
    on_enqueued=becomes("restoring"),
    on_done=_restored,
    on_failed=_not_restored,
)

CREATE: JobKind[CreateFromBackupArgs] = JobKind(
    "compute_create_from_backup",
    CreateFromBackupArgs,
    resource=on_instance,
    event="compute_create",
    steps=(
        Step("copy", copy, undo=undo_copy, timeout=_COPY_SECONDS),
        Step("configure", configure),
        Step("settle", settle),
    ),
    retry=_RETRY,
    on_failed=_not_created,
)

KINDS = (SNAPSHOT, CANCEL, RESTORE, CREATE)
