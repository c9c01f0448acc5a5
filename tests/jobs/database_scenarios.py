"""Jobs on managed databases for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from roost.core.engine import EngineError
from roost.core.events import log
from roost.jobs import Environment
from roost.jobs.kinds import JobKind
from roost.resources.databases import (
    disk_jobs,
    jobs,
    name_jobs,
    state_queries,
    upkeep_jobs,
    watch_jobs,
)
from roost.resources.databases.engine import Fork
from roost.resources.databases.group import GROUP as DATABASES
from roost.resources.databases.name_service import OWNER
from roost.resources.databases.queries import DATABASE, resource_of
from roost.resources.databases.records import DatabaseStatus
from roost.resources.databases.steps import (
    DatabaseArgs,
    DatabaseBackupArgs,
    Plan,
    RestoreDatabaseArgs,
    SaveArgs,
    UpdateArgs,
)
from roost.resources.domains.settings import Dns
from tests.jobs.harness import Scenario
from tests.support.database_stage import PASSWORD, DatabaseStage
from tests.support.drift import differences
from tests.support.resolving import answers, where
from tests.support.stage import Stage

Args = TypeVar("Args", bound=DatabaseArgs)
_NEXT = "other654321XYZ"
_BEFORE, _AFTER = "192.0.2.1", "192.0.2.2"


@dataclass(frozen=True)
class Outcome:
    """What became of a database: of its row, and of its server."""

    status: DatabaseStatus
    content: str | None = "first"
    """None: nothing of it is on the host."""
    backups: int = 0
    plan: str = "g1-nano-1"
    password: str = PASSWORD
    client: str = _BEFORE
    """The address that can connect."""
    full: bool = False
    """Whether nobody can write, as the row says."""


@dataclass(frozen=True)
class DatabaseCase:
    """One job on one database; a Case of the harness."""

    databases: DatabaseStage
    database_id: int
    job_id: int
    done: Outcome | None
    failed: tuple[Outcome | None, ...]

    async def check_done(self) -> None:
        assert await self._outcome() == self.done
        await self._check_traces()

    async def check_failed(self) -> None:
        assert await self._outcome() in self.failed
        await self._check_traces()

    async def _outcome(self) -> Outcome | None:
        row = await self.databases.row(self.database_id)
        held = await self.databases.held(self.database_id)
        if row is None:
            assert held is None
            return None
        assert (row.made, row.next_password, row.deleting) == (held is not None, None, False)
        if held is None:
            return Outcome(row.status, None)
        password = self.databases.box.open(row.password).decode()
        client = _BEFORE if row.allow_list == [f"{_BEFORE}/32"] else _AFTER
        engine = self.databases.engine
        assert await engine.admits(row.id, "roostadmin", password, client)
        content = await engine.read(row.id)
        full = await self._refuses_writes(row.id, content)
        assert full == row.disk_full
        return Outcome(row.status, content, len(held.backups), row.type, password, client, full)

    async def _refuses_writes(self, database_id: int, content: str) -> bool:
        try:
            await self.databases.engine.write(database_id, content)
        except EngineError:
            return True
        return False

    async def _check_traces(self) -> None:
        lines = await differences(self.databases.stage.roost, DATABASES)
        assert [line for line in lines if f"database {self.database_id} " in line] == []


@dataclass(frozen=True)
class TickCase:
    """A job of the clock, which begins others at most."""

    job_id: int

    async def check_done(self) -> None:
        """The harness has seen that it ended well."""

    async def check_failed(self) -> None:
        """The next tick does the same."""


@dataclass(frozen=True)
class NamesCase:
    """The zone of the names, after another one."""

    databases: DatabaseStage
    database_id: int
    job_id: int

    async def check_done(self) -> None:
        roost = self.databases.stage.roost
        name = f"database-{self.database_id}.us-lake.db.roost.internal"
        assert await answers(where(roost), name, "A") == ["192.0.2.1"]
        held = await roost.services.get(Dns).engine.zones()
        assert [each.name for each in held if each.owner == OWNER] == ["db.roost.internal."]
        await self.check_failed()

    async def check_failed(self) -> None:
        """The next minute's job does what this one could not."""
        await differences(self.databases.stage.roost, DATABASES, repair=True)
        lines = await differences(self.databases.stage.roost, DATABASES)
        assert [line for line in lines if "of databases" in line] == []


