"""A database of one server."""

import os

from pydantic import SecretStr

from roost.engines.databases.backups import settle, swap
from roost.engines.databases.host import port_of
from roost.engines.databases.keeping import unkept
from roost.engines.databases.single import SingleServer
from roost.engines.mariadb import backups, forks
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.logs import Logs, Way, save
from roost.engines.mariadb.server import Server, owner
from roost.engines.mariadb.system_tables import load_time_zones
from roost.engines.mariadb.users import limit_writes, statements
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK


class Single(SingleServer[Folder]):
    def __init__(self, host: Host, folder: Folder) -> None:
        super().__init__(host, folder)
        self._host = host

    @property
    def _server(self) -> Server:
        return Server(self._folder)

    @property
    def _key(self) -> SecretStr | None:
        """The key of encrypted data."""
        return self._host.keys.of(self._folder)

    async def make(self, spec: DatabaseSpec, way: Way | None) -> None:
        """Empty or with what is at the way's end, without a server."""
        await self._server.stop()
        os.chown(self._folder.path, *owner())
        await self._host.give_port(self._folder)
        if way is None:
            await self._host.fill(self._folder, self._folder, encrypted=spec.shape.encrypted)
        else:
            await forks.fill(self._host, self._folder, spec, way, self._key, None)
        self._folder.complete()

    async def allow(self, database_id: int, networks: tuple[str, ...]) -> None:
        await self._host.firewall.allow(database_id, port_of(self._folder), networks)

    async def set_password(self, spec: DatabaseSpec) -> None:
        await self._server.execute("The password could not be set", statements(spec))

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        await limit_writes(self._server, spec)

    async def back_up(self, backup_id: int, *, replica: bool) -> None:
        await save(self._folder, self._folder, self._folder, backup_id)

    async def archive(self) -> None:
        """Keep the logs of a running server; those of one that is down are kept later on."""
        if self.runs():
            await Logs(self._folder).keep(self._folder, purge=True)

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        await settle(self._folder)
        await backups.unpack(self._folder, self._folder.backup(backup_id), self._key)
        with unkept():
            await self.archive()
        await self._server.stop()
        await swap(self._folder, lambda: self._serve(spec), self._server.stop)
        await DISK.finish(Logs(self._folder).begin_era, backup_id)

    async def _serve(self, spec: DatabaseSpec) -> None:
        await self.allow(spec.id, spec.allow_list)
        if not self.runs():
            await self._host.configure(self._folder, spec, port_of(self._folder))
            self._host.limits.put(self._folder, spec)
        await self._server.start(self._key)
        await self.set_password(spec)
        await load_time_zones(self._server)
