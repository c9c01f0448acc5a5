"""Public images that an operator imports beside the catalogue's file."""

import asyncio
from datetime import datetime

from roost.core.catalog import Catalog
from roost.resources.images import queries
from roost.store import Queries, Store

_CHANNEL = "roost_image"


async def offer(db: Queries, image_id: str, label: str, size: int, now: datetime) -> None:
    """Have every server of this database offer an image. `size`: MB of the smallest disk."""
    await queries.put_imported(db, image_id, label, size, now)
    await db.execute("select pg_notify($1, '')", _CHANNEL)


class ImportedImages:
    """Keeps the catalogue in memory up with what is imported while the process runs."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog
        self._reading = asyncio.Lock()
        self._tasks = set[asyncio.Task[None]]()

    async def follow(self) -> None:
        await self._store.listen(_CHANNEL, self._on_change)
        await self._read()

    def _on_change(self, _payload: str) -> None:
        task = asyncio.create_task(self._read())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self) -> None:
        """One at a time: of two that overlap the one that began earlier may end later."""
        async with self._reading:
            self._catalog.add_images(await queries.list_imported(self._store))
