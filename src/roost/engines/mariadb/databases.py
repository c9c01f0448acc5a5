"""Managed databases as MariaDB servers of this host, one for each."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from roost.certificates import Authority
from roost.core.engine import EngineError, Health
from roost.engines.listeners import Listener, free_tcp_port, is_free
from roost.engines.locks import locked
from roost.engines.mariadb import backups
from roost.engines.mariadb.config import render
from roost.engines.mariadb.firewall import Firewall
from roost.engines.mariadb.folder import Folder, ids_in
from roost.engines.mariadb.server import Server, owner
from roost.engines.mariadb.template import Template
from roost.engines.mariadb.users import statements
from roost.resources.databases.engine import (
    Access,
    DatabaseShape,
    DatabaseSpec,
    DatabaseState,
    Objection,
)
from roost.threads import COMPUTING, DISK

_PORT_TRIES = 100


class MariadbDatabases:
    """A DatabaseEngine of single nodes."""

    name = "mariadb"

    def __init__(self, root: Path, version: str, listen: str, host: str) -> None:
        """`version`: of the programs; servers bind to the address `listen`; clients call `host`."""
        self._root = root.absolute()
        self._version = version
        self._listen = listen
        self._host = host
        self._firewall = Firewall(self._root)
        self._authority = Authority(self._root, "Roost Managed Databases")
        self._template = Template(self._root, version)

    def objection(self, shape: DatabaseShape) -> Objection | None:
        if shape.server != "mariadb" or not _begins(self._version, shape.version):
            return Objection("engine", f"The region has MariaDB {self._version} only")
        if shape.cluster_size != 1:
            return Objection("cluster_size", "The region has single nodes only")
        if shape.encrypted:
            return Objection("encrypted", "The region has no encryption of data at rest")
        return None

    async def create(self, spec: DatabaseSpec) -> Access:
        folder = self._folder(spec.id)
        folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        async with locked(folder.path):
            if not folder.whole:
                await self._fill(folder, spec)
            await self._serve(folder, spec)
            return self._access(folder)

    async def ensure(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as folder:
            await self._settle_data(folder)
            await self._serve(folder, spec)

    async def restart(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as folder:
            await self._settle_data(folder)
            await Server(folder).stop()
            await self._serve(folder, spec)

    async def set_allow_list(self, database_id: int, networks: tuple[str, ...]) -> None:
        async with self._holding(database_id) as folder:
            await self._firewall.allow(database_id, _port(folder), networks)

    async def set_password(self, spec: DatabaseSpec) -> None:
        async with self._holding(spec.id) as folder:
            await _set_password(folder, spec)

    async def back_up(self, database_id: int, backup_id: int, *, replica: bool) -> None:
        async with self._holding(database_id) as folder:
            await backups.save(folder, Server(folder), backup_id)

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        async with self._holding(spec.id) as folder:
            await self._settle_data(folder)
            await backups.unpack(folder, backup_id)
            await Server(folder).stop()
            folder.data.rename(folder.former_data)
            folder.new_data.rename(folder.data)
            try:
                await self._serve(folder, spec)
            except EngineError:
                await Server(folder).stop()
                await DISK.finish(_put_back, folder)
                await self._serve(folder, spec)
                raise
            await DISK.finish(_remove, folder.former_data)

    async def delete_backup(self, database_id: int, backup_id: int) -> None:
        await DISK.run(backups.discard, self._folder(database_id), backup_id)

    async def delete(self, database_id: int) -> None:
        folder = self._folder(database_id)
        if folder.path.is_dir():
            async with locked(folder.path):
                await Server(folder).stop()
                if (port := folder.port) is not None:
                    await self._firewall.forget(database_id, port)
                await DISK.run(folder.remove)
        else:
            await DISK.run(folder.remove)

    async def inspect(self, database_id: int) -> DatabaseState | None:
        folder = self._folder(database_id)
        if not folder.path.is_dir() and not folder.backups.is_dir():
            return None
        return await self._state(database_id, await self._firewall.guarded())

    async def list(self) -> list[DatabaseState]:
        ids = await DISK.run(ids_in, self._root)
        guarded = await self._firewall.guarded() if ids else frozenset()
        return [await self._state(each, guarded) for each in ids]

    async def health(self) -> Health:
        problem = await self._firewall.problem()
        return Health(problem is None, problem or f"MariaDB {self._version}")

    async def shut_down(self) -> None:
        ids = await DISK.run(ids_in, self._root)
        folders = [self._folder(each) for each in ids]
        await asyncio.gather(*(Server(folder).stop() for folder in folders))
        await self._firewall.remove()

    async def close(self) -> None:
        """Servers go on without us."""

    def _folder(self, database_id: int) -> Folder:
        return Folder.of(self._root, database_id)

    @asynccontextmanager
    async def _holding(self, database_id: int) -> AsyncIterator[Folder]:
        """Of a database that is whole. EngineError when it is gone."""
        folder = self._folder(database_id)
        gone = EngineError(f"The data of database {database_id} do not exist")
        if not folder.whole:
            raise gone
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(locked(folder.path))
            except FileNotFoundError as error:
                raise gone from error
            yield folder

    async def _fill(self, folder: Folder, spec: DatabaseSpec) -> None:
        """An empty database without a server."""
        await Server(folder).stop()
        os.chown(folder.path, *owner())
        await self._template.copy(folder.data)
        if folder.port is None:
            async with locked(self._root):
                folder.set_port(await DISK.run(self._free_port))
        folder.complete()

    async def _serve(self, folder: Folder, spec: DatabaseSpec) -> None:
        """Nobody reaches the server before its allow list is in force."""
        port, server = _port(folder), Server(folder)
        await self._firewall.allow(spec.id, port, spec.allow_list)
        if server.process() is None:
            async with locked(self._root):
                await COMPUTING.run(self._authority.ensure)
            names = tuple(dict.fromkeys((self._host, self._listen)))
            await COMPUTING.run(self._authority.issue, folder.path / "tls", names, owner())
            folder.files.mkdir(mode=0o700, exist_ok=True)
            folder.configuration.write_text(render(spec, self._listen, port))
            folder.set_version(self._version)
        await server.start()
        await _set_password(folder, spec)

    async def _settle_data(self, folder: Folder) -> None:
        """What a restore has left behind that was killed."""
        if folder.former_data.is_dir() and not folder.data.is_dir():
            folder.former_data.rename(folder.data)
        await DISK.finish(_remove, folder.new_data)
        if folder.former_data.is_dir():
            await DISK.finish(_remove, folder.former_data)

    async def _state(self, database_id: int, guarded: frozenset[int]) -> DatabaseState:
        folder = self._folder(database_id)
        runs = Server(folder).process() is not None
        return DatabaseState(
            id=database_id,
            whole=folder.whole and folder.data.is_dir(),
            running=runs and database_id in guarded,
            used=await DISK.run(folder.used),
            outdated=folder.version not in ("", self._version),
            backups=await DISK.run(folder.backup_ids),
        )

    def _access(self, folder: Folder) -> Access:
        certificate = self._authority.ensure()
        return Access(self._host, None, _port(folder), certificate)

    def _free_port(self) -> int:
        """One that no other database has, also while that is down."""
        taken = {self._folder(each).port for each in ids_in(self._root)}
        for _ in range(_PORT_TRIES):
            port = free_tcp_port()
            if port not in taken and is_free(Listener(self._listen, port)):
                return port
        raise EngineError("No port is free for the database")


async def _set_password(folder: Folder, spec: DatabaseSpec) -> None:
    await Server(folder).execute("The password could not be set", statements(spec))


def _port(folder: Folder) -> int:
    port = folder.port
    if port is None:
        raise EngineError("The port of the database is not known")
    return port


def _put_back(folder: Folder) -> None:
    """The restored data are of no use. A kill leaves the former ones, or those in their place."""
    folder.data.rename(folder.new_data)
    folder.former_data.rename(folder.data)
    _remove(folder.new_data)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)


def _begins(version: str, wanted: str) -> bool:
    """Whether `10.11.19` is a `10.11`."""
    parts = wanted.split(".")
    return version.split(".")[: len(parts)] == parts
