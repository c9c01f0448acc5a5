"""The steps of jobs on managed databases, and their undos."""

from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from roost.core.events import log
from roost.core.planes import Engines
from roost.jobs.kinds import Effect, JobArgs
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, Write, next_step, writing
from roost.resources.databases import backup_queries, queries, state_queries
from roost.resources.databases.charge_service import charge
from roost.resources.databases.engine import DatabaseEngine, DatabaseSpec, holder_of
from roost.resources.databases.name_jobs import name_soon
from roost.resources.databases.queries import DatabaseFacts, entity_of, resource_of
from roost.resources.databases.records import DatabaseStatus
from roost.secrets import Box
from roost.store import Queries

_BEHIND = (
    "The replicas had more to apply than could be waited for, so the primary was started again."
    " Changes of many rows in a table without a primary key do that: give each table one."
)


class DatabaseArgs(JobArgs):
    """Which database."""

    database_id: int


def on_database(args: DatabaseArgs) -> str:
    """The resource of jobs on a database."""
    return resource_of(args.database_id)


class Plan(BaseModel):
    """What a node has; memory and disk in MB."""

    model_config = ConfigDict(frozen=True)

    type: str
    vcpus: int
    memory: int
    disk: int


class UpdateArgs(DatabaseArgs):
    """What the database had before; None of what stays."""

    former_allow_list: tuple[str, ...] | None = None
    former_plan: Plan | None = None


class DatabaseBackupArgs(DatabaseArgs):
    """Which backup of it."""

    backup_id: int


class SaveArgs(DatabaseBackupArgs):
    replica: bool = False
    """Whether a replica is copied, if there is one."""


class RestoreDatabaseArgs(DatabaseBackupArgs):
    former: DatabaseStatus
    """The status when it was begun."""


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
        await charge(db, args.database_id, job.finished or job.created)
    await settles(db, job, args)


async def is_not_made(db: Queries, job: Job, args: DatabaseArgs) -> None:
    """Nothing half-made stays; the account deletes the row."""
    await state_queries.set_unmade(db, args.database_id)
    await becomes("failed")(db, job, args)


async def vanishes(db: Queries, job: Job, args: DatabaseArgs) -> None:
    await state_queries.delete(db, args.database_id)


async def reappears(db: Queries, job: Job, args: DatabaseArgs) -> None:
    now = job.finished or job.created
    await state_queries.undelete(db, args.database_id, now)
    await charge(db, args.database_id, now)


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
    database = await queries.find(db, args.database_id)
    if database is not None and database.status == "backing_up":  # Else it has lost a server, too.
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


async def provision(run: Run[DatabaseArgs]) -> Verdict:
    """Make an empty database or a fork. Only once, as what is gone must not be replaced by
    nothing."""
    facts = await _facts(run)
    if facts.made:
        return next_step()
    access = await _engine(run, facts).create(_spec(run, facts), facts.fork)
    return next_step(writing(state_queries.set_access, facts.id, access))


async def unmake(run: Run[DatabaseArgs]) -> Verdict:
    """Remove what was made, wholly or in part; with the name."""
    facts = await _facts(run)
    await _engine(run, facts).delete(facts.id)

    async def write(db: Queries) -> None:
        await state_queries.set_status(db, facts.id, "failed", run.clock.now())
        await name_soon(db, run.get(JobQueue))

    return next_step(write)


async def admit(run: Run[UpdateArgs]) -> Verdict:
    """Put the allow list in force."""
    facts = await _facts(run)
    if run.args.former_allow_list is not None:
        await _engine(run, facts).set_allow_list(facts.id, tuple(facts.allow_list))
    return next_step()


async def admit_as_before(run: Run[UpdateArgs]) -> Verdict:
    facts, former = await _facts(run), run.args.former_allow_list
    if former is None:
        return next_step()
    await _engine(run, facts).set_allow_list(facts.id, former)
    return next_step()


async def resize(run: Run[UpdateArgs]) -> Verdict:
    """Give the nodes what their plan has."""
    facts = await _facts(run)
    if run.args.former_plan is not None:
        await _engine(run, facts).restart(_spec(run, facts))
        return next_step(_named(run, facts))
    return next_step()


async def keep_plan(run: Run[UpdateArgs]) -> Verdict:
    facts, former = await _facts(run), run.args.former_plan
    if former is None:
        return next_step()
    vcpus, memory, disk = former.vcpus, former.memory, former.disk
    spec = replace(_spec(run, facts), vcpus=vcpus, memory=memory, disk=disk)
    await _engine(run, facts).restart(spec)
    return next_step()


async def patch(run: Run[DatabaseArgs]) -> Verdict:
    """Run on the software that is installed now."""
    facts = await _facts(run)
    await _engine(run, facts).restart(_spec(run, facts))
    return next_step(_named(run, facts))


