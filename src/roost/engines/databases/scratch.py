"""A server beside all others that shows whether a backup is of any use."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic

from roost.core.engine import EngineError
from roost.engines.databases.backups import remove
from roost.engines.databases.host import F, ServerHost
from roost.engines.databases.server import Server
from roost.engines.locks import locked
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

VERIFYING = "The backup could not be verified"


class Scratch(ABC, Generic[F]):
    """Verifies the backups of one database, one at a time."""

    memory: ClassVar[int] = 128
    """MB that its server is configured for."""

    def __init__(self, host: ServerHost[F], database_id: int) -> None:
        self._database = host.folder(database_id)
        path = host.root / "checks" / self._database.path.name
        self._folder = type(self._database)(path, self._database.backups)

    @property
    @abstractmethod
    def _server(self) -> Server: ...

    @abstractmethod
    async def _restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Let the server serve the backup; neither it nor data of its own are there."""

    @abstractmethod
    async def _check(self) -> None:
        """All that is in it can be read. Raises EngineError."""

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Raises EngineError when the backup cannot be restored."""
        self._folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        try:
            async with locked(self._folder.path):
                try:
                    await self._server.stop()
                    await DISK.finish(remove, self._folder.data)
                    await self._restore(spec, backup_id)
                    await self._check()
                finally:
                    await self._clear()
        except FileNotFoundError as error:
            raise EngineError(f"{VERIFYING}: another verification has just ended") from error

    async def tidy(self) -> None:
        """Nothing is left of what somebody began who was killed."""
        if self._folder.path.is_dir():
            async with locked(self._folder.path):
                await self._clear()

    async def stop(self) -> None:
        await self._server.stop()

    async def _clear(self) -> None:
        await self._server.stop()
        await DISK.finish(remove, self._folder.path)
