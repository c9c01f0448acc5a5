"""A server beside all others that shows whether a backup is of any use."""

from dataclasses import replace

from roost.engines.databases import scratch
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.programs import PATIENT
from roost.engines.databases.scratch import VERIFYING
from roost.engines.postgresql import backups
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.server import Server, run_within
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_NO_PORT = 5432
"""Nobody listens there; the socket is called so."""
_SETTINGS: dict[str, object] = {
    "listen_addresses": "",
    "archive_mode": "off",
    "autovacuum": "off",
    "hot_standby": "off",
}


class Scratch(scratch.Scratch[Folder]):
    """With shared buffers of a small plan."""

    def __init__(self, host: Host, database_id: int) -> None:
        super().__init__(host, database_id)
        self._host = host

    @property
    def _server(self) -> Server:
        return Server(self._folder, PATIENT)

    async def _restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        await backups.unpack(self._folder, self._database.backup(backup_id), PATIENT)
        await DISK.finish(backups.put_back, self._folder.new_data, ())
        self._folder.new_data.rename(self._folder.data)
        self._folder.set_port(_NO_PORT)
        await self._host.configure(self._folder, replace(spec, memory=self.memory), _SETTINGS)
        await self._server.start()

    async def _check(self) -> None:
        """All pages of all tables and indexes are as they were written."""
        await self._server.stop()
        checking = ("--check", f"--pgdata={INSIDE / self._folder.data.name}")
        await run_within(VERIFYING, self._folder, self._folder.major, "pg_checksums", *checking)
