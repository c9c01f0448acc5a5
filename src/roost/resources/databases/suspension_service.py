"""Managed databases that rest while their account is suspended; their data stay."""

from roost.core.context import Context
from roost.core.events import log
from roost.core.suspensions import SUSPENDED, Suspension
from roost.errors import invalid
from roost.jobs.kinds import JobKind
from roost.jobs.queue import JobQueue
from roost.resources.databases import jobs, queries
from roost.resources.databases.queries import DatabaseFacts, entity_of, resource_of
from roost.resources.databases.steps import DatabaseArgs

_RUNNING = """
    select id::text, account_id, status not in ('active', 'degraded') as waits
    from managed_database where status not in ('suspended', 'failed') and not deleting
    """
_RESTING = """
    select id::text, account_id, status = 'suspending' as waits
    from managed_database where status in ('suspending', 'suspended') and not deleting
    """


async def _rest(context: Context, database_id: str) -> None:
    database = await _idle(context, database_id)
    if database.status in ("active", "degraded"):
        await _start(context, jobs.SUSPEND, database, SUSPENDED)


async def _resume(context: Context, database_id: str) -> None:
    database = await _idle(context, database_id)
    if database.status == "suspended":
        await _start(context, jobs.RESUME, database, "The account is no longer suspended.")


async def _idle(context: Context, database_id: str) -> DatabaseFacts:
    database = await queries.lock_any(context.db, int(database_id))
    queue = context.get(JobQueue)
    if database is None or await queue.busy(context.db, resource_of(database.id)):
        raise invalid("Database busy.")
    return database


async def _start(
    context: Context, kind: JobKind[DatabaseArgs], database: DatabaseFacts, message: str
) -> None:
    args = DatabaseArgs(database_id=database.id)
    await log.start(context, kind, args, entity_of(database), message=message)


DATABASES = Suspension(_RUNNING, _RESTING, _rest, _resume)
