"""Managed databases that exist only as records; a mark stands for what is in them."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path

from roost.clock import Clock
from roost.core.engine import EngineError, Health
from roost.engines.simulated.moments import (
    content_at,
    copied,
    discarded,
    oldest_moment,
    trimmed,
    written,
)
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import DATABASES, Database
from roost.engines.simulated.state import Documents
from roost.resources.databases.engine import (
    Access,
    DatabaseShape,
    DatabaseSpec,
    DatabaseState,
    Fork,
    HostName,
    Hosts,
    Objection,
    host_name,
)
from roost.secrets import hash_token

_PORT = 3306
_NOBODY = "192.0.2.1"
"""An address of documentation (RFC 5737): who resolves a name reaches no server by mistake."""
_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nsimulated\n-----END CERTIFICATE-----\n"


class SimulatedDatabases:
    """A DatabaseEngine; its state outlives the process and is its region's."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float, zone: str, clock: Clock) -> None:
        """`latency`: seconds that each operation takes; `zone`: of the databases' names."""
        self._plane = Plane(state_dir, latency)
        self._zone = zone
        self._clock = clock
        self._found: asyncio.Queue[int] | None = None
        self._filled: asyncio.Queue[int] | None = None

    def objection(self, shape: DatabaseShape) -> Objection | None:
        return None

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        primary, replicas = (
            HostName(host_name(database_id, self._zone, replicas=each), _NOBODY)
            for each in (False, True)
        )
        return Hosts(primary, replicas if cluster_size > 1 else None)

    async def create(self, spec: DatabaseSpec, fork: Fork | None = None) -> Access:
        def begin(documents: Documents) -> bool:
            found = DATABASES.find(documents, spec.id)
            if found is None or not found.whole:
                content = "" if fork is None else content_at(_whole(documents, fork.source), fork)
                DATABASES.put(documents, Database(spec.id, content=content))
            return found is not None and found.whole

        if not await self._plane.begin("database_create", begin):
            await self._plane.plan.wait("database_create", str(spec.id))
            await self._plane.transact(lambda documents: _finish(documents, spec))
        return Access(self.hosts(spec.id, spec.shape.cluster_size), _PORT, _CERTIFICATE)

    async def ensure(self, spec: DatabaseSpec) -> bool:
        await self._plane.begin("database_ensure", lambda docs: _whole(docs, spec.id))
        await self._plane.plan.wait("database_ensure", str(spec.id))
        await self._plane.transact(lambda documents: _run(documents, spec))
        return True

    async def rebuild(self, spec: DatabaseSpec) -> None:
        await self._plane.begin("database_rebuild", lambda docs: _running(docs, spec.id))
        await self._plane.plan.wait("database_rebuild", str(spec.id))

        def rebuild(documents: Documents) -> None:
            DATABASES.put(documents, replace(_running(documents, spec.id), degraded=False))

        await self._plane.transact(rebuild)

    async def rest(self, database_id: int) -> None:
        def rest(documents: Documents) -> None:
            DATABASES.put(documents, replace(_whole(documents, database_id), running=False))

        await self._plane.begin("database_rest", rest)

    async def restart(self, spec: DatabaseSpec) -> None:
        await self._plane.begin("database_restart", lambda docs: _whole(docs, spec.id))
        await self._plane.plan.wait("database_restart", str(spec.id))

        def restart(documents: Documents) -> None:
            DATABASES.put(documents, replace(_whole(documents, spec.id), outdated=False))
            _run(documents, spec)

        await self._plane.transact(restart)

    async def set_allow_list(self, database_id: int, networks: tuple[str, ...]) -> None:
        await self._plane.begin("database_allow", lambda docs: _whole(docs, database_id))
        await self._plane.plan.wait("database_allow", str(database_id))

        def allow(documents: Documents) -> None:
            found = _whole(documents, database_id)
            DATABASES.put(documents, replace(found, allow_list=networks))

        await self._plane.transact(allow)

    async def set_password(self, spec: DatabaseSpec) -> None:
        def change(documents: Documents) -> None:
            found = _running(documents, spec.id)
            password = hash_token(spec.password).hex()
            changed = replace(found, username=spec.username, password=password, full=spec.full)
            DATABASES.put(documents, changed)

        await self._plane.begin("database_password", change)

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        def limit(documents: Documents) -> None:
            DATABASES.put(documents, replace(_running(documents, spec.id), full=spec.full))

        await self._plane.begin("database_limit", limit)

    async def free(self, database_id: int) -> None:
        await self._plane.begin("database_free", lambda docs: _running(docs, database_id))

    async def back_up(self, database_id: int, backup_id: int, *, replica: bool) -> None:
        def begin(documents: Documents) -> bool:
            found = _running(documents, database_id)
            if found.backups.get(backup_id) is not None:
                return True
            begun = found.backups | {backup_id: None}
            DATABASES.put(documents, replace(found, backups=begun))
            return False

        if await self._plane.begin("database_backup", begin):
            return
        await self._plane.plan.wait("database_backup", str(backup_id))

        def copy(documents: Documents) -> None:
            found = _whole(documents, database_id)
            if backup_id in found.backups:
                DATABASES.put(documents, copied(found, backup_id, self._clock.now()))

        await self._plane.transact(copy)

    async def archive(self, database_id: int, most: int) -> None:
        def archive(documents: Documents) -> None:
            DATABASES.put(documents, trimmed(_whole(documents, database_id)))

        await self._plane.begin("database_archive", archive)

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        def look(documents: Documents) -> str:
            content = _whole(documents, spec.id).backups.get(backup_id)
            if content is None:
                raise EngineError("The backup is gone from the host")
            return content

        content = await self._plane.begin("database_restore", look)
        await self._plane.plan.wait("database_restore", str(spec.id))

        def put_back(documents: Documents) -> None:
            found = _whole(documents, spec.id)
            DATABASES.put(documents, written(found, content, self._clock.now()))
            _run(documents, spec)

        await self._plane.transact(put_back)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        def look(documents: Documents) -> None:
            if _whole(documents, spec.id).backups.get(backup_id) is None:
                raise EngineError("The backup is gone from the host")

        await self._plane.begin("database_verify", look)
        await self._plane.plan.wait("database_verify", str(backup_id))

    async def tidy(self, database_id: int) -> None:
        """There is nothing to remove."""

    async def delete_backup(self, database_id: int, backup_id: int) -> None:
        def remove(documents: Documents) -> None:
            found = DATABASES.find(documents, database_id)
            if found is not None:
                DATABASES.put(documents, discarded(found, backup_id))

        await self._plane.begin("database_backup_delete", remove)

    async def delete(self, database_id: int) -> None:
        await self._plane.fail_if_planned("database_delete")
        if await self._find(database_id) is None:
            return
        await self._plane.plan.wait("database_delete", str(database_id))
        await self._plane.transact(lambda documents: DATABASES.remove(documents, database_id))

    async def inspect(self, database_id: int) -> DatabaseState | None:
        await self._plane.fail_if_planned("database_inspect")
        found = await self._find(database_id)
        return None if found is None else _state(found)

    async def list(self) -> list[DatabaseState]:
        return [_state(each) for each in await self._plane.survey(DATABASES.all)]

    async def faults(self) -> AsyncGenerator[int, None]:
        """Only of what this very object does."""
        found = self._found = asyncio.Queue[int]()
        try:
            while True:
                yield await found.get()
        finally:
            self._found = None

    async def fillings(self) -> AsyncGenerator[int, None]:
        """Only of what this very object does."""
        filled = self._filled = asyncio.Queue[int]()
        try:
            while True:
                yield await filled.get()
        finally:
            self._filled = None

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def shut_down(self) -> None:
        def stop(documents: Documents) -> None:
            for each in DATABASES.all(documents):
                DATABASES.put(documents, replace(each, running=False))

        await self._plane.survey(stop)

    async def close(self) -> None:
        self._plane.state.close()

    async def admits(self, database_id: int, username: str, password: str, source: str) -> bool:
        """Whether a client at the address `source` can log in."""
        found = await self._find(database_id)
        if found is None or not found.running:
            return False
        known = (found.username, found.password) == (username, hash_token(password).hex())
        networks = (ip_network(each) for each in found.allow_list)
        return known and any(ip_address(source) in network for network in networks)

    async def write(self, database_id: int, content: str) -> None:
        """Change what is in a database, as a client would; "" removes it."""

        def write(documents: Documents) -> None:
            found = _running(documents, database_id)
            if found.full and content:
                raise EngineError("The user may not write, as the disk is full")
            DATABASES.put(documents, written(found, content, self._clock.now()))

        await self._plane.transact(write)

    async def read(self, database_id: int) -> str:
        """What is in a database."""
        return await self._plane.transact(lambda docs: _running(docs, database_id).content)

    async def lose_logs(self, database_id: int) -> None:
        """What was kept beside the backups vanishes."""

        def lose(documents: Documents) -> None:
            found = _whole(documents, database_id)
            DATABASES.put(documents, replace(found, lost_logs=1, history=()))

        await self._plane.transact(lose)

    async def crash(self, database_id: int) -> None:
        """Its servers end without a word."""

        def crash(documents: Documents) -> None:
            DATABASES.put(documents, replace(_whole(documents, database_id), running=False))

        await self._plane.transact(crash)
        self._tell(database_id)

    async def lose_node(self, database_id: int) -> None:
        """One of its servers ends, the others go on."""

        def lose(documents: Documents) -> None:
            DATABASES.put(documents, replace(_running(documents, database_id), degraded=True))

        await self._plane.transact(lose)
        self._tell(database_id)

    async def fill(self, database_id: int, used: int) -> None:
        """Its data take so many MB; whoever listens is told, as if that were all of its disk."""

        def fill(documents: Documents) -> None:
            DATABASES.put(documents, replace(_whole(documents, database_id), used=used))

        await self._plane.transact(fill)
        if self._filled is not None:
            self._filled.put_nowait(database_id)

    async def outdate(self, database_id: int) -> None:
        """A newer release of its server is installed."""

        def outdate(documents: Documents) -> None:
            DATABASES.put(documents, replace(_whole(documents, database_id), outdated=True))

        await self._plane.transact(outdate)

    async def lose(self, database_id: int) -> None:
        """All of it vanishes, as a folder would that somebody removes."""
        await self._plane.transact(lambda documents: DATABASES.remove(documents, database_id))

    def _tell(self, database_id: int) -> None:
        if self._found is not None:
            self._found.put_nowait(database_id)

    async def _find(self, database_id: int) -> Database | None:
        return await self._plane.transact(lambda docs: DATABASES.find(docs, database_id))


