"""Managed databases as MariaDB servers of this host: one for each, or three in a cluster."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from roost.core.engine import EngineError, Health
from roost.engines.locks import locked
from roost.engines.mariadb import backups, forks
from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.faults import Faults
from roost.engines.mariadb.fillings import Fillings
from roost.engines.mariadb.folder import Folder, ids_in
from roost.engines.mariadb.host import Addresses, Host, port_of
from roost.engines.mariadb.logs import Logs, Way
from roost.engines.mariadb.scratch import Scratch
from roost.engines.mariadb.single import Single
from roost.resources.databases.engine import (
    Access,
    DatabaseShape,
    DatabaseSpec,
    DatabaseState,
    Fork,
    Hosts,
    Objection,
)
from roost.threads import DISK

Nodes = Single | Cluster


class MariadbDatabases:
    """A DatabaseEngine."""

    name = "mariadb"

    def __init__(self, root: Path, version: str, addresses: Addresses, key_file: Path) -> None:
        """`version`: of the programs; `key_file`: what seals those of encrypted data."""
        self._host = Host(root, version, addresses, key_file)
        self._faults = Faults(self._host)
        self._fillings = Fillings(self._host.root, self._primary)

    def objection(self, shape: DatabaseShape) -> Objection | None:
        version = self._host.version
        if shape.server != "mariadb" or not _begins(version, shape.version):
            return Objection("engine", f"The region has MariaDB {version} only")
        if shape.cluster_size != 1 and not self._host.addresses.can_forward:
            return Objection("cluster_size", "The region has single nodes only")
        return None

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        return self._host.addresses.hosts(database_id, cluster_size)

    async def create(self, spec: DatabaseSpec, fork: Fork | None = None) -> Access:
        folder = self._host.folder(spec.id)
        folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        async with locked(folder.path):
            clustered = spec.shape.cluster_size > 1
            nodes = Cluster(self._host, folder) if clustered else Single(self._host, folder)
            if not folder.whole:
                way = None if fork is None else await self._take(fork, folder)
                await nodes.make(spec, way)
                await DISK.finish(forks.clear, folder)
            await nodes.serve(spec)
            await nodes.rebuild(spec)
            hosts = self.hosts(spec.id, spec.shape.cluster_size)
            return Access(hosts, port_of(folder), self._host.certificate)

    async def ensure(self, spec: DatabaseSpec) -> bool:
        async with self._holding(spec.id) as nodes:
            return await nodes.serve(spec)

    async def rebuild(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.rebuild(spec)

    async def rest(self, database_id: int) -> None:
        async with self._holding(database_id) as nodes:
            await nodes.stop()

    async def restart(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.restart(spec)

    async def set_allow_list(self, database_id: int, networks: tuple[str, ...]) -> None:
        async with self._holding(database_id) as nodes:
            await nodes.allow(database_id, networks)

    async def set_password(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.set_password(spec)

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.limit_writes(spec)

    async def free(self, database_id: int) -> None:
        async with self._holding(database_id) as nodes:
            await nodes.free()

    async def back_up(self, database_id: int, backup_id: int, *, replica: bool) -> None:
        async with self._holding(database_id) as nodes:
            await nodes.back_up(backup_id, replica=replica)

    async def archive(self, database_id: int, most: int) -> None:
        async with self._holding(database_id) as nodes:
            await nodes.archive()
            await DISK.finish(Logs(self._host.folder(database_id)).trim, most)
            await nodes.copy_events()

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.restore(spec, backup_id)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        await Scratch(self._host, spec.id).verify(spec, backup_id)

    async def tidy(self, database_id: int) -> None:
        await Scratch(self._host, database_id).tidy()

    async def delete_backup(self, database_id: int, backup_id: int) -> None:
        folder = self._host.folder(database_id)
        await DISK.finish(backups.discard, folder, backup_id)
        await DISK.finish(Logs(folder).prune)

    async def delete(self, database_id: int) -> None:
        folder = self._host.folder(database_id)
        if folder.path.is_dir():
            async with locked(folder.path):
                nodes = self._nodes(folder)
                await nodes.stop()
                await nodes.forget(database_id)
                self._host.limit_no_more(folder)
                await DISK.run(folder.remove)
        else:
            await DISK.run(folder.remove)

    async def inspect(self, database_id: int) -> DatabaseState | None:
        folder = self._host.folder(database_id)
        if not folder.path.is_dir() and not folder.backups.is_dir():
            return None
        return await self._state(database_id, await self._host.firewall.guarded())

    async def list(self) -> list[DatabaseState]:
        ids = await DISK.run(ids_in, self._host.root)
        guarded = await self._host.firewall.guarded() if ids else frozenset()
        return [await self._state(each, guarded) for each in ids]

    def faults(self) -> AsyncGenerator[int, None]:
        return self._faults.listen()

    def fillings(self) -> AsyncGenerator[int, None]:
        return self._fillings.listen()

    async def health(self) -> Health:
        problem = await self._host.firewall.problem()
        return Health(problem is None, problem or f"MariaDB {self._host.version}")

    async def shut_down(self) -> None:
        ids = await DISK.run(ids_in, self._host.root)
        folders = [self._host.folder(each) for each in ids]
        await asyncio.gather(*(self._nodes(folder).stop() for folder in folders))
        await asyncio.gather(*(Scratch(self._host, each).stop() for each in ids))
        await self._host.firewall.remove()
        for folder in folders:
            self._host.limit_no_more(folder)

    async def close(self) -> None:
        """Servers go on without us."""

    async def _take(self, fork: Fork, target: Folder) -> Way:
        """What the fork is made of, of its own."""
        async with self._holding(fork.source) as nodes:
            await nodes.archive()
            source = self._host.folder(fork.source)
            way = await DISK.run(Logs(source).way_to, fork.moment)
            return await DISK.finish(forks.take, way, source, target)

    def _primary(self, database_id: int) -> Folder:
        return self._nodes(self._host.folder(database_id)).primary

    def _nodes(self, folder: Folder) -> Nodes:
        return Cluster(self._host, folder) if folder.clustered else Single(self._host, folder)

    @asynccontextmanager
    async def _holding(self, database_id: int) -> AsyncIterator[Nodes]:
        """The nodes of a whole database, whose folder is held. EngineError when it is gone."""
        folder = self._host.folder(database_id)
        gone = EngineError(f"The data of database {database_id} do not exist")
        if not folder.whole:
            raise gone
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(locked(folder.path))
            except FileNotFoundError as error:
                raise gone from error
            yield self._nodes(folder)

    async def _state(self, database_id: int, guarded: frozenset[int]) -> DatabaseState:
        folder = self._host.folder(database_id)
        nodes, logs = self._nodes(folder), await DISK.run(Logs(folder).account)
        return DatabaseState(
            id=database_id,
            whole=folder.whole and nodes.primary.data.is_dir(),
            running=nodes.runs() and database_id in guarded and await nodes.is_sound(),
            used=await DISK.run(nodes.primary.used),
            temporary=await DISK.run(nodes.primary.used_temporarily),
            outdated=nodes.primary.version not in ("", self._host.version),
            backups=await DISK.run(folder.backup_ids),
            oldest_moment=logs.oldest,
            lost_logs=logs.lost,
            spare_logs=logs.spare,
        )


def _begins(version: str, wanted: str) -> bool:
    """Whether `10.11.19` is a `10.11`."""
    parts = wanted.split(".")
    return version.split(".")[: len(parts)] == parts
