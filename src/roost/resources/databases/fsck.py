"""`roost fsck` of managed databases: every row against servers, data and backups."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.databases import backup_queries, jobs, queries, state_queries, watch_jobs
from roost.resources.databases.engine import PLANES, DatabaseEngine, DatabaseState, KindName
from roost.resources.databases.queries import DatabaseFacts, entity_of, resource_of
from roost.resources.databases.records import DatabaseStatus
from roost.resources.databases.steps import DatabaseArgs
from roost.store import Queries

DriftKind = Literal[
    "orphan",
    "unfinished",
    "deleting",
    "missing",
    "down",
    "extra_backup",
    "lost_backup",
    "lost_logs",
    "spare_logs",
]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the database."""

    kind: DriftKind
    text: str
    backup_id: int = 0


def compare(
    row: DatabaseFacts | None, backups: Collection[int], state: DatabaseState | None
) -> Drift | None:
    """The difference to mend first; no job works on the database.

    `backups` are those that are shown.
    """
    if row is None:
        return None if state is None else Drift("orphan", "is on the host, but does not exist")
    if row.deleting:
        return Drift("deleting", "is being deleted, but no job works on it")
    if row.status not in ("active", "degraded", "suspended", "failed"):
        return Drift("unfinished", f"is {row.status}, but no job works on it")
    if not row.made:
        return None if state is None else Drift("orphan", "failed, but is on the host")
    if state is None or not state.whole:
        return Drift("missing", "has lost its data")
    if row.status == "active" and not state.running:
        return Drift("down", "is active, but does not run")
    return _compare_backups(backups, state.backups) or _judge_logs(state)


def _compare_backups(shown: Collection[int], held: Collection[int]) -> Drift | None:
    for backup_id in held:
        if backup_id not in shown:
            text = f"has a backup {backup_id} on the host that does not exist"
            return Drift("extra_backup", text, backup_id)
    for backup_id in shown:
        if backup_id not in held:
            return Drift("lost_backup", f"has lost its backup {backup_id}", backup_id)
    return None


def _judge_logs(state: DatabaseState) -> Drift | None:
    """Logs of writes that are kept from the oldest backup on."""
    if state.lost_logs:
        text = f"has lost {state.lost_logs} of the binary logs that were kept since its backups"
        return Drift("lost_logs", text)
    if state.spare_logs:
        text = f"has {state.spare_logs} binary logs on the host that no backup needs"
        return Drift("spare_logs", text)
    return None


_WHAT: dict[KindName, str] = {"mysql": "databases", "postgresql": "PostgreSQL databases"}


async def check_databases(installation: Installation) -> AsyncIterator[Finding]:
    """Servers, data and rows of all regions."""
    for kind, plane in PLANES.items():
        engines = installation.get(Engines).by_region(plane).items()
        regions = {region: _Databases(installation, kind, region, each) for region, each in engines}
        used = await queries.regions_in_use(installation.store, kind)
        async for finding in check_regions(regions, _WHAT[kind], used):
            yield finding


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the database says; without a row what is on the host is nobody's."""

    row: DatabaseFacts | None
    backups: tuple[int, ...]

    @property
    def known(self) -> DatabaseFacts:
        """The row of a difference that has one."""
        assert self.row is not None
        return self.row


_Case: TypeAlias = Case[int, _Rows, DatabaseState, Drift]


@dataclass(frozen=True, slots=True)
class _Databases(Reconciler[int, _Rows, DatabaseState, Drift]):
    kind: KindName
    region: str
    engine: DatabaseEngine

    async def held(self) -> Mapping[int, DatabaseState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, DatabaseState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        """Backups deserve a close look each."""
        store = self.installation.store
        rows = await queries.in_region(store, self.kind, self.region, after or 0, limit)
        return {row.id: True for row in rows}

    async def read(self, db: Queries, key: int) -> _Rows:
        row = await queries.lock_any(db, key)
        if row is None or (row.kind, row.region) != (self.kind, self.region):
            return _Rows(None, ())
        if await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        backups = await backup_queries.all_of(db, key)
        return _Rows(row, tuple(each.id for each in backups if each.made and not each.deleting))

    async def look(self, key: int, rows: _Rows) -> _Case | None:
        state = await self.engine.inspect(key)
        drift = compare(rows.row, rows.backups, state)
        return None if drift is None else Case(key, rows, state, drift)

    def describe(self, case: _Case) -> str:
        return f"database {case.key} of region {self.region} {case.drift.text}"

    async def mend(self, case: _Case) -> str:
        return await _REMEDIES[case.drift.kind](self, case)


async def _delete_data(databases: _Databases, case: _Case) -> str:
    await databases.engine.delete(case.key)
    return "removed it from the host"


async def _give_up(databases: _Databases, case: _Case) -> str:
    """Work that nobody goes on with has failed; what was made of it can be used or deleted."""
    row, now = case.rows.known, databases.queue.clock.now()
    async with databases.holding(case) as db:
        status: DatabaseStatus = "active" if row.made else "failed"
        await state_queries.set_next_password(db, row.id, None)
        await state_queries.set_status(db, row.id, status, now)
        return f"set its status to {status}"


async def _delete(databases: _Databases, case: _Case) -> str:
    row = case.rows.known
    async with databases.holding(case) as db:
        by = log.Starter(databases.queue, db, row.account_id)
        args = DatabaseArgs(database_id=row.id)
        await log.start(by, jobs.DELETE, args, entity_of(row))
    return "a job deletes it"


async def _recover(databases: _Databases, case: _Case) -> str:
    async with databases.holding(case) as db:
        await watch_jobs.recover(db, databases.queue, case.rows.known)
    return "a job starts it"


async def _discard(databases: _Databases, case: _Case) -> str:
    await databases.engine.delete_backup(case.key, case.drift.backup_id)
    return "removed the backup from the host"


async def _forget(databases: _Databases, case: _Case) -> str:
    async with databases.holding(case) as db:
        await backup_queries.delete(db, case.drift.backup_id)
    return "it is no longer shown"


async def _archive(databases: _Databases, case: _Case) -> str:
    await databases.engine.archive(case.key, case.rows.known.disk)
    state = await databases.engine.inspect(case.key)
    moment = None if state is None else state.oldest_moment
    async with databases.holding(case) as db:
        await state_queries.set_oldest_moment(db, case.key, moment)
    since = "none" if moment is None else f"those since {moment.isoformat()}"
    return f"removed what is of no use; of its moments a fork can have {since}"


async def _lament(databases: _Databases, case: _Case) -> str:
    raise UnrepairableError("put the data back, restore a backup, or delete the database")


_REMEDIES: dict[DriftKind, Callable[[_Databases, _Case], Awaitable[str]]] = {
    "orphan": _delete_data,
    "unfinished": _give_up,
    "deleting": _delete,
    "missing": _lament,
    "down": _recover,
    "extra_backup": _discard,
    "lost_backup": _forget,
    "lost_logs": _archive,
    "spare_logs": _archive,
}