def _named(run: Run[DatabaseArgs], facts: DatabaseFacts) -> Write:
    """A server that was started anew shows the names of now, which one of an earlier release, or
    with other settings, did not."""
    hosts = _engine(run, facts).hosts(facts.id, facts.cluster_size)

    async def write(db: Queries) -> None:
        await state_queries.set_hosts(db, facts.id, hosts)
        await name_soon(db, run.get(JobQueue))

    return write


async def ensure(run: Run[DatabaseArgs]) -> Verdict:
    """Let it serve again; the account is told when that was not as a cluster should."""
    facts = await _facts(run)
    if await _engine(run, facts).ensure(_spec(run, facts)):
        return next_step()

    async def tell(db: Queries) -> None:
        by = log.Starter(run.get(JobQueue), db, facts.account_id)
        await log.notify(by, "database_degraded", entity_of(facts), message=_BEHIND)

    return next_step(tell)


async def rest(run: Run[DatabaseArgs]) -> Verdict:
    """Let none of its servers run; the data stay."""
    facts = await _facts(run)
    await _engine(run, facts).rest(facts.id)
    return next_step()


async def rebuild(run: Run[DatabaseArgs]) -> Verdict:
    """Let all its nodes serve again."""
    facts = await _facts(run)
    await _engine(run, facts).rebuild(_spec(run, facts))
    return next_step()


async def reset_password(run: Run[DatabaseArgs]) -> Verdict:
    facts = await _facts(run)
    await _engine(run, facts).set_password(facts.spec(run.get(Box), facts.next_password))
    return next_step()


async def keep_password(run: Run[DatabaseArgs]) -> Verdict:
    facts = await _facts(run)
    await _engine(run, facts).set_password(_spec(run, facts))
    return next_step()


async def save(run: Run[SaveArgs]) -> Verdict:
    """Copy the data, while they are written."""
    facts, args = await _facts(run), run.args
    await _engine(run, facts).back_up(facts.id, args.backup_id, replica=args.replica)
    return await _measured(run, facts)


async def discard(run: Run[DatabaseBackupArgs]) -> Verdict:
    """Remove a copy, wholly made or in part."""
    facts = await _facts(run)
    await _engine(run, facts).delete_backup(facts.id, run.args.backup_id)
    return next_step()


async def discard_for_good(run: Run[DatabaseBackupArgs]) -> Verdict:
    """Discard a backup, unless the database is gone with all of them."""
    facts = await queries.find(run.store, run.args.database_id)
    if facts is None:
        return next_step()
    await discard(run)
    return await _measured(run, facts)


async def keep_backup(run: Run[DatabaseBackupArgs]) -> Verdict:
    """The backup is shown again, unless the copy is gone already."""
    facts, backup_id = await queries.find(run.store, run.args.database_id), run.args.backup_id
    if facts is None:
        return next_step()
    state = await _engine(run, facts).inspect(facts.id)
    if state is not None and backup_id in state.backups:
        return next_step()
    return next_step(writing(backup_queries.delete, backup_id))


async def restore(run: Run[RestoreDatabaseArgs]) -> Verdict:
    """Replace the data by those of a backup."""
    facts = await _facts(run)
    await _engine(run, facts).restore(_spec(run, facts), run.args.backup_id)
    return await _measured(run, facts)


async def remove(run: Run[DatabaseArgs]) -> Verdict:
    """Remove servers, data and backups."""
    facts = await _facts(run)
    await _engine(run, facts).delete(facts.id)
    return next_step()


async def keep(run: Run[DatabaseArgs]) -> Verdict:
    """The database is shown again, unless it is gone already."""
    facts = await _facts(run)
    if await _engine(run, facts).inspect(facts.id) is not None:
        return next_step()

    async def write(db: Queries) -> None:
        await state_queries.delete(db, facts.id)
        await charge(db, facts.id, run.clock.now())

    return next_step(write)


async def _measured(run: Run[DatabaseArgs], facts: DatabaseFacts) -> Verdict:
    """Tell of which moments there can be forks now."""
    state = await _engine(run, facts).inspect(facts.id)
    moment = None if state is None else state.oldest_moment
    return next_step(writing(state_queries.set_oldest_moment, facts.id, moment))


async def _facts(run: Run[DatabaseArgs]) -> DatabaseFacts:
    facts = await queries.find(run.store, run.args.database_id)
    if facts is None:
        raise Fatal("The database is gone.")
    return facts


def _engine(run: Run[DatabaseArgs], facts: DatabaseFacts) -> DatabaseEngine:
    return holder_of(run.get(Engines), facts)


def _spec(run: Run[DatabaseArgs], facts: DatabaseFacts) -> DatabaseSpec:
    return facts.spec(run.get(Box))
