"""Managed databases as servers of this host: one for each, or three in a cluster.

What a program has of its own it says in a subclass: its servers, its nodes, its logs of writes.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from roost.core.engine import EngineError, Health
from roost.engines.databases import backups
from roost.engines.databases.faults import Faults
from roost.engines.databases.fillings import Fillings
from roost.engines.databases.folder import Folder, ids_in
from roost.engines.databases.host import F, ServerHost, port_of
from roost.engines.databases.keeping import Account
from roost.engines.databases.server import Server
from roost.engines.locks import locked
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

W = TypeVar("W")
"""How a moment of a database is reached."""
F_co = TypeVar("F_co", bound=Folder, covariant=True)
W_co = TypeVar("W_co", covariant=True)
W_contra = TypeVar("W_contra", contravariant=True)


class Nodes(Protocol[F_co, W_contra]):
    """The servers of one database. Whoever calls it holds the folder."""

    @property
    def primary(self) -> F_co:
        """The folder of the node that takes writes."""

    def runs(self) -> bool:
        """Whether all nodes do."""

    async def is_sound(self) -> bool:
        """Whether no replica has stopped on an error."""

    async def make(self, spec: DatabaseSpec, way: W_contra | None) -> None:
        """Empty or with what is at the way's end, without a server."""

    async def serve(self, spec: DatabaseSpec) -> bool:
        """As `DatabaseEngine.ensure` says."""

    async def rebuild(self, spec: DatabaseSpec) -> None: ...

    async def restart(self, spec: DatabaseSpec) -> None: ...

    async def stop(self) -> None: ...

    async def allow(self, database_id: int, networks: tuple[str, ...]) -> None: ...

    async def set_password(self, spec: DatabaseSpec) -> None: ...

    async def limit_writes(self, spec: DatabaseSpec) -> None: ...

    async def free(self) -> None: ...

    async def back_up(self, backup_id: int, *, replica: bool) -> None: ...

    async def archive(self) -> None:
        """Keep what was written; of a server that is down, later on."""

    async def prepare_replicas(self) -> None:
        """Replicas know what they must before one of them leads."""

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None: ...

    async def forget(self, database_id: int) -> None:
        """The host's packet filter knows nothing of it any more."""


class Logs(Protocol[W_co]):
    """What a database has written since its backups were made."""

    def way_to(self, moment: datetime) -> W_co:
        """Raises EngineError where there is none."""

    def account(self) -> Account: ...

    def prune(self) -> None:
        """Remove what no backup needs. Nobody has to hold the folder."""

    def trim(self, most: int) -> None:
        """Remove what no backup needs, and the oldest when all take more than so many MB."""


