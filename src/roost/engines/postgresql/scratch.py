"""A server beside all others that shows whether a backup is of any use."""

from dataclasses import replace

from roost.core.engine import EngineError
from roost.engines.databases.backups import remove
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.programs import PATIENT
from roost.engines.locks import locked
from roost.engines.postgresql import backups
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.server import Server, run_within
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_DOING = "The backup could not be verified"
_MEMORY = 128
"""MB"""
_NO_PORT = 5432
"""Nobody listens there; the socket is called so."""
_SETTINGS: dict[str, object] = {"listen_addresses": "", "archive_mode": "off", "autovacuum": "off"}


class Scratch:
    """Verifies the backups of one database, one at a time."""

    def __init__(self, host: Host, database_id: int) -> None:
        self._host = host
        self._database = host.folder(database_id)
        path = host.root / "checks" / self._database.path.name
        self._folder = Folder(path, self._database.backups)
        self._server = Server(self._folder, PATIENT)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Raises EngineError when the backup cannot be restored."""
        self._folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        try:
            async with locked(self._folder.path):
                try:
                    await self._restore(spec, backup_id)
                    await self._check()
                finally:
                    await self._clear()
        except FileNotFoundError as error:
            raise EngineError(f"{_DOING}: another verification has just ended") from error

    async def tidy(self) -> None:
        """Nothing is left of what somebody began who was killed."""
        if self._folder.path.is_dir():
            async with locked(self._folder.path):
                await self._clear()

    async def stop(self) -> None:
        await self._server.stop()

    async def _restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        await self._server.stop()
        await DISK.finish(remove, self._folder.data)
        await backups.unpack(self._folder, self._database.backup(backup_id), PATIENT)
        self._folder.new_data.rename(self._folder.data)
        self._folder.set_port(_NO_PORT)
        await self._host.configure(self._folder, replace(spec, memory=_MEMORY), _SETTINGS)
        await self._server.start()

    async def _check(self) -> None:
        """All pages of all tables and indexes are as they were written."""
        await self._server.stop()
        checking = ("--check", f"--pgdata={INSIDE / self._folder.data.name}")
        await run_within(_DOING, self._folder, self._folder.major, "pg_checksums", *checking)

    async def _clear(self) -> None:
        await self._server.stop()
        await DISK.finish(remove, self._folder.path)
