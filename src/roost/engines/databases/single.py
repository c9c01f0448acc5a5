"""A database of one server, whichever program it is."""

from abc import ABC, abstractmethod
from typing import Generic

from roost.engines.databases.backups import settle
from roost.engines.databases.host import F, ServerHost
from roost.engines.databases.keeping import unkept
from roost.engines.databases.server import Server
from roost.resources.databases.engine import DatabaseSpec


class SingleServer(ABC, Generic[F]):
    """Whoever calls it holds the folder."""

    def __init__(self, host: ServerHost[F], folder: F) -> None:
        self._servers = host
        self._folder = folder

    @property
    @abstractmethod
    def _server(self) -> Server: ...

    @abstractmethod
    async def _serve(self, spec: DatabaseSpec) -> None:
        """Nobody reaches the server before its allow list is in force."""

    @abstractmethod
    async def archive(self) -> None:
        """Keep the logs of a running server; those of one that is down are kept later on."""

    @property
    def primary(self) -> F:
        return self._folder

    def runs(self) -> bool:
        return self._server.process() is not None

    async def is_sound(self) -> bool:
        """True, as there are no replicas that could have stopped."""
        return True

    async def serve(self, spec: DatabaseSpec) -> bool:
        """True, as there is no other node that could have been in time."""
        await settle(self._folder)
        await self._serve(spec)
        return True

    async def rebuild(self, spec: DatabaseSpec) -> None:
        """There is nothing beside the server."""

    async def restart(self, spec: DatabaseSpec) -> None:
        await settle(self._folder)
        await self._server.stop()
        await self.serve(spec)

    async def stop(self) -> None:
        await self._server.stop()

    async def free(self) -> None:
        with unkept():
            await self.archive()

    async def prepare_replicas(self) -> None:
        """There is nobody who would have to know anything."""

    async def forget(self, database_id: int) -> None:
        """The host's packet filter knows nothing of it any more."""
        if (port := self._folder.port) is not None:
            await self._servers.firewall.forget(database_id, port)
