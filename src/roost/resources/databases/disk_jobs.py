"""Databases whose data take all of their plan's disk: their user may only read and remove.

kind            while it runs   done                         failed
database_disk   as before       the user may write, or not   as before; the watch tries again
"""

from roost.core.events import log
from roost.core.planes import Engines
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.databases import backup_service, queries, rules, state_queries
from roost.resources.databases.engine import KindName, holder_of
from roost.resources.databases.queries import DatabaseFacts, entity_of
from roost.resources.databases.steps import DatabaseArgs, on_database
from roost.secrets import Box
from roost.store import Queries

_FULL: dict[KindName, str] = {
    "mysql": (
        "The disk is full. Until there is room the user may read, delete, truncate and drop, but"
        " not write. Drop or truncate what is not needed, or take a larger plan."
    ),
    "postgresql": (
        "The disk is full. Until there is room sessions only read, unless they set"
        " default_transaction_read_only to off: drop or truncate what is not needed, or take a"
        " larger plan. Nobody can log in when data take half of what temporary files have, too."
    ),
}
_ROOM = "There is room on the disk again; the user may write."
_PACKED = "The disk was full of the log of writes. Sessions were ended while that was packed."


async def fit(run: Run[DatabaseArgs]) -> Verdict:
    """What the server itself can do without goes first. Of PostgreSQL that is packed, for seconds
    of each GB, in which who writes would gain on it."""
    facts = await queries.find(run.store, run.args.database_id)
    if facts is None or not serves(facts):
        return next_step()
    engine = holder_of(run.get(Engines), facts)
    state = await engine.inspect(facts.id)
    held = (
        state is not None and facts.kind == "postgresql" and rules.is_full(state.used, facts.disk)
    )
    if held:
        await engine.limit_writes(facts.spec(run.get(Box), full=True))
    await engine.free(facts.id)
    state = await engine.inspect(facts.id)
    if state is None:
        return next_step()
    full = rules.is_full(state.used, facts.disk, was_full=facts.disk_full)
    await engine.limit_writes(facts.spec(run.get(Box), full=full))

    async def write(db: Queries) -> None:
        await state_queries.set_used(db, facts.id, state.used + state.temporary)
        if await state_queries.set_disk_full(db, facts, full):
            action = "database_low_disk_space" if full else "database_update"
            text = _FULL[facts.kind] if full else _ROOM
            by = log.Starter(run.get(JobQueue), db, facts.account_id)
            await log.notify(by, action, entity_of(facts), message=text)
        elif held and not full:
            by = log.Starter(run.get(JobQueue), db, facts.account_id)
            await log.notify(by, "database_update", entity_of(facts), message=_PACKED)

    return next_step(write)


async def as_before(run: Run[DatabaseArgs]) -> Verdict:
    """The user may do what the row says."""
    facts = await queries.find(run.store, run.args.database_id)
    if facts is not None and serves(facts):
        engine = holder_of(run.get(Engines), facts)
        await engine.limit_writes(facts.spec(run.get(Box)))
    return next_step()


def serves(database: DatabaseFacts) -> bool:
    """Whether there is somebody who could write."""
    return database.made and not database.deleting and database.status in ("active", "degraded")


async def fills(db: Queries, queue: JobQueue, database_id: int) -> None:
    """An engine has told that its disk is full: a backup that is being made gives way; of other
    work the minute's watch waits for the end."""
    reason = "The disk of the database became full meanwhile."
    database = await backup_service.give_way(db, queue, database_id, reason)
    if database is not None:
        await begin(db, queue, database)


async def begin(db: Queries, queue: JobQueue, database: DatabaseFacts) -> None:
    args = DatabaseArgs(database_id=database.id)
    await queue.enqueue(db, DISK, args, account_id=database.account_id)


DISK = JobKind(
    "database_disk",
    DatabaseArgs,
    resource=on_database,
    steps=(Step("fit", fit, undo=as_before, timeout=120),),
    retry=Retry(attempts=2),
)
