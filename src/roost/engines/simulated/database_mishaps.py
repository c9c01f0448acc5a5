"""What clients do with simulated databases, and the mishaps that befall them."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from ipaddress import ip_address, ip_network

from roost.clock import Clock
from roost.core.engine import EngineError
from roost.engines.simulated.database_records import find_running, find_whole
from roost.engines.simulated.moments import written
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import DATABASES, Database
from roost.engines.simulated.state import Documents
from roost.resources.databases.engine import KindName
from roost.secrets import hash_token


class DatabaseMishaps:
    """The part of a simulated data plane that tests play; it tells only whoever listens to it."""

    def __init__(self, plane: Plane, clock: Clock, kind: KindName) -> None:
        """`kind`: of the databases that it holds."""
        self._plane = plane
        self._kind = kind
        self._clock = clock
        self._found: asyncio.Queue[int] | None = None
        self._filled: asyncio.Queue[int] | None = None

    async def faults(self) -> AsyncGenerator[int, None]:
        found = self._found = asyncio.Queue[int]()
        try:
            while True:
                yield await found.get()
        finally:
            self._found = None

    async def fillings(self) -> AsyncGenerator[int, None]:
        filled = self._filled = asyncio.Queue[int]()
        try:
            while True:
                yield await filled.get()
        finally:
            self._filled = None

    async def admits(self, database_id: int, username: str, password: str, source: str) -> bool:
        """Whether a client at the address `source` can log in."""
        found = await self._find(database_id)
        if found is None or not found.running:
            return False
        known = (found.username, found.password) == (username, hash_token(password).hex())
        networks = (ip_network(each) for each in found.allow_list)
        return known and any(ip_address(source) in network for network in networks)

    async def write(self, database_id: int, content: str) -> None:
        """Change what is in a database, as a client would; "" removes it."""

        def write(documents: Documents) -> None:
            found = find_running(documents, database_id)
            if found.full and content:
                raise EngineError("The user may not write, as the disk is full")
            DATABASES.put(documents, written(found, content, self._clock.now()))

        await self._plane.transact(write)

    async def read(self, database_id: int) -> str:
        """What is in a database."""
        return await self._plane.transact(lambda docs: find_running(docs, database_id).content)

    async def lose_logs(self, database_id: int) -> None:
        """What was kept beside the backups vanishes."""

        def lose(documents: Documents) -> None:
            found = find_whole(documents, database_id)
            DATABASES.put(documents, replace(found, lost_logs=1, history=()))

        await self._plane.transact(lose)

    async def crash(self, database_id: int) -> None:
        """Its servers end without a word."""

        def crash(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_whole(documents, database_id), running=False))

        await self._plane.transact(crash)
        self._tell(database_id)

    async def lose_node(self, database_id: int) -> None:
        """One of its servers ends, the others go on."""

        def lose(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_running(documents, database_id), degraded=True))

        await self._plane.transact(lose)
        self._tell(database_id)

    async def fill(self, database_id: int, used: int) -> None:
        """Its data take so many MB; whoever listens is told, as if that were all of its disk."""

        def fill(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_whole(documents, database_id), used=used))

        await self._plane.transact(fill)
        if self._filled is not None:
            self._filled.put_nowait(database_id)

    async def outdate(self, database_id: int) -> None:
        """A newer release of its server is installed."""

        def outdate(documents: Documents) -> None:
            DATABASES.put(documents, replace(find_whole(documents, database_id), outdated=True))

        await self._plane.transact(outdate)

    async def lose(self, database_id: int) -> None:
        """All of it vanishes, as a folder would that somebody removes."""
        await self._plane.transact(lambda documents: DATABASES.remove(documents, database_id))

    def _tell(self, database_id: int) -> None:
        if self._found is not None:
            self._found.put_nowait(database_id)

    async def _find(self, database_id: int) -> Database | None:
        found = await self._plane.transact(lambda docs: DATABASES.find(docs, database_id))
        return found if found is None or found.kind == self._kind else None

    def _all(self, documents: Documents) -> list[Database]:
        return [each for each in DATABASES.all(documents) if each.kind == self._kind]
