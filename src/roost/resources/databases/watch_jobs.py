"""What the clock does with managed databases: backups, their end, and looking after servers."""

from datetime import datetime

import structlog

from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.planes import Engines
from roost.ids import new_suffix
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.databases import (
    backup_queries,
    backup_service,
    disk_jobs,
    jobs,
    queries,
    rules,
    state_queries,
)
from roost.resources.databases.bodies import Updates
from roost.resources.databases.engine import DatabaseState, all_engines
from roost.resources.databases.queries import DatabaseFacts, entity_of, resource_of
from roost.resources.databases.steps import DatabaseArgs, DatabaseBackupArgs, SaveArgs
from roost.store import Queries

_log = structlog.get_logger(__name__)
_BATCH = 500


class AllArgs(JobArgs):
    """All databases."""


async def begin_backups(run: Run[AllArgs]) -> Verdict:
    """One of each day; a database that is busy at midnight gets it later on."""
    midnight = run.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    due = await backup_queries.due(run.store, midnight, _BATCH)
    for database_id in due:
        await _begin_backup(run, database_id)
    return again(0) if len(due) == _BATCH else next_step()


async def _begin_backup(run: Run[AllArgs], database_id: int) -> None:
    queue, now = run.get(JobQueue), run.clock.now()
    async with run.store.transaction() as db:
        database = await queries.lock_any(db, database_id)
        if database is None or database.status != "active" or database.deleting:
            return
        label = rules.auto_label(now, new_suffix())
        backup_id = await backup_queries.insert(db, database.id, label, "auto", now)
        if backup_id is not None:
            by = log.Starter(queue, db, database.account_id)
            args = SaveArgs(database_id=database.id, backup_id=backup_id, replica=True)
            await log.start(by, jobs.SAVE, args, entity_of(database))


async def end_backups(run: Run[AllArgs]) -> Verdict:
    """Automatic ones are kept for 7 days."""
    queue, before = run.get(JobQueue), run.clock.now() - rules.AUTO_KEPT
    old = await backup_queries.expired(run.store, before, _BATCH)
    for backup in old:
        async with run.store.transaction() as db:
            database = await queries.lock_any(db, backup.database_id)
            if database is not None:
                by = log.Starter(queue, db, database.account_id)
                args = DatabaseBackupArgs(database_id=database.id, backup_id=backup.id)
                await log.start(by, jobs.DISCARD, args, entity_of(database))
    return again(0) if len(old) == _BATCH else next_step()


async def watch(run: Run[AllArgs]) -> Verdict:
    """Measure all databases; let those serve again that do not, and patch in the window."""
    for region, engine in all_engines(run.get(Engines)):
        try:
            states = await engine.list()
        except EngineError as error:
            _log.warning("databases_not_seen", region=region, reason=str(error))
            continue
        for state in states:
            await _look(run, state)
    return next_step()


async def _look(run: Run[AllArgs], state: DatabaseState) -> None:
    await state_queries.set_used(run.store, state.id, state.used + state.temporary)
    await state_queries.set_oldest_moment(run.store, state.id, state.oldest_moment)
    found = await queries.find(run.store, state.id)
    if found is None or not (_is_unwell(state, found) or state.outdated or _is_full(state, found)):
        return
    queue = run.get(JobQueue)
    async with run.store.transaction() as db:
        database = await queries.lock_any(db, state.id)
        if database is None or database.deleting or not database.made:
            return
        if await queue.busy(db, resource_of(database.id)):
            return
        if _is_unwell(state, database):
            await recover(db, queue, database)
        elif _is_full(state, database) and disk_jobs.serves(database):
            await disk_jobs.begin(db, queue, database)
        elif database.status == "active" and _is_open(database, run.clock.now()):
            by = log.Starter(queue, db, database.account_id)
            args = DatabaseArgs(database_id=database.id)
            await log.start(by, jobs.PATCH, args, entity_of(database))


def _is_unwell(state: DatabaseState, database: DatabaseFacts) -> bool:
    return not state.running or database.status == "degraded"


def _is_full(state: DatabaseState, database: DatabaseFacts) -> bool:
    """One that was so may have room again."""
    return database.disk_full or rules.is_full(state.used, database.disk)


def _is_open(database: DatabaseFacts, now: datetime) -> bool:
    return rules.is_open(Updates.model_validate_json(database.updates), now)


async def fails(db: Queries, queue: JobQueue, database_id: int) -> None:
    """An engine has told that it lost a server: a backup that is being made gives way, as others
    do not, which look after the servers themselves."""
    reason = "The database lost a server meanwhile."
    database = await backup_service.give_way(db, queue, database_id, reason)
    if database is not None:
        await recover(db, queue, database)


async def recover(db: Queries, queue: JobQueue, database: DatabaseFacts) -> None:
    """Let a job start it again. The account is told of the first try, not of each minute's."""
    args = DatabaseArgs(database_id=database.id)
    if database.status in ("active", "backing_up"):
        by = log.Starter(queue, db, database.account_id)
        await log.start(by, jobs.RECOVER, args, entity_of(database))
    elif database.status == "degraded":
        await queue.enqueue(db, jobs.RECOVER, args, account_id=database.account_id)


BACKUPS_DUE = JobKind(
    "database_backups_due",
    AllArgs,
    steps=(Step("begin", begin_backups), Step("end", end_backups)),
    retry=Retry(attempts=2),
)
WATCH = JobKind(
    "databases_watch",
    AllArgs,
    steps=(Step("watch", watch),),
    retry=Retry(attempts=2),
    deadline=120,
)

EVERY_TEN_MINUTES = Schedule("database_backups_due", "*/10 * * * *", BACKUPS_DUE, AllArgs())
"""From midnight on, so that the first tick of a day is at 00:00 UTC."""
EVERY_MINUTE = Schedule("databases_watch", "* * * * *", WATCH, AllArgs())