class Scratch(Protocol):
    """A server beside all others that shows whether a backup is of any use."""

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Raises EngineError when the backup cannot be restored."""

    async def tidy(self) -> None:
        """Nothing is left of what somebody began who was killed."""

    async def stop(self) -> None: ...


class DatabaseServers(ABC, Generic[F, W]):
    """A DatabaseEngine."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The program, for people."""

    def __init__(self, host: ServerHost[F]) -> None:
        self._servers = host
        self._faults = Faults(host, self._server)
        self._fillings = Fillings(host.root, self._primary)

    @property
    @abstractmethod
    def release(self) -> str:
        """That of the program, or those, that is installed."""

    @abstractmethod
    def objection(self, shape: DatabaseShape) -> Objection | None: ...

    @abstractmethod
    def _server(self, node: F) -> Server: ...

    @abstractmethod
    def _nodes(self, folder: F, *, clustered: bool) -> Nodes[F, W]: ...

    @abstractmethod
    def _logs(self, folder: F) -> Logs[W]: ...

    @abstractmethod
    def _scratch(self, database_id: int) -> Scratch: ...

    @abstractmethod
    def _take(self, way: W, source: F, target: F) -> W:
        """Let the target have files that nobody takes away any more."""

    @abstractmethod
    def _clear(self, folder: F) -> None:
        """What was taken is of no use any more."""

    @abstractmethod
    def _outdated(self, node: F) -> bool:
        """Whether a newer release of its server is installed than the one that runs."""

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        return self._servers.addresses.hosts(database_id, cluster_size)

    async def create(self, spec: DatabaseSpec, fork: Fork | None = None) -> Access:
        folder = self._servers.folder(spec.id)
        folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        async with locked(folder.path):
            nodes = self._nodes(folder, clustered=spec.shape.cluster_size > 1)
            if not folder.whole:
                way = None if fork is None else await self._way(fork, folder)
                await nodes.make(spec, way)
                await DISK.finish(self._clear, folder)
            await nodes.serve(spec)
            await nodes.rebuild(spec)
            hosts = self.hosts(spec.id, spec.shape.cluster_size)
            return Access(hosts, port_of(folder), self._servers.certificate)

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
            await DISK.finish(self._logs(self._servers.folder(database_id)).trim, most)
            await nodes.prepare_replicas()

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        async with self._holding(spec.id) as nodes:
            await nodes.restore(spec, backup_id)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        await self._scratch(spec.id).verify(spec, backup_id)

    async def tidy(self, database_id: int) -> None:
        await self._scratch(database_id).tidy()

    async def delete_backup(self, database_id: int, backup_id: int) -> None:
        folder = self._servers.folder(database_id)
        await DISK.finish(backups.discard, folder, backup_id)
        await DISK.finish(self._logs(folder).prune)

    async def delete(self, database_id: int) -> None:
        folder = self._servers.folder(database_id)
        if folder.path.is_dir():
            async with locked(folder.path):
                nodes = self._of(folder)
                await nodes.stop()
                await nodes.forget(database_id)
                self._servers.limit_no_more(folder)
                await DISK.run(folder.remove)
        else:
            await DISK.run(folder.remove)

    async def inspect(self, database_id: int) -> DatabaseState | None:
        folder = self._servers.folder(database_id)
        if not folder.path.is_dir() and not folder.backups.is_dir():
            return None
        return await self._state(database_id, await self._servers.firewall.guarded())

    async def list(self) -> list[DatabaseState]:
        await self._servers.refresh()
        ids = await DISK.run(ids_in, self._servers.root)
        guarded = await self._servers.firewall.guarded() if ids else frozenset()
        return [await self._state(each, guarded) for each in ids]

    def faults(self) -> AsyncGenerator[int, None]:
        return self._faults.listen()

    def fillings(self) -> AsyncGenerator[int, None]:
        return self._fillings.listen()

    async def health(self) -> Health:
        problem = await self._servers.firewall.problem()
        return Health(problem is None, problem or f"{self.title} {self.release}")

    async def shut_down(self) -> None:
        ids = await DISK.run(ids_in, self._servers.root)
        folders = [self._servers.folder(each) for each in ids]
        await asyncio.gather(*(self._of(folder).stop() for folder in folders))
        await asyncio.gather(*(self._scratch(each).stop() for each in ids))
        await self._servers.firewall.remove()
        for folder in folders:
            self._servers.limit_no_more(folder)

    async def close(self) -> None:
        """Servers go on without us."""

    async def _way(self, fork: Fork, target: F) -> W:
        """What the fork is made of, of its own."""
        async with self._holding(fork.source) as nodes:
            await nodes.archive()
            source = self._servers.folder(fork.source)
            way = await DISK.run(self._logs(source).way_to, fork.moment)
            return await DISK.finish(self._take, way, source, target)

    def _primary(self, database_id: int) -> Folder:
        return self._of(self._servers.folder(database_id)).primary

    def _of(self, folder: F) -> Nodes[F, W]:
        return self._nodes(folder, clustered=folder.clustered)

    @asynccontextmanager
    async def _holding(self, database_id: int) -> AsyncIterator[Nodes[F, W]]:
        """Hold a database that is whole. EngineError when it is gone."""
        folder = self._servers.folder(database_id)
        gone = EngineError(f"The data of database {database_id} do not exist")
        if not folder.whole:
            raise gone
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(locked(folder.path))
            except FileNotFoundError as error:
                raise gone from error
            yield self._of(folder)

    async def _state(self, database_id: int, guarded: frozenset[int]) -> DatabaseState:
        folder = self._servers.folder(database_id)
        nodes, logs = self._of(folder), await DISK.run(self._logs(folder).account)
        return DatabaseState(
            id=database_id,
            whole=folder.whole and nodes.primary.data.is_dir(),
            running=nodes.runs() and database_id in guarded and await nodes.is_sound(),
            used=await DISK.run(nodes.primary.used),
            temporary=await DISK.run(nodes.primary.used_temporarily),
            outdated=self._outdated(nodes.primary),
            backups=await DISK.run(folder.backup_ids),
            oldest_moment=logs.oldest,
            lost_logs=logs.lost,
            spare_logs=logs.spare,
        )


def begins(version: str, wanted: str) -> bool:
    """Whether a version is one of those that are wanted: `10.11.19` is a `10.11`."""
    parts = wanted.split(".")
    return version.split(".")[: len(parts)] == parts
