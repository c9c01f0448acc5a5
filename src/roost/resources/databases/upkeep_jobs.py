"""What the clock does with backups that are there: it keeps what comes after them, and sees whether
they can be restored."""

import asyncio

import structlog

from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.databases import backup_queries, queries, state_queries
from roost.resources.databases.engine import DatabaseEngine, all_engines, holder_of
from roost.resources.databases.queries import resource_of
from roost.resources.databases.settings import Verification
from roost.secrets import Box
from roost.store import Queries

_log = structlog.get_logger(__name__)
_BATCH = 50
"""Verifications that wait for their turn."""
_PATIENCE = 60.0
"""Seconds for the logs of one database; what works on it meanwhile may take longer."""
_VERIFY_SECONDS = 6 * 3600.0
_ONE_AT_A_TIME = "database-verification"


class UpkeepArgs(JobArgs):
    """All databases."""


class VerifyArgs(JobArgs):
    """A backup."""

    database_id: int
    backup_id: int


def one_at_a_time(args: VerifyArgs) -> str:
    """All verifications are one resource: they are in nobody's way."""
    return _ONE_AT_A_TIME


async def keep_logs(run: Run[UpkeepArgs]) -> Verdict:
    """What databases have written is kept beside their backups; where a job works, later."""
    for region, engine in all_engines(run.get(Engines)):
        try:
            states = await engine.list()
        except EngineError as error:
            _log.warning("databases_not_seen", region=region, reason=str(error))
            continue
        for state in states:
            if state.whole:
                await _keep_logs(run, engine, state.id)
    return next_step()


async def _keep_logs(run: Run[UpkeepArgs], engine: DatabaseEngine, database_id: int) -> None:
    found = await queries.find(run.store, database_id)
    if found is None or await run.get(JobQueue).busy(run.store, resource_of(database_id)):
        return
    try:
        async with asyncio.timeout(_PATIENCE):
            await engine.archive(database_id, found.disk)
            state = await engine.inspect(database_id)
    except (EngineError, TimeoutError) as error:
        _log.warning("database_logs_not_kept", database=database_id, reason=str(error))
        return
    if state is not None:
        await state_queries.set_oldest_moment(run.store, database_id, state.oldest_moment)


async def begin_verifications(run: Run[UpkeepArgs]) -> Verdict:
    """Those that are due, when all that were due before have been done."""
    queue, every = run.get(JobQueue), run.get(Verification).every
    if every is None or await queue.busy(run.store, _ONE_AT_A_TIME):
        return next_step()
    for backup in await backup_queries.unverified(run.store, run.clock.now() - every, _BATCH):
        args = VerifyArgs(database_id=backup.database_id, backup_id=backup.id)
        await queue.enqueue(run.store, VERIFY, args)
    return next_step()


async def verify(run: Run[VerifyArgs]) -> Verdict:
    """Restore a backup beside the database, unless it has gone meanwhile."""
    database_id, backup_id = run.args.database_id, run.args.backup_id
    facts = await queries.find(run.store, database_id)
    backup = await backup_queries.find(run.store, backup_id)
    if facts is None or backup is None or facts.deleting or backup.deleting:
        return await tidy(run)
    engine = holder_of(run.get(Engines), facts)
    await engine.verify(facts.spec(run.get(Box)), backup_id)
    return next_step()


async def tidy(run: Run[VerifyArgs]) -> Verdict:
    """Nothing is left of it, whoever was killed."""
    for _, engine in all_engines(run.get(Engines)):
        await engine.tidy(run.args.database_id)
    return next_step()


async def is_restorable(db: Queries, job: Job, args: VerifyArgs) -> None:
    now = job.finished or job.created
    await backup_queries.set_verified(db, args.backup_id, now, restorable=True)


async def is_not_restorable(db: Queries, job: Job, args: VerifyArgs) -> None:
    """Operators are told of it. One that somebody cancelled is verified another time."""
    if job.status == "failed":
        now = job.finished or job.created
        await backup_queries.set_verified(db, args.backup_id, now, restorable=False)


LOGS_DUE = JobKind(
    "database_logs_due",
    UpkeepArgs,
    steps=(Step("keep", keep_logs, timeout=3600),),
    retry=Retry(attempts=2),
)
VERIFICATIONS_DUE = JobKind(
    "database_verifications_due",
    UpkeepArgs,
    steps=(Step("begin", begin_verifications),),
    retry=Retry(attempts=2),
)
VERIFY = JobKind(
    "database_backup_verify",
    VerifyArgs,
    resource=one_at_a_time,
    steps=(Step("verify", verify, undo=tidy, timeout=_VERIFY_SECONDS),),
    deadline=_VERIFY_SECONDS,
    retry=Retry(attempts=3),
    on_done=is_restorable,
    on_failed=is_not_restorable,
)

KINDS = (LOGS_DUE, VERIFICATIONS_DUE, VERIFY)
SCHEDULES = (
    Schedule("database_logs_due", "5-59/10 * * * *", LOGS_DUE, UpkeepArgs()),
    Schedule("database_verifications_due", "7-59/10 * * * *", VERIFICATIONS_DUE, UpkeepArgs()),
)
"""Not when backups begin."""
