"""A database of one server."""

from roost.engines.databases.backups import settle, swap
from roost.engines.databases.host import port_of
from roost.engines.databases.keeping import unkept
from roost.engines.databases.single import SingleServer
from roost.engines.postgresql import backups, forks, users
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.logs import Logs, Way, save
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK


class Single(SingleServer[Folder]):
    def __init__(self, host: Host, folder: Folder) -> None:
        super().__init__(host, folder)
        self._host = host

    @property
    def _server(self) -> Server:
        return Server(self._folder)

    async def make(self, spec: DatabaseSpec, way: Way | None) -> None:
        """Empty or with what is at the way's end, without a server."""
        await self._server.stop()
        await self._host.give_port(self._folder)
        if way is None:
            await self._host.fill(self._folder, spec)
        else:
            await forks.fill(self._host, self._folder, spec, way)
        self._folder.complete()

    async def allow(self, database_id: int, networks: tuple[str, ...]) -> None:
        await self._guard(database_id, networks)
        if self._folder.access.exists():
            self._host.admit(self._folder, networks)
            await self._server.reload()

    async def set_password(self, spec: DatabaseSpec) -> None:
        await users.set_up(self._server, spec, shut_out=await users.is_over(self._folder, spec))

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        shut_out = await users.is_over(self._folder, spec)
        await users.limit_writes(self._server, spec, shut_out=shut_out)

    async def back_up(self, backup_id: int, *, replica: bool) -> None:
        await save(self._folder, self._folder, self._folder, backup_id)

    async def archive(self) -> None:
        """Of a server that is down, what there is since the last time is kept later on."""
        if self.runs():
            await Logs(self._folder).keep(self._folder)

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        await settle(self._folder)
        await backups.unpack(self._folder, self._folder.backup(backup_id))
        with unkept():
            await self.archive()
        histories = Logs(self._folder).histories()
        await DISK.finish(backups.put_back, self._folder.new_data, histories)
        await self._server.stop()
        await swap(self._folder, lambda: self._serve(spec), self._server.stop)
        await DISK.finish(backups.settle, self._folder.data)
        await DISK.finish(Logs(self._folder).begin_era, backup_id, self._folder.data)

    async def _serve(self, spec: DatabaseSpec) -> None:
        await self._guard(spec.id, spec.allow_list)
        if not self.runs():
            await self._host.configure(self._folder, spec)
            self._host.limits.put(self._folder, spec)
        await self._server.start()
        await self._server.led()
        await self.allow(spec.id, spec.allow_list)
        await self.set_password(spec)

    async def _guard(self, database_id: int, networks: tuple[str, ...]) -> None:
        await self._host.firewall.allow(database_id, port_of(self._folder), networks)