Prepare = Callable[[DatabaseStage, Environment], Awaitable[tuple[int, int]]]
"""Sets the scene and enqueues the job: ids of the database and of the job."""


async def enqueue(environment: Environment, kind: JobKind[Args], args: Args) -> int:
    async with environment.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id, "somebody")
        await log.start(by, kind, args, DATABASE.entity(args.database_id, "label"))
        resource = resource_of(args.database_id)
        job_id: int = await db.fetchval("select max(id) from job where resource = $1", resource)
    return job_id


async def begin(
    environment: Environment,
    prepare: Prepare,
    done: Outcome | None,
    failed: tuple[Outcome | None, ...],
) -> DatabaseCase:
    databases = DatabaseStage(environment.services.get(Stage))
    database_id, job_id = await prepare(databases, environment)
    return DatabaseCase(databases, database_id, job_id, done, failed)


async def plain(
    databases: DatabaseStage, environment: Environment, kind: JobKind[DatabaseArgs], made: bool
) -> tuple[int, int]:
    database_id = await databases.database("active" if made else "provisioning", made=made)
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, kind, args)


async def update(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id, store = await databases.database(), environment.store
    await state_queries.set_allow_list(store, database_id, [f"{_AFTER}/32"])
    await state_queries.set_plan(store, database_id, "g1-standard-1", 1, 2048, 51200)
    former = Plan(type="g1-nano-1", vcpus=1, memory=1024, disk=25600)
    args = UpdateArgs(
        database_id=database_id, former_allow_list=(f"{_BEFORE}/32",), former_plan=former
    )
    return database_id, await enqueue(environment, jobs.UPDATE, args)


async def reset(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    sealed = databases.box.seal(_NEXT.encode())
    await state_queries.set_next_password(environment.store, database_id, sealed)
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, jobs.RESET, args)


async def recover(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, jobs.RECOVER, args)


async def fill(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    await databases.engine.fill(database_id, 25600)
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, disk_jobs.DISK, args)


async def save(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    backup_id = await databases.backup(database_id, made=False)
    args = SaveArgs(database_id=database_id, backup_id=backup_id)
    return database_id, await enqueue(environment, jobs.SAVE, args)


async def discard(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    backup_id = await databases.backup(database_id)
    args = DatabaseBackupArgs(database_id=database_id, backup_id=backup_id)
    return database_id, await enqueue(environment, jobs.DISCARD, args)


async def restore(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    backup_id = await databases.backup(database_id)
    await databases.engine.write(database_id, "second")
    args = RestoreDatabaseArgs(database_id=database_id, backup_id=backup_id, former="active")
    return database_id, await enqueue(environment, jobs.RESTORE, args)


async def delete(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    database_id = await databases.database()
    await databases.backup(database_id)
    await state_queries.set_deleting(environment.store, database_id)
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, jobs.DELETE, args)


async def fork(databases: DatabaseStage, environment: Environment) -> tuple[int, int]:
    source = await databases.database()
    await databases.backup(source)
    state = await databases.held(source)
    assert state is not None
    assert state.oldest_moment is not None
    fork = Fork(source, state.oldest_moment)
    database_id = await databases.database("provisioning", made=False, fork=fork)
    args = DatabaseArgs(database_id=database_id)
    return database_id, await enqueue(environment, jobs.FORK, args)


@dataclass(frozen=True)
class VerificationCase:
    """What became of a backup that was verified."""

    databases: DatabaseStage
    backup_id: int
    job_id: int

    async def check_done(self) -> None:
        await self._check(restorable=True)

    async def check_failed(self) -> None:
        await self._check(restorable=False)

    async def _check(self, restorable: bool) -> None:
        asked = "select restorable from database_backup where id = $1"
        store = self.databases.stage.roost.store
        assert await store.fetchval(asked, self.backup_id) == restorable


async def verify(environment: Environment) -> VerificationCase:
    databases = DatabaseStage(environment.services.get(Stage))
    database_id = await databases.database()
    backup_id = await databases.backup(database_id)
    args = upkeep_jobs.VerifyArgs(database_id=database_id, backup_id=backup_id)
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, upkeep_jobs.VERIFY, args)
    return VerificationCase(databases, backup_id, job.id)


async def tick_of_all(environment: Environment, kind: JobKind[upkeep_jobs.UpkeepArgs]) -> TickCase:
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, kind, upkeep_jobs.UpkeepArgs())
    return TickCase(job.id)


async def tick(environment: Environment, kind: JobKind[watch_jobs.AllArgs]) -> TickCase:
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, kind, watch_jobs.AllArgs())
    return TickCase(job.id)


async def begin_names(environment: Environment) -> NamesCase:
    databases = DatabaseStage(environment.services.get(Stage))
    database_id, store = await databases.database(), environment.store
    await store.execute("delete from database_zone")
    await store.execute("insert into database_zone values ('former.internal', '', 1)")
    args, resource = name_jobs.NamesArgs(), name_jobs.RESOURCE
    job = await environment.queue.enqueue(store, name_jobs.SYNC, args, resource=resource)
    return NamesCase(databases, database_id, job.id)


def _scenario(
    kind: JobKind[Args], prepare: Prepare, done: Outcome | None, *failed: Outcome | None
) -> Scenario:
    return Scenario(kind, partial(begin, prepare=prepare, done=done, failed=failed))


_FINE = Outcome("active")
_CHANGED = Outcome("active", plan="g1-standard-1", client=_AFTER)

SCENARIOS = (
    _scenario(
        jobs.CREATE,
        partial(plain, kind=jobs.CREATE, made=False),
        Outcome("active", ""),
        Outcome("failed", None),
    ),
    _scenario(jobs.FORK, fork, _FINE, Outcome("failed", None)),
    Scenario(upkeep_jobs.VERIFY, verify),
    Scenario(upkeep_jobs.LOGS_DUE, partial(tick_of_all, kind=upkeep_jobs.LOGS_DUE)),
    Scenario(
        upkeep_jobs.VERIFICATIONS_DUE, partial(tick_of_all, kind=upkeep_jobs.VERIFICATIONS_DUE)
    ),
    _scenario(jobs.UPDATE, update, _CHANGED, _FINE),
    _scenario(jobs.PATCH, partial(plain, kind=jobs.PATCH, made=True), _FINE, _FINE),
    _scenario(jobs.RESET, reset, Outcome("active", password=_NEXT), _FINE),
    _scenario(jobs.RECOVER, recover, _FINE, Outcome("degraded")),
    _scenario(disk_jobs.DISK, fill, Outcome("active", full=True), _FINE),
    _scenario(jobs.SAVE, save, Outcome("active", backups=1), _FINE),
    _scenario(jobs.DISCARD, discard, _FINE, Outcome("active", backups=1), _FINE),
    _scenario(
        jobs.RESTORE,
        restore,
        Outcome("active", backups=1),
        Outcome("active", "second", backups=1),
        Outcome("active", backups=1),
    ),
    _scenario(jobs.DELETE, delete, None, Outcome("failed", backups=1), None),
    Scenario(watch_jobs.BACKUPS_DUE, partial(tick, kind=watch_jobs.BACKUPS_DUE)),
    Scenario(watch_jobs.WATCH, partial(tick, kind=watch_jobs.WATCH)),
    Scenario(name_jobs.SYNC, begin_names),
)
