"""Clients of PostgreSQL that write all the time, and connect again as soon as they can."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

GONE = (
    *(OSError, TimeoutError, asyncpg.PostgresError),
    *(asyncpg.InterfaceError, asyncpg.InternalClientError),
)
"""What a client says of a server that ends while it connects or waits."""
TABLE = "create table rows (id bigint primary key)"


@dataclass
class Writers:
    """They insert rows, and remember which were acknowledged."""

    connect: Callable[[], Awaitable["asyncpg.Connection[asyncpg.Record]"]]
    acknowledged: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    """Seconds in which no write was acknowledged, the longest of each time that they wrote."""

    async def written_again(self) -> None:
        """They get on."""
        written = len(self.acknowledged)
        async with asyncio.timeout(120):
            while len(self.acknowledged) < written + 20:
                await asyncio.sleep(0.02)

    @asynccontextmanager
    async def writing(self, writers: int) -> AsyncIterator[None]:
        """While the block runs, so many of them do."""
        stop, last = asyncio.Event(), time.monotonic()
        gap, begin = 0.0, max(self.acknowledged, default=0) + 1

        async def write(writer: int) -> None:
            nonlocal last, gap
            number = begin + writer
            client: asyncpg.Connection[asyncpg.Record] | None = None
            while not stop.is_set():
                number += writers
                try:
                    client = client or await self.connect()
                    async with asyncio.timeout(30):
                        await client.execute(f"insert into rows values ({number})")
                except GONE:
                    if client is not None:
                        client.terminate()
                    client = None
                    await asyncio.sleep(0.02)
                else:
                    now = time.monotonic()
                    gap, last = max(gap, now - last), now
                    self.acknowledged.append(number)
            if client is not None:
                client.terminate()

        tasks = [asyncio.create_task(write(writer)) for writer in range(writers)]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*tasks)
            self.gaps.append(gap)
