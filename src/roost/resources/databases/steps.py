"""The steps of jobs on managed databases, and their undos."""

from dataclasses import replace

from roost.core.planes import Engines
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.databases import backup_queries, queries, state_queries
from roost.resources.databases.args import (
    DatabaseArgs,
    DatabaseBackupArgs,
    RestoreDatabaseArgs,
    SaveArgs,
    UpdateArgs,
)
from roost.resources.databases.engine import DATABASE_PLANE, DatabaseEngine, DatabaseSpec
from roost.resources.databases.queries import DatabaseFacts
from roost.secrets import Box


async def provision(run: Run[DatabaseArgs]) -> Verdict:
    """Make an empty database. Only once, as what is gone must not be replaced by nothing."""
    facts = await _facts(run)
    if facts.made:
        return next_step()
    access = await _engine(run, facts).create(_spec(run, facts))
    return next_step(writing(state_queries.set_access, facts.id, access))


async def unmake(run: Run[DatabaseArgs]) -> Verdict:
    """Remove what was made, wholly or in part."""
    facts = await _facts(run)
    await _engine(run, facts).delete(facts.id)
    return next_step()


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
    return next_step()


async def ensure(run: Run[DatabaseArgs]) -> Verdict:
    """Let it serve again."""
    facts = await _facts(run)
    await _engine(run, facts).ensure(_spec(run, facts))
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
    return next_step()


async def discard(run: Run[DatabaseBackupArgs]) -> Verdict:
    """Remove a copy, wholly made or in part."""
    facts = await _facts(run)
    await _engine(run, facts).delete_backup(facts.id, run.args.backup_id)
    return next_step()


async def discard_for_good(run: Run[DatabaseBackupArgs]) -> Verdict:
    """The same, unless the database is gone with all its backups."""
    if await queries.find(run.store, run.args.database_id) is None:
        return next_step()
    return await discard(run)


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
    return next_step()


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
    return next_step(writing(state_queries.delete, facts.id))


async def _facts(run: Run[DatabaseArgs]) -> DatabaseFacts:
    facts = await queries.find(run.store, run.args.database_id)
    if facts is None:
        raise Fatal("The database is gone.")
    return facts


def _engine(run: Run[DatabaseArgs], facts: DatabaseFacts) -> DatabaseEngine:
    return run.get(Engines).holding(DATABASE_PLANE, facts)


def _spec(run: Run[DatabaseArgs], facts: DatabaseFacts) -> DatabaseSpec:
    return facts.spec(run.get(Box))
