"""Noticing servers that have ended or hang, without asking them for anything that costs."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic

import structlog

from roost.engines.databases.folder import ids_in
from roost.engines.databases.host import F, ServerHost
from roost.engines.databases.server import Server
from roost.threads import DISK

_ENDED_SECONDS, _SILENT_SECONDS = 0.5, 1.0
"""Between two looks."""
_SILENCES = 2
"""In a row, until a server counts as one that hangs: a busy host may be slow once."""

_log = structlog.get_logger(__name__)


class Faults(Generic[F]):
    """The faults of the databases of one region."""

    def __init__(self, host: ServerHost[F], server: Callable[[F], Server]) -> None:
        self._host = host
        self._server = server
        self._silences = Counter[F]()

    async def listen(self) -> AsyncGenerator[int, None]:
        """The ids of databases that lose a server, once each time."""
        found = asyncio.Queue[int]()
        tasks = (
            asyncio.create_task(_repeat(self._ended, _ENDED_SECONDS, found)),
            asyncio.create_task(_repeat(self._silent, _SILENT_SECONDS, found)),
        )
        try:
            while True:
                yield await found.get()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ended(self) -> set[int]:
        return await DISK.run(self._without_servers)

    def _without_servers(self) -> set[int]:
        return {
            database_id
            for database_id, nodes in self._served().items()
            if any(self._server(node).process() is None for node in nodes)
        }

    async def _silent(self) -> set[int]:
        """Those with a server that has not greeted anybody for a while."""
        served = await DISK.run(self._served)
        nodes = [node for each in served.values() for node in each]
        greeted = await asyncio.gather(*(self._server(node).greets() for node in nodes))
        for node, well in zip(nodes, greeted, strict=True):
            self._silences[node] = 0 if well else self._silences[node] + 1
        hanging = {node for node, count in self._silences.items() if count >= _SILENCES}
        return {each for each, nodes in served.items() if hanging.intersection(nodes)}

    def _served(self) -> dict[int, list[F]]:
        """Nodes that have been started, by database."""
        folders = {each: self._host.folder(each) for each in ids_in(self._host.root)}
        return {
            each: [node for node in folder.nodes() if node.pid_file.exists()]
            for each, folder in folders.items()
            if folder.whole
        }


async def _repeat(
    look: Callable[[], Awaitable[set[int]]], seconds: float, found: "asyncio.Queue[int]"
) -> None:
    told = set[int]()
    while True:
        try:
            faulty = await look()
        except OSError as error:  # A database is being deleted.
            _log.info("databases_not_looked_at", error=str(error))
        else:
            for database_id in sorted(faulty - told):
                found.put_nowait(database_id)
            told = faulty
        await asyncio.sleep(seconds)
