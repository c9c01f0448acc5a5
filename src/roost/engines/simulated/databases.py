"""Managed databases that exist only as records; a mark stands for what is in them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from roost.clock import Clock
from roost.core.engine import EngineError, Health
from roost.engines.simulated.database_mishaps import DatabaseMishaps
from roost.engines.simulated.database_records import (
    find_running,
    find_whole,
    finish,
    run,
    state_of,
)
from roost.engines.simulated.moments import content_at, copied, discarded, trimmed, written
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
    KindName,
    Objection,
    host_name,
)
from roost.secrets import hash_token

_PORTS: Mapping[KindName, int] = {"mysql": 3306, "postgresql": 5432}
_NOBODY = "192.0.2.1"
"""An address of documentation (RFC 5737): who resolves a name reaches no server by mistake."""
_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nsimulated\n-----END CERTIFICATE-----\n"


class SimulatedDatabases(DatabaseMishaps):
    """A DatabaseEngine; its state outlives the process and is its region's."""

    name = "simulated"

    def __init__(
        self,
        state_dir: Path,
        latency: float,
        zone: str,
        clock: Clock,
        kind: KindName = "mysql",
    ) -> None:
        """`latency`: seconds that each operation takes; `zone`: of the databases' names; `kind`: of
        those that it holds."""
        super().__init__(Plane(state_dir, latency), clock, kind)
        self._zone = zone

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
                content = (
                    "" if fork is None else content_at(find_whole(documents, fork.source), fork)
                )
                DATABASES.put(documents, Database(spec.id, self._kind, content=content))
            return found is not None and found.whole

        if not await self._plane.begin("database_create", begin):
            await self._plane.plan.wait("database_create", str(spec.id))
            await self._plane.transact(lambda documents: finish(documents, spec))
        return Access(
            self.hosts(spec.id, spec.shape.cluster_size), _PORTS[self._kind], _CERTIFICATE
        )

    async def ensure(self, spec: DatabaseSpec) -> bool:
        await self._plane.begin("database_ensure", lambda docs: find_whole(docs, spec.id))
        await self._plane.plan.wait("database_ensure", str(spec.id))
        await self._plane.transact(lambda documents: run(documents, spec))
        return True

    async def rebuild(self, spec: DatabaseSpec) -> None:
        await self._plane.begin("database_rebuild", lambda docs: find_running(docs, spec.id))
        await self._plane.plan.wait("database_rebuild", str(spec.id))

        def rebuild(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_running(documents, spec.id), degraded=False))

        await self._plane.transact(rebuild)

    async def rest(self, database_id: int) -> None:
        def rest(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_whole(documents, database_id), running=False))

        await self._plane.begin("database_rest", rest)

    async def restart(self, spec: DatabaseSpec) -> None:
        await self._plane.begin("database_restart", lambda docs: find_whole(docs, spec.id))
        await self._plane.plan.wait("database_restart", str(spec.id))

        def restart(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_whole(documents, spec.id), outdated=False))
            run(documents, spec)

        await self._plane.transact(restart)

    async def set_allow_list(self, database_id: int, networks: tuple[str, ...]) -> None:
        await self._plane.begin("database_allow", lambda docs: find_whole(docs, database_id))
        await self._plane.plan.wait("database_allow", str(database_id))

        def allow(documents: Documents) -> None:
            found = find_whole(documents, database_id)
            DATABASES.put(documents, replace(found, allow_list=networks))

        await self._plane.transact(allow)

    async def set_password(self, spec: DatabaseSpec) -> None:
        def change(documents: Documents) -> None:
            found = find_running(documents, spec.id)
            password = hash_token(spec.password).hex()
            changed = replace(found, username=spec.username, password=password, full=spec.full)
            DATABASES.put(documents, changed)

        await self._plane.begin("database_password", change)

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        def limit(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_running(documents, spec.id), full=spec.full))

        await self._plane.begin("database_limit", limit)

    async def free(self, database_id: int) -> None:
        await self._plane.begin("database_free", lambda docs: find_running(docs, database_id))

    async def back_up(self, database_id: int, backup_id: int, *, replica: bool) -> None:
        def begin(documents: Documents) -> bool:
            found = find_running(documents, database_id)
            if found.backups.get(backup_id) is not None:
                return True
            begun = found.backups | {backup_id: None}
            DATABASES.put(documents, replace(found, backups=begun))
            return False

        if await self._plane.begin("database_backup", begin):
            return
        await self._plane.plan.wait("database_backup", str(backup_id))

        def copy(documents: Documents) -> None:
            found = find_whole(documents, database_id)
            if backup_id in found.backups:
                DATABASES.put(documents, copied(found, backup_id, self._clock.now()))

        await self._plane.transact(copy)

    async def archive(self, database_id: int, most: int) -> None:
        def archive(documents: Documents) -> None:
            DATABASES.put(documents, trimmed(find_whole(documents, database_id)))

        await self._plane.begin("database_archive", archive)

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        def look(documents: Documents) -> str:
            content = find_whole(documents, spec.id).backups.get(backup_id)
            if content is None:
                raise EngineError("The backup is gone from the host")
            return content

        content = await self._plane.begin("database_restore", look)
        await self._plane.plan.wait("database_restore", str(spec.id))

        def put_back(documents: Documents) -> None:
            found = find_whole(documents, spec.id)
            DATABASES.put(documents, written(found, content, self._clock.now()))
            run(documents, spec)

        await self._plane.transact(put_back)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        def look(documents: Documents) -> None:
            if find_whole(documents, spec.id).backups.get(backup_id) is None:
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
        return None if found is None else state_of(found)

    async def list(self) -> list[DatabaseState]:
        return [state_of(each) for each in await self._plane.survey(self._all)]

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def shut_down(self) -> None:
        def stop(documents: Documents) -> None:
            for each in self._all(documents):
                DATABASES.put(documents, replace(each, running=False))

        await self._plane.survey(stop)

    async def close(self) -> None:
        self._plane.state.close()