def _finish(documents: Documents, spec: DatabaseSpec) -> None:
    """Complete a database that was begun, unless it was removed meanwhile."""
    found = DATABASES.find(documents, spec.id)
    if found is not None:
        DATABASES.put(documents, replace(found, whole=True))
        _run(documents, spec)


def _run(documents: Documents, spec: DatabaseSpec) -> None:
    """As the specification says."""
    found = _whole(documents, spec.id)
    running = replace(
        found,
        running=True,
        memory=spec.memory,
        allow_list=spec.allow_list,
        username=spec.username,
        password=hash_token(spec.password).hex(),
        full=spec.full,
    )
    DATABASES.put(documents, running)


def _whole(documents: Documents, database_id: int) -> Database:
    found = DATABASES.find(documents, database_id)
    if found is None or not found.whole:
        raise EngineError(f"The data of database {database_id} do not exist")
    return found


def _running(documents: Documents, database_id: int) -> Database:
    found = _whole(documents, database_id)
    if not found.running:
        raise EngineError(f"Database {database_id} does not run")
    return found


def _state(database: Database) -> DatabaseState:
    return DatabaseState(
        id=database.id,
        whole=database.whole,
        running=database.running and not database.degraded,
        used=database.used if database.whole else 0,
        outdated=database.outdated,
        backups=tuple(sorted(database.backups)),
        oldest_moment=oldest_moment(database),
        lost_logs=database.lost_logs,
    )
