"""What becomes of rows when jobs on managed databases are enqueued or end."""

from roost.jobs.kinds import Effect
from roost.jobs.model import Job
from roost.resources.databases import backup_queries, state_queries
from roost.resources.databases.args import (
    DatabaseArgs,
    DatabaseBackupArgs,
    RestoreDatabaseArgs,
    UpdateArgs,
)
from roost.resources.databases.records import DatabaseStatus
from roost.store import Queries


def becomes(status: DatabaseStatus) -> Effect[DatabaseArgs]:
    """The status from now on."""

    async def effect(db: Queries, job: Job, args: DatabaseArgs) -> None:
        now = job.finished or job.created
        await state_queries.set_status(db, args.database_id, status, now)

    return effect


is_active = becomes("active")


async def settles(db: Queries, job: Job, args: DatabaseArgs) -> None:
    """As before a change that failed; the watch looks after what could not be taken back."""
    status: DatabaseStatus = "active" if job.undo_error is None else "degraded"
    await becomes(status)(db, job, args)


async def is_not_updated(db: Queries, job: Job, args: UpdateArgs) -> None:
    """The row is as before, whatever became of the engine."""
    if args.former_allow_list is not None:
        await state_queries.set_allow_list(db, args.database_id, list(args.former_allow_list))
    if (plan := args.former_plan) is not None:
        await state_queries.set_plan(
            db, args.database_id, plan.type, plan.vcpus, plan.memory, plan.disk
        )
    await settles(db, job, args)


async def is_not_made(db: Queries, job: Job, args: DatabaseArgs) -> None:
    """Nothing half-made stays; the account deletes the row."""
    await state_queries.set_unmade(db, args.database_id)
    await becomes("failed")(db, job, args)


async def vanishes(db: Queries, job: Job, args: DatabaseArgs) -> None:
    await state_queries.delete(db, args.database_id)


async def reappears(db: Queries, job: Job, args: DatabaseArgs) -> None:
    await state_queries.undelete(db, args.database_id, job.finished or job.created)


async def has_new_password(db: Queries, job: Job, args: DatabaseArgs) -> None:
    await state_queries.take_next_password(db, args.database_id)
    await is_active(db, job, args)


async def keeps_password(db: Queries, job: Job, args: DatabaseArgs) -> None:
    await state_queries.set_next_password(db, args.database_id, None)
    await settles(db, job, args)


async def is_backed_up(db: Queries, job: Job, args: DatabaseBackupArgs) -> None:
    await backup_queries.set_made(db, args.backup_id)
    await is_active(db, job, args)


async def is_not_backed_up(db: Queries, job: Job, args: DatabaseBackupArgs) -> None:
    await backup_queries.delete(db, args.backup_id)
    await is_active(db, job, args)


async def hide_backup(db: Queries, job: Job, args: DatabaseBackupArgs) -> None:
    await backup_queries.set_deleting(db, args.backup_id, True)


async def drop_backup(db: Queries, job: Job, args: DatabaseBackupArgs) -> None:
    await backup_queries.delete(db, args.backup_id)


async def show_backup(db: Queries, job: Job, args: DatabaseBackupArgs) -> None:
    await backup_queries.set_deleting(db, args.backup_id, False)


async def is_as_before(db: Queries, job: Job, args: RestoreDatabaseArgs) -> None:
    status = args.former if job.undo_error is None else "degraded"
    await becomes(status)(db, job, args)
