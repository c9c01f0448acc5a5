"""Noticing servers that have ended or hang, without asking them for anything that costs."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

import structlog

from roost.engines.mariadb.folder import Folder, ids_in
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.server import Server
from roost.threads import DISK

_ENDED_SECONDS, _SILENT_SECONDS = 0.5, 1.0
"""Between two looks."""
_GREETING_SECONDS = 3.0
_SILENCES = 2
"""In a row, until a server counts as one that hangs: a busy host may be slow once."""

_log = structlog.get_logger(__name__)


class Faults:
    """The faults of the databases of one region."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._silences = Counter[Folder]()

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
            if any(Server(node).process() is None for node in nodes)
        }

    async def _silent(self) -> set[int]:
        """Those with a server that has not greeted anybody for a while."""
        served = await DISK.run(self._served)
        nodes = [node for each in served.values() for node in each]
        greeted = await asyncio.gather(*(_greets(node) for node in nodes))
        for node, well in zip(nodes, greeted, strict=True):
            self._silences[node] = 0 if well else self._silences[node] + 1
        hanging = {node for node, count in self._silences.items() if count >= _SILENCES}
        return {each for each, nodes in served.items() if hanging.intersection(nodes)}

    def _served(self) -> dict[int, list[Folder]]:
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


async def _greets(node: Folder) -> bool:
    """Whether the server says the first word, as it does to everybody; one that has ended is well
    here."""
    if Server(node).process() is None:
        return True
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(_GREETING_SECONDS):
            descriptor = os.open(node.path, os.O_PATH | os.O_CLOEXEC)
            try:
                # By the descriptor, as the path of a socket must be short.
                path = f"/proc/self/fd/{descriptor}/socket"
                reader, writer = await asyncio.open_unix_connection(path)
            finally:
                os.close(descriptor)
            try:
                await reader.readexactly(1)
                return True
            finally:
                writer.close()
    return False
